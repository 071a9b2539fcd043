import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Load, Loaded } from '#store/engine/load'
import type { RecordId } from '#store/engine/next-due'
import type { Work } from '#store/engine/work'
import type { Decision } from './letter.ts'
import type { Priority } from './mailbox.ts'

/** The context of a letter about a row of work. */
export interface Claiming {
  sql: Sql
  gate: Gate
  work: Work
}

/**
 * The handler of a kind of work whose rows become due again when their process dies. `claim` and
 * `settle` decide in letters. `run` runs outside, for as long as it takes; the letter `settle` gets
 * its outcome.
 */
// biome-ignore lint/complexity/noBannedTypes: a lane that loads nothing
export interface Lane<Job, Outcome, L extends Load = {}, C extends Load = {}> {
  kind: Work['kind']
  /** How long a claim holds without an outcome. */
  leaseMs: number
  /** Outcomes that people wait for get a higher priority. */
  priority: Priority
  /** Takes the work and returns the job to run, or none if it could be settled at once. */
  claim(sql: Sql, gate: Gate, work: Work, loaded?: Loaded<C>): Promise<Claimed<Job>>
  /**
   * What `claim` needs for rows with this payload, read by the poll that finds the row. For other
   * rows nothing is loaded.
   */
  claimLoad?: { payload: Record<string, unknown>; of(refId: RecordId, settling: string | null): C }
  /**
   * Claims the work from loaded records alone, before the changes of an outcome with `isPlain` are
   * written, and in the same statement. Undefined if it must see those changes first.
   */
  claimAhead?(gate: Gate, work: Work, loaded: Loaded<C>): Promise<Claimed<Job> | undefined>
  /**
   * Whether settling this outcome, which frees its key, changes nothing that a claim made ahead
   * depends on.
   */
  isPlain?(finished: { work: Work; job: Job; outcome: Outcome }): boolean
  run(job: Job, context: LaneContext): Promise<Outcome>
  /** What the log adds about a run besides its workspace, kind and record, such as its job. */
  logFields?(job: Job): { job?: string }
  /** The records that `settle` needs, read with its gate. */
  load?(finished: { work: Work; job: Job; outcome: Outcome }): L
  /**
   * `failures`: how often this letter has failed by its own fault. It is retried a few times, and
   * for the last time after `IN_VAIN_AFTER` failures.
   */
  settle(
    sql: Sql,
    gate: Gate,
    finished: { work: Work; job: Job; outcome: Outcome; failures: number },
    loaded: Loaded<L>,
  ): Promise<Decision<void>>
  /**
   * The outcome of a `run` that threw. Undefined: the row is settled as if the process had died.
   */
  crashed(cause: unknown): Outcome | undefined
  orphaned?: undefined
  givenUp?: undefined
}

/**
 * The handler of a kind of work whose rows must not simply become due again when their process
 * dies.
 */
// biome-ignore lint/complexity/noBannedTypes: as above
export interface UnrepeatableLane<Job, Outcome, L extends Load = {}, C extends Load = {}>
  extends Omit<Lane<Job, Outcome, L, C>, 'orphaned'> {
  /**
   * Settles a row whose process died, in a letter of the new owner, or a row that could not be
   * settled here.
   */
  orphaned(sql: Sql, gate: Gate, work: Work): Promise<Decision<void>>
}

/**
 * After this many failures, an outcome should be settled without the parts that may be to blame.
 */
export const IN_VAIN_AFTER = 3

/**
 * The handler of a kind of work whose rows end after they have failed in vain. Rows of other kinds
 * must go on.
 */
export type Ending<L> = Omit<L, 'givenUp'> & {
  /**
   * Ends the record of a row that has failed as often as its kind allows: as failed if certainly
   * nothing was sent, otherwise in doubt. A queued row's claim never happened; a running row's
   * outcome is lost.
   */
  givenUp(sql: Sql, gate: Gate, work: Work): Promise<Decision<void>>
}

/**
 * `place`: which of its kind's places the row takes while it runs. Absent: the usual one. `asker`:
 * who it takes a usual place for; one asker may only have a share of them.
 */
export type Claimed<Job> =
  | { job: Job; place?: string | undefined; asker?: string | undefined; decision: Decision<void> }
  | { job?: undefined; place?: undefined; asker?: undefined; decision: Decision<void> }

export interface LaneContext {
  tenantId: string
  /** Aborts when the process stops, the tenant is lost, or a letter recalls the lane. */
  signal: AbortSignal
  /** Milliseconds since just before the claim was written. */
  elapsed(): number
  /**
   * The point of no return. True: the lane can no longer be recalled, and the effect must begin in
   * this same tick. False: the lane was recalled, and the effect must not begin.
   */
  commit(): boolean
  /**
   * Announces that the effect begins in this same tick. Letters then let it finish, but a stopping
   * process may still break it off, because it may be repeated. False: as with `commit`.
   */
  begin(): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a registry of lanes of different jobs and outcomes; each is only ever given its own
export type AnyRepeatableLane = Lane<any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyUnrepeatableLane = UnrepeatableLane<any, any, any, any>
type AnyOf<L> = L | Ending<L>
export type AnyLane = AnyOf<AnyRepeatableLane> | AnyOf<AnyUnrepeatableLane>
