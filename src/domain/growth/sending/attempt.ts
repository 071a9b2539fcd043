import { attemptRecord } from '#contract/records/growth/attempt'
import type { RowOf } from '#contract/records/record'

/** One try to send a record, written before the send. */
export interface Attempt extends RowOf<typeof attemptRecord> {
  record_id: string
}
export type AttemptState = Attempt['state']
export type DoubtRead = Attempt['reads'][number]

const MOST_READS = 20

/** Keeps only the last reads, and of those that saw the same, the timeline of the last one. */
export const withRead = (attempt: Attempt, read: DoubtRead): Attempt => {
  const before = read.timeline
    ? attempt.reads.map((one) => (one.saw === read.saw ? { ...one, timeline: null } : one))
    : attempt.reads
  return { ...attempt, reads: [...before, read].slice(-MOST_READS) }
}

/** The error of an attempt whose process died. */
export const PROCESS_STOPPED = 'the process stopped while sending'

type New = Pick<
  Attempt,
  | ('id' | 'sendable' | 'record_id' | 'number' | 'connection_id')
  | ('body_sha' | 'sent_text' | 'network_key' | 'origin')
>

/** An attempt that begins now and can send until its lease ends. */
export const newAttempt = (
  fields: New,
  { now, leaseMs }: { now: Date; leaseMs: number },
): Attempt => ({
  ...attemptRecord.blank,
  ...fields,
  state: 'open',
  intent_at: now,
  lease_until: new Date(now.getTime() + leaseMs),
  clean_reads: 0,
  proof_reads: 0,
  reads: [],
})

export const endAttempt = (
  attempt: Attempt,
  state: AttemptState,
  now: Date,
  error: string | null = null,
): Attempt => ({
  ...attempt,
  state,
  error,
  ended_at: now,
})
