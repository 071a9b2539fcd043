import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Decision } from './letter.ts'
import type { Priority } from './mailbox.ts'

/** What a letter about a row of work has before it. */
export interface Claiming {
  sql: Sql
  gate: Gate
  work: Work
}

/**
 * A kind of long work. `claim`, `settle` and `orphaned` decide in letters; `run` runs outside, for as long as it takes, and
 * what it returns comes back as the letter `settle`.
 */
export interface Lane<Job, Outcome> {
  kind: Work['kind']
  /** How long a claim holds without an outcome. */
  leaseMs: number
  /** Outcomes that people wait for go first. */
  priority: Priority
  /** Takes the work: what to run, or none when it could be settled at once. */
  claim(sql: Sql, gate: Gate, work: Work): Promise<Claimed<Job>>
  run(job: Job, context: LaneContext): Promise<Outcome>
  settle(sql: Sql, gate: Gate, finished: { work: Work; job: Job; outcome: Outcome }): Promise<Decision<void>>
  /** The outcome of a lane that threw; undefined leaves the row to `orphaned`. */
  crashed(cause: unknown): Outcome | undefined
  /** The rule for a row whose claimer died: called in a letter of the new owner, or of this one after a failure. */
  orphaned(sql: Sql, gate: Gate, work: Work): Promise<Decision<void>>
}

export type Claimed<Job> = { job: Job; decision: Decision<void> } | { job?: undefined; decision: Decision<void> }

export interface LaneContext {
  tenantId: string
  /** Aborts when the process stops, the tenant is lost, or a letter recalls the lane. */
  signal: AbortSignal
  /** Milliseconds since before the claim was written. */
  elapsed(): number
  /**
   * The point of no return. True: nobody may recall the lane any more, and the effect must begin in this same tick.
   * False: it was recalled, and must not begin.
   */
  commit(): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a registry of lanes of different jobs and outcomes; each is only ever given its own
export type AnyLane = Lane<any, any>
