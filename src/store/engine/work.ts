/** Work rows: the durable mailbox of a tenant. What the letters add and settle is in letter.ts; this is how lanes take them. */

import type { WorkKind, WorkLane } from '#contract/work'
import type { Fragment, Query, Sql } from './db.ts'

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
}

/** A row with its concurrency key: rows of one key run one at a time. */
export interface KeyedWork extends Work {
  slot: string
}

/** What the engine needs to know of the kinds of work, which are the product's. */
export interface WorkTable {
  /** Kinds that people wait for: what a person asked for is due whatever has become of the clock since. */
  awaited: readonly WorkKind[]
  /** The concurrency key of the row `w`. */
  keyOf(sql: Sql): Fragment
}

const columns = (sql: Sql): Fragment =>
  sql`w.id, w.lane, w.kind, w.ref_id, w.origin, w.state, w.run_at, w.attempt, w.claimed_by, w.lease_until, w.payload`

const withKey = (sql: Sql, { kinds }: Busy): Fragment => sql`select ${columns(sql)}, ${kinds.keyOf(sql)} as slot from work w`

/** When a claim looks, and what it may not claim. */
export interface Busy {
  kinds: WorkTable
  /** The time of the letter's gate: what falls due after it is for a later letter, which knows what has changed until then. */
  now: Date
  /** Slots in which something runs. */
  busy: string[]
  /** Only what people asked for is claimed. */
  paused: boolean
  /** Ids of rows that are left alone for a while. */
  resting: string[]
}

const claimable = (sql: Sql, { paused, resting }: Busy): Fragment =>
  sql`w.state = 'queued' and w.id <> all(${resting}::uuid[]) ${paused ? sql`and w.origin = 'manual'` : sql``}`

const isDue = (sql: Sql, { now, kinds }: Busy): Fragment =>
  sql`(w.run_at <= ${now} or (w.origin = 'manual' and w.kind = any(${[...kinds.awaited]}::text[])))`

/** The first due row that no running one is in the way of; while paused only what people asked for. */
export const nextDue = async (sql: Sql, view: Busy): Promise<KeyedWork | undefined> =>
  (
    await sql`select * from (${withKey(sql, view)} where ${claimable(sql, view)} and ${isDue(sql, view)}) due
      where slot <> all(${view.busy}::text[]) order by origin = 'manual' desc, run_at, id limit 1`
  )[0] as KeyedWork | undefined

/** Milliseconds until the next row that may run becomes due; undefined when there is none. */
export const untilNextDue = async (sql: Sql, view: Busy): Promise<number | undefined> => {
  const [row] =
    (await sql`select case when ${isDue(sql, view)} then 0 else extract(epoch from w.run_at - ${view.now}::timestamptz)::float8 * 1000 end as ms
    from (${withKey(sql, view)} where ${claimable(sql, view)}) w where slot <> all(${view.busy}::text[]) order by 1 limit 1`) as unknown as {
      ms: number
    }[]
  return row?.ms
}

export const workById = async (sql: Sql, id: string): Promise<Work | undefined> =>
  (await sql`select ${columns(sql)} from work w where w.id = ${id}`)[0] as Work | undefined

export const workOf = async (sql: Sql, kind: WorkKind, refId: string): Promise<Work | undefined> =>
  (await sql`select ${columns(sql)} from work w where w.kind = ${kind} and w.ref_id = ${refId}`)[0] as Work | undefined

/** Rows that somebody runs, except those that have a live lane here. */
export const runningElsewhere = async (sql: Sql, live: string[]): Promise<Work[]> =>
  (await sql`select ${columns(sql)} from work w where w.state = 'running' and w.id <> all(${live}::uuid[]) limit 1000`) as unknown as Work[]

/** Queued or running and of any of these kinds. */
export const workOfKinds = async (sql: Sql, kinds: readonly WorkKind[]): Promise<Work[]> =>
  (await sql`select ${columns(sql)} from work w where w.kind = any(${[...kinds]}::text[]) limit 10000`) as unknown as Work[]

/** Claimed under this incarnation until the lease ends. The due time stays, so that the actor is looked after if we die. */
export const claimWork =
  (work: Work, claim: { owner: string; leaseUntil: Date }): Query =>
  (sql) =>
    sql`update work set state = 'running', claimed_by = ${claim.owner}, lease_until = ${claim.leaseUntil}, attempt = ${work.attempt + 1}
        where id = ${work.id}`

/** Takes place before the claim of the same row, in a statement of its own. */
export const keepPayload =
  (id: string, payload: Record<string, unknown>): Query =>
  (sql) =>
    sql`update work set payload = ${sql.json(payload as never)} where id = ${id}`
