import type { DoubtCause } from '../drafting/item.ts'
import type { Origin, SendableKind } from './sendable.ts'

export type AttemptState = 'open' | 'doubt' | 'review' | 'posted' | 'failed' | 'unsent' | 'superseded' | 'returned'

/** One try to send a record, written before the send. */
export interface Attempt {
  id: string
  sendable: SendableKind
  record_id: string
  number: number
  connection_id: string
  /** Hash of the normalised text: two open attempts of an account to post never carry the same, or read-back could not tell them apart. */
  body_sha: string
  /** The exact text that goes out, kept whatever becomes of the record; null where there is none, and where an older version did not keep it. */
  sent_text: string | null
  origin: Origin
  state: AttemptState
  intent_at: Date
  lease_until: Date
  doubt_at: Date | null
  doubt_cause: DoubtCause | null
  /** From when on a complete read without the post proves that it was not made; null where only a hit or a person decides. */
  returns_from: Date | null
  clean_reads: number
  /** Those of them that count as proof. */
  proof_reads: number
  external_id: string | null
  error: string | null
  ended_at: Date | null
}

/** Why an attempt of a process that died is in doubt. */
export const PROCESS_STOPPED = 'the process stopped while sending'

type New = Pick<Attempt, 'id' | 'sendable' | 'record_id' | 'number' | 'connection_id' | 'body_sha' | 'sent_text' | 'origin'>

/** An attempt that begins now and may send until its lease ends. */
export const newAttempt = (fields: New, { now, leaseMs }: { now: Date; leaseMs: number }): Attempt => ({
  ...fields,
  ...{ state: 'open', intent_at: now, lease_until: new Date(now.getTime() + leaseMs), doubt_at: null, doubt_cause: null },
  ...{ returns_from: null, clean_reads: 0, proof_reads: 0, external_id: null, error: null, ended_at: null },
})

export const ended = (attempt: Attempt, state: AttemptState, now: Date, error: string | null = null): Attempt => ({
  ...attempt,
  state,
  error,
  ended_at: now,
})
