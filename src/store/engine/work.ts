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
  /** Rows of one key run one at a time. Null: the row takes the key of the moment when it is claimed. */
  concurrency_key: string | null
}

/** A row whose key is resolved, as that of every row that runs. */
export interface KeyedWork extends Work {
  concurrency_key: string
}

/** What the engine needs to know of the kinds of work, which are the product's. */
export interface WorkTable {
  /** Kinds that people wait for: what a person asked for is due whatever has become of the clock since. */
  awaited: readonly string[]
  /** Kinds of which only so many rows of an origin run at once. */
  atOnce: Readonly<Record<string, Record<Work['origin'], number>>>
  /** The key that a row without one takes when it is claimed now. Never null. */
  keyWhenClaimed(sql: Sql): Fragment
}

const columns = (sql: Sql, key: Fragment = sql`w.concurrency_key`): Fragment =>
  sql`w.id, w.lane, w.kind, w.ref_id, w.origin, w.state, w.run_at, w.attempt, w.claimed_by, w.lease_until, w.payload, ${key} as concurrency_key`

/** When a claim looks, and what it may not claim. */
export interface Busy {
  kinds: WorkTable
  /** The time of the letter's gate: what falls due after it is for a later letter, which knows what has changed until then. */
  now: Date
  /** Keys of what runs. */
  busy: string[]
  /** Kinds of which as many rows of an origin run as may. */
  full: Record<Work['origin'], string[]>
  /** Only what people asked for is claimed. */
  paused: boolean
  /** Ids of rows that are left alone for a while. */
  resting: string[]
}

const isDue = (sql: Sql, { now, kinds }: Busy): Fragment =>
  sql`(w.run_at <= ${now} or (w.origin = 'manual' and w.kind = any(${[...kinds.awaited]}::text[])))`

/** Read once a statement, and only where a row without a key is met. */
const claimedNow = (sql: Sql, { kinds }: Busy): Fragment => sql`claimed_now as materialized (select ${kinds.keyWhenClaimed(sql)} as key)`
const resolvedKey = (sql: Sql): Fragment => sql`coalesce(w.concurrency_key, (select key from claimed_now))`

/** The first row of an origin that satisfies the condition and may run. The index is in this order. */
const first = (sql: Sql, { busy, full, resting }: Busy, origin: Work['origin'], condition: Fragment): Fragment =>
  sql`(select ${columns(sql, resolvedKey(sql))} from work w where w.state = 'queued' and w.origin = ${origin} ${condition}
    and w.id <> all(${resting}::uuid[]) and ${resolvedKey(sql)} <> all(${busy}::text[]) and w.kind <> all(${full[origin]}::text[])
    order by w.run_at, w.id limit 1)`

/**
 * The rows that come first: of what a person asked for, of that again among what people wait for, and, unless it is held, of what
 * is automatic. The second is another row only where the clock has stepped back since it was asked for.
 */
const firsts = (sql: Sql, view: Busy, condition: Fragment): Fragment => sql`
  ${first(sql, view, 'manual', condition)}
  union all ${first(sql, view, 'manual', sql`and w.run_at > ${view.now} and w.kind = any(${[...view.kinds.awaited]}::text[])`)}
  ${view.paused ? sql`` : sql`union all ${first(sql, view, 'automatic', condition)}`}`

/** The first due row that no running one is in the way of; while paused only what people asked for. */
export const firstDueWork = (sql: Sql, view: Busy): Fragment => sql`with ${claimedNow(sql, view)}
  select * from (${firsts(sql, view, sql`and w.run_at <= ${view.now}`)}) due order by origin = 'manual' desc, run_at, id limit 1`

export const nextDue = async (sql: Sql, view: Busy): Promise<KeyedWork | undefined> =>
  (await firstDueWork(sql, view))[0] as KeyedWork | undefined

/** `ms` until the first row that may run becomes due. */
export const firstWait = (sql: Sql, view: Busy): Fragment => sql`with ${claimedNow(sql, view)}
  select case when ${isDue(sql, view)} then 0 else extract(epoch from w.run_at - ${view.now}::timestamptz)::float8 * 1000 end as ms
  from (${firsts(sql, view, sql``)}) w order by 1 limit 1`

/** Milliseconds until the next row that may run becomes due; undefined when there is none. */
export const untilNextDue = async (sql: Sql, view: Busy): Promise<number | undefined> => (await firstWait(sql, view))[0]?.ms

/** Whether `w` is the row of this kind for a record, by the record's id in the statement. */
export const isWorkOf = (sql: Sql, kind: WorkKind, refId: Fragment): Fragment => sql`w.kind = ${kind} and w.ref_id = ${refId}`

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

/**
 * Claimed under this incarnation until the lease ends, with the key that it runs under. The due time stays, so that the actor is
 * looked after if we die.
 */
export const claimWork =
  (work: KeyedWork, claim: { owner: string; leaseUntil: Date }): Query =>
  (sql) =>
    sql`update work set state = 'running', claimed_by = ${claim.owner}, lease_until = ${claim.leaseUntil}, attempt = ${work.attempt + 1},
        concurrency_key = ${work.concurrency_key} where id = ${work.id}`

/** Takes place before the claim of the same row, in a statement of its own. */
export const keepPayload =
  (id: string, payload: Record<string, unknown>): Query =>
  (sql) =>
    sql`update work set payload = ${sql.json(payload as never)} where id = ${id}`
