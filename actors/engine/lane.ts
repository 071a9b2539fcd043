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
 * The handler of one kind of work, whose rows are due again when their process has died. `claim`
 * and `settle` decide in letters. `run` runs outside, for as long as it takes; its outcome comes
 * back in the letter `settle`.
 */
// biome-ignore lint/complexity/noBannedTypes: a lane that loads nothing
export interface Lane<Job, Outcome, L extends Load = {}, C extends Load = {}> {
  kind: Work['kind']
  /** How long a claim holds without an outcome. */
  leaseMs: number
  /** Outcomes that people wait for go first. */
  priority: Priority
  /** Takes the work and returns the job to run, or none if it could be settled at once. */
  claim(sql: Sql, gate: Gate, work: Work, loaded?: Loaded<C>): Promise<Claimed<Job>>
  /**
   * What `claim` needs of some rows, read by the poll that finds the row. Of other rows it gets
   * nothing.
   */
  claimLoad?: { payload: Record<string, unknown>; of(refId: RecordId, settling: string | null): C }
  /**
   * Takes the work by what is loaded alone, before the changes of an outcome for which `isPlain`
   * holds are written, and with them; undefined if it must see them first.
   */
  claimAhead?(gate: Gate, work: Work, loaded: Loaded<C>): Promise<Claimed<Job> | undefined>
  /**
   * Whether settling the outcome, which frees its key, changes nothing that a claim ahead depends
   * on.
   */
  isPlain?(finished: { work: Work; job: Job; outcome: Outcome }): boolean
  run(job: Job, context: LaneContext): Promise<Outcome>
  /** What the log says of a run beside its workspace, kind and record, such as its job. */
  trace?(job: Job): { job?: string }
  /** The records that `settle` needs, read with its gate. */
  load?(finished: { work: Work; job: Job; outcome: Outcome }): L
  /**
   * `failures`: of this letter, for reasons of its own. It is tried again a few times: after
   * `IN_VAIN_AFTER`, for the last time.
   */
  settle(
    sql: Sql,
    gate: Gate,
    finished: { work: Work; job: Job; outcome: Outcome; failures: number },
    loaded: Loaded<L>,
  ): Promise<Decision<void>>
  /**
   * The outcome of a `run` that threw; undefined: the row is settled as if the process had died.
   */
  crashed(cause: unknown): Outcome | undefined
  orphaned?: undefined
  givenUp?: undefined
}

/** The handler of a kind whose rows must not simply be due again when their process has died. */
// biome-ignore lint/complexity/noBannedTypes: as above
export interface UnrepeatableLane<Job, Outcome, L extends Load = {}, C extends Load = {}>
  extends Omit<Lane<Job, Outcome, L, C>, 'orphaned'> {
  /**
   * Settles a row whose process died, in a letter of the new owner; or one whose settling failed
   * here.
   */
  orphaned(sql: Sql, gate: Gate, work: Work): Promise<Decision<void>>
}

/** From so many failures on an outcome should be settled without what may be to blame. */
export const IN_VAIN_AFTER = 3

/** The handler of a kind whose rows end when they fail in vain. Those of other kinds must go on. */
export type Ending<L> = Omit<L, 'givenUp'> & {
  /**
   * Ends the record of a row that has failed as often as its kind allows, by what is known: as
   * failed if nothing can have been sent, else in doubt. A queued row's claim never happened; of a
   * running one the outcome is lost.
   */
  givenUp(sql: Sql, gate: Gate, work: Work): Promise<Decision<void>>
}

/**
 * `place`: which of the places of its kind the row takes while it runs. Absent: the usual one.
 * `asker`: for whom it takes a usual place; one asker can have no more than a share of them.
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
   * this same tick. False: it was recalled, and the effect must not begin.
   */
  commit(): boolean
  /**
   * The effect begins in this same tick, and letters must know that it has: they let it end, while
   * a stop of the process may still break it off, because it may be repeated. False: as of
   * `commit`.
   */
  begin(): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a registry of lanes of different jobs and outcomes; each is only ever given its own
export type AnyRepeatableLane = Lane<any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyUnrepeatableLane = UnrepeatableLane<any, any, any, any>
type AnyOf<L> = L | Ending<L>
export type AnyLane = AnyOf<AnyRepeatableLane> | AnyOf<AnyUnrepeatableLane>
