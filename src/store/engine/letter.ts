/**
 * A letter's transaction: gate, decision, effects, in four statements and two round trips. The gate
 * checks in one statement everything that can forbid the command (fence, credential, idempotency),
 * and fetches what rules need (plan, counters, kill switch, time) and the records that the decision
 * loads. The effects (new rows, audit, events, work, the stored answer) are one data-modifying
 * statement (apply-effects.ts).
 */

import type { WorkKind, WorkLane } from '#contract/work'
import type { Spend } from '#kernel/spend'
import type { Fragment, Query, Sql } from './db.ts'
import type { StoredAnswer } from './idempotency.ts'
import type { NewEvent } from './outbox.ts'
import type { Principal } from './principal.ts'
import { isWriting, sqlBy } from './sql.ts'

/** The incarnation and epoch under which a process owns a tenant: a letter's fence. */
export interface Ownership {
  tenantId: string
  owner: string
  epoch: number
}

/** The caller and the surface. They are for the gate and the audit row. */
export interface Provenance {
  principal: Principal
  /** `rest`, `mcp`, `cli`, `timer`, `lane`, `admin`. */
  surface: string
  requestId?: string | undefined
  /** The context of its span, which the work that it leads to keeps. */
  trace?: string | undefined
}

/** Nobody's request has sent the letter. */
export const isUnasked = ({ surface }: Pick<Provenance, 'surface'>): boolean =>
  surface === 'timer' || surface === 'lane'

/**
 * What the product's rules need from the gate. The product declares the fields, by merging with
 * this interface.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the engine knows none of them
export interface GateFacts {}

/** What the gate fetched, for the decision. */
export interface Gate extends GateFacts {
  /** The database's clock. */
  now: Date
  /**
   * Nothing starts unattended: its people have paused it, the operator has paused every workspace,
   * or the deployment is held.
   */
  paused: boolean
  /** Whether the workspace's people have paused it. */
  pausedHere: boolean
  /** Since when the deployment is held; null while it is not. */
  heldSince: Date | null
  /** Since when the operator has paused every workspace; null while that is not so. */
  pausedEverywhere: Date | null
  /**
   * When the tenant must be woken. Never null while it has unfinished work, and in the past while
   * some of it is running.
   */
  wakeAt: Date | null
  /** Amounts used, by `key@period`. */
  counters: Record<string, number>
  seen: StoredAnswer | null
}

/** What the product adds to the gate, in the same statement. */
export interface GateHook {
  /** A select of one row, about the tenant of the row `a` of table `actor`. */
  query(sql: Sql): Fragment
  /** The facts in that row. */
  read(row: Record<string, unknown>): GateFacts
  /**
   * Throws the product's refusal. Called for every letter except timers, lanes and exempt commands.
   */
  admit(gate: Gate): void
}

/** Everything a decision changes, as data. */
export interface Effects {
  /**
   * Writes to run first, each in its own statement, because they make room in a unique index for
   * the others.
   */
  first?: Query[]
  writes?: Query[]
  events?: NewEvent[]
  /** Occurrences that have no event, for rules. */
  occurrences?: { kind: string; ref: string; [detail: string]: unknown }[]
  /** Amounts to add to counters. Negative ones are refunds. Periods that are over do not change. */
  spend?: Spend[]
  work?: NewWork[]
  /**
   * When existing rows that the decision has loaded are due. Only for kinds of which a tenant has
   * one row. Follow-up work that would leave such a row unchanged is not written.
   */
  standing?: Partial<Record<WorkKind, Date | null>> | undefined
  /** Ids of work rows that are settled or withdrawn. */
  settled?: string[]
  /** `by`: who did it, if it was not the letter's own principal. */
  audit?: {
    operation: string
    refId?: string
    detail?: Record<string, unknown>
    by?: { kind: string; id: string; surface: string }
  }
  /** Claimed or queued rows that return to the queue with a new due time. */
  requeued?: Requeued[]
  paused?: boolean
  /** If these effects claim a row, when it was due. */
  claimed?: Date
  /** Records that clients may be following. This process tells them after the commit. */
  news?: ChangedRecord[]
}

/** That a record has changed; null: some of its kind have. `job`: those that belong to this job. */
export interface ChangedRecord {
  kind: string
  id: string | null
  job?: string
  /** Who sees it now but did not before, or the other way round, with all that belongs to it. */
  sightOf?: Sighted | undefined
}

/** These people; or everybody but them, keys included. */
export interface Sighted {
  people: readonly string[]
  isAllBut: boolean
}

/**
 * Further effects of a decision that the product wants in the same commit. The function reads
 * through `sql` and writes nothing.
 */
export type Consequences = (
  sql: Sql,
  effects: Effects,
  letter: { gate: Gate; tenantId: string },
) => Promise<Effects>

/** Combines effects. Of several audits, the first is kept. */
export const merge = (...all: Effects[]): Effects => ({
  ...Object.assign({}, ...[...all].reverse()),
  first: all.flatMap((one) => one.first ?? []),
  writes: all.flatMap((one) => one.writes ?? []),
  events: all.flatMap((one) => one.events ?? []),
  occurrences: all.flatMap((one) => one.occurrences ?? []),
  spend: all.flatMap((one) => one.spend ?? []),
  work: all.flatMap((one) => one.work ?? []),
  settled: all.flatMap((one) => one.settled ?? []),
  requeued: all.flatMap((one) => one.requeued ?? []),
  news: all.flatMap((one) => one.news ?? []),
})

/**
 * What happens if a row of the same kind and record exists. `refused`: an error. `keeps`: the old
 * row stays. `hastens`: it stays, but may be due sooner. `replaces`: it gets all values of the new
 * row, and whatever runs for it is discarded.
 */
export type SecondRow = 'refused' | 'keeps' | 'hastens' | 'replaces'

export interface NewWork {
  id: string
  lane: WorkLane
  kind: WorkKind
  /** Its concurrency key. Null: the key is resolved when the row is claimed. */
  key: string | null
  second: SecondRow
  refId: string
  origin: 'manual' | 'automatic'
  runAt: Date
  payload?: Record<string, unknown>
  /** The context of the span that led to it, if that is not the letter's. */
  trace?: string | undefined
}

/** Fields left out stay as they are. A row that was claimed keeps the key under which it ran. */
export interface Requeued
  extends Pick<NewWork, 'id' | 'runAt'>,
    Partial<Pick<NewWork, 'payload' | 'origin' | 'key'>> {
  /**
   * How many failures to add to its failures in a row. If absent, it has not failed, and the count
   * starts again at 0.
   */
  failed?: number
  /** Its own due time, if it rests until `runAt`. */
  dueAt?: Date
}

/**
 * A connection for decisions. A writing statement throws, because changes belong in the effects: a
 * refused letter must leave nothing behind in a shared transaction.
 */
export const readingOnly = (sql: Sql): Sql =>
  sqlBy(async (statement) => {
    if (isWriting(statement)) throw new Error('a decision changes nothing itself')
    return await sql`${statement}`
  })
