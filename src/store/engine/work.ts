/**
 * Work rows: the durable mailbox of a tenant. apply-effects.ts adds and settles them. Lanes poll
 * for them (next-due.ts) and claim them here.
 */
import type { WorkKind, WorkLane } from '#contract/work'
import type { Fragment, Query, Sql } from './db.ts'
import { loadNow, many, one, type Part } from './load.ts'
import { type Bounds, type Placed, WAITS } from './work-places.ts'

export interface Work {
  id: string
  lane: WorkLane
  kind: WorkKind
  ref_id: string
  origin: 'manual' | 'automatic'
  state: 'queued' | 'running'
  run_at: Date
  attempt: number
  claimed_by: string | null
  lease_until: Date | null
  payload: Record<string, unknown>
  /**
   * Rows with the same key run one at a time. Null: the key is resolved when the row is claimed.
   */
  concurrency_key: string | null
  /** How many times in a row its claim or its outcome has failed, for reasons of its own. */
  failures: number
  /**
   * The process that is about to claim the row alone, or that was about to when it died or lost the
   * workspace.
   */
  tried_by: string | null
  /**
   * How many failures that try counts as, unless it ends well. Negative: it counts as none, after
   * that many tries by young processes.
   */
  charge: number
  /** What it keeps of its trace (kernel/trace.ts). */
  trace: string | null
}

/** A row with a resolved key. Every running row has one. */
export interface KeyedWork extends Work, Pick<Placed, 'place' | 'asker'> {
  concurrency_key: string
}

/** The part of the product's table of kinds that the engine needs. */
export interface WorkTable extends Bounds {
  /**
   * Kinds that people wait for. Their manual rows are due at once, even if the clock has stepped
   * back since.
   */
  awaited: readonly string[]
  /** The key that a row without one gets if it is claimed now. Never null. */
  keyWhenClaimed(sql: Sql): Fragment
  /** The groups of work that take turns while much is due. The first has every other turn. */
  laneOrder: readonly WorkLane[]
  /** Kinds whose rows run while the deployment is held, if people have asked for them since. */
  whileHeld: readonly string[]
  /** What happens to rows that keep failing. Kinds that are not listed rest. */
  inVain: Readonly<Record<string, InVain>>
}

/**
 * After `most` failures in a row, the row's record ends, or the row rests for an hour each time.
 */
export interface InVain {
  most: number
  end: 'ends' | 'rests'
}

export const workTimes = { run_at: true, lease_until: true } as const

export const columns = (sql: Sql, key: Fragment = sql`w.concurrency_key`): Fragment =>
  sql`w.id, w.lane, w.kind, w.ref_id, w.origin, w.state, coalesce(w.due_at, w.run_at) as run_at,
    w.attempt, w.claimed_by, w.lease_until,
    w.payload, ${key} as concurrency_key, w.failures, w.tried_by, w.charge, w.trace`

/**
 * Whether `w` is the row of this kind for a record; `refId` is the record's id in the statement.
 */
export const isWorkOf = (sql: Sql, kind: WorkKind, refId: Fragment): Fragment =>
  sql`w.kind = ${kind} and w.ref_id = ${refId}`

export const workPart = (id: string): Part<Work | undefined> =>
  one<Work>(workTimes, (sql) => sql`select ${columns(sql)} from work w where w.id = ${id}`)

export const workById = async (sql: Sql, id: string): Promise<Work | undefined> =>
  (await loadNow(sql, { work: workPart(id) })).work

/** The row of this kind for a record. */
export const workFor = (kind: WorkKind, refId: string): Part<Work | undefined> =>
  one<Work>(
    workTimes,
    (sql) => sql`select ${columns(sql)} from work w where w.kind = ${kind} and w.ref_id = ${refId}`,
  )

export const workOf = async (sql: Sql, kind: WorkKind, refId: string): Promise<Work | undefined> =>
  (await loadNow(sql, { work: workFor(kind, refId) })).work

/** Running rows that have no live lane in this process. */
export const runningElsewhere = async (sql: Sql, live: string[]): Promise<Work[]> =>
  await sql<Work>`select ${columns(sql)} from work w where w.state = 'running'
    and w.id <> all(${live}::uuid[]) limit 1000`

/** Queued and running rows of these kinds. */
export const workOfKinds = (kinds: readonly WorkKind[]): Part<Work[]> =>
  many<Work>(
    workTimes,
    (sql) =>
      sql`select ${columns(sql)} from work w where w.kind = any(${[...kinds]}::text[]) limit 10000`,
  )

/**
 * Claims a row that has found its place, under its key and until the lease ends. The row keeps its
 * due time, so that the actor wakes up if this process dies.
 */
export const claimWork =
  (
    work: KeyedWork,
    claim: { owner: string; leaseUntil: Date; keepsMark?: boolean; trace?: string | undefined },
  ): Query =>
  (sql) =>
    sql`update work set state = 'running', claimed_by = ${claim.owner},
      lease_until = ${claim.leaseUntil}, attempt = ${work.attempt + 1},
        concurrency_key = ${work.concurrency_key} ${
          WAITS in work.payload
            ? sql`,
          payload = payload - ${WAITS}::text`
            : sql``
        }
        ${
          work.failures > 0 || work.tried_by !== null
            ? sql`, run_at = ${work.run_at},
          due_at = null ${claim.keepsMark ? sql`` : sql`, tried_by = null`}`
            : sql``
        }
        ${claim.trace === undefined ? sql`` : sql`, trace = ${claim.trace}`}
      where id = ${work.id}`

/**
 * Notes that the process is about to claim the row alone. `charge`: how many failures this counts
 * as if the process cannot report afterwards.
 */
export const markTried =
  (id: string, process: string, charge: number): Query =>
  (sql) =>
    sql`update work set tried_by = ${process}, charge = ${charge} where id = ${id}`

/** Adds to the failures of a running row and leaves the rest of it as it is. */
export const countFailures =
  (id: string, failures: number): Query =>
  (sql) =>
    sql`update work set failures = failures + ${failures} where id = ${id}`

/** Writes the payload, in a separate statement, before the claim of the same row. */
export const keepPayload =
  (id: string, payload: Record<string, unknown>): Query =>
  (sql) =>
    sql`update work set payload = ${sql.json(payload)} where id = ${id}`
