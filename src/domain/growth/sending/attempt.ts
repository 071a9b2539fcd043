import type { DoubtCause } from '../drafting/item.ts'
import type { Origin, SendableKind } from './sendable.ts'

export type AttemptState =
  | 'open'
  | 'doubt'
  | 'review'
  | 'posted'
  | 'failed'
  | 'unsent'
  | 'superseded'
  | 'returned'

/** What a read of the network showed while an attempt was in doubt. */
export interface DoubtRead {
  at: Date | string
  /**
   * `unclear`: a post is there that may be the one. `unreadable`: the read failed or was
   * incomplete, and proves nothing.
   */
  saw: 'it' | 'nothing' | 'unclear' | 'unreadable'
  /** How many posts were read, where that is known. */
  posts: number | null
  /** The first few posts that may be the one. */
  candidates: { external_id: string; url: string | null; posted_at: Date | string }[]
}

const MOST_READS = 20

/** Keeps the last reads. */
export const withRead = (attempt: Attempt, read: DoubtRead): Attempt => ({
  ...attempt,
  reads: [...attempt.reads, read].slice(-MOST_READS),
})

/** One try to send a record, written before the send. */
export interface Attempt {
  id: string
  sendable: SendableKind
  record_id: string
  number: number
  connection_id: string
  /**
   * Hash of the normalised text. Two open attempts of an account to post never share it: reading
   * the timeline could not tell them apart.
   */
  body_sha: string
  /**
   * The exact text sent, kept whatever happens to the record. Null if there is none, or if an older
   * version did not store it.
   */
  sent_text: string | null
  origin: Origin
  state: AttemptState
  intent_at: Date
  lease_until: Date
  doubt_at: Date | null
  doubt_cause: DoubtCause | null
  /**
   * From when a complete read without the post proves that it was not made. Null if only a hit or a
   * person decides.
   */
  returns_from: Date | null
  clean_reads: number
  /** Clean reads that count as proof. */
  proof_reads: number
  /** The last reads while it was in doubt, oldest first. */
  reads: DoubtRead[]
  external_id: string | null
  error: string | null
  ended_at: Date | null
}

/** The error of an attempt whose process died. */
export const PROCESS_STOPPED = 'the process stopped while sending'

type New = Pick<
  Attempt,
  'id' | 'sendable' | 'record_id' | 'number' | 'connection_id' | 'body_sha' | 'sent_text' | 'origin'
>

/** An attempt that begins now and can send until its lease ends. */
export const newAttempt = (
  fields: New,
  { now, leaseMs }: { now: Date; leaseMs: number },
): Attempt => ({
  ...fields,
  ...{
    state: 'open',
    intent_at: now,
    lease_until: new Date(now.getTime() + leaseMs),
    doubt_at: null,
    doubt_cause: null,
  },
  ...{
    returns_from: null,
    clean_reads: 0,
    proof_reads: 0,
    reads: [],
    external_id: null,
    error: null,
    ended_at: null,
  },
})

export const ended = (
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
