/** Work rows: the durable mailbox of a tenant. letter.ts adds and settles them; lanes claim them here. */

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
  /** Rows with the same key run one at a time. Null: the key is resolved when the row is claimed. */
  concurrency_key: string | null
}

/** A row with a resolved key. Every running row has one. */
export interface KeyedWork extends Work {
  concurrency_key: string
}

/** The part of the product's table of kinds that the engine needs. */
export interface WorkTable {
  /** Kinds that people wait for: their manual rows are due at once, even if the clock has stepped back since. */
  awaited: readonly string[]
  /** How many rows of a kind and origin can run at once; kinds not listed have no such bound. */
  atOnce: Readonly<Record<string, Record<Work['origin'], number>>>
  /** The key that a row without one gets if it is claimed now. Never null. */
  keyWhenClaimed(sql: Sql): Fragment
}

const columns = (sql: Sql, key: Fragment = sql`w.concurrency_key`): Fragment =>
  sql`w.id, w.lane, w.kind, w.ref_id, w.origin, w.state, w.run_at, w.attempt, w.claimed_by, w.lease_until, w.payload, ${key} as concurrency_key`

/** The time of a claim, and what it must leave out. */
export interface ClaimView {
  kinds: WorkTable
  /** The time of the letter's gate. Rows due later are for a later letter, whose gate knows of changes until then. */
  now: Date
  /** Keys of running work. */
  busy: string[]
  /** Kinds of which the most rows of an origin are running. */
  full: Record<Work['origin'], string[]>
  /** Only manual rows are claimed. */
  paused: boolean
  /** Ids of rows to leave out for now. */
  excluded: string[]
}

const isDue = (sql: Sql, { now, kinds }: ClaimView): Fragment =>
  sql`(w.run_at <= ${now} or (w.origin = 'manual' and w.kind = any(${[...kinds.awaited]}::text[])))`

/** Evaluated once for each statement, and only if it meets a row without a key. */
const claimedNow = (sql: Sql, { kinds }: ClaimView): Fragment =>
  sql`claimed_now as materialized (select ${kinds.keyWhenClaimed(sql)} as key)`
const resolvedKey = (sql: Sql): Fragment => sql`coalesce(w.concurrency_key, (select key from claimed_now))`

/** The first row of an origin that meets the condition and may run, in the order of the index. */
const first = (sql: Sql, { busy, full, excluded }: ClaimView, origin: Work['origin'], condition: Fragment): Fragment =>
  sql`(select ${columns(sql, resolvedKey(sql))} from work w where w.state = 'queued' and w.origin = ${origin} ${condition}
    and w.id <> all(${excluded}::uuid[]) and ${resolvedKey(sql)} <> all(${busy}::text[]) and w.kind <> all(${full[origin]}::text[])
    order by w.run_at, w.id limit 1)`

/**
 * The candidates: the first manual row, the first manual row of an awaited kind, and, unless held, the first automatic row. The second
 * differs from the first only if the clock has stepped back since it was added.
 */
const firsts = (sql: Sql, view: ClaimView, condition: Fragment): Fragment => sql`
  ${first(sql, view, 'manual', condition)}
  union all ${first(sql, view, 'manual', sql`and w.run_at > ${view.now} and w.kind = any(${[...view.kinds.awaited]}::text[])`)}
  ${view.paused ? sql`` : sql`union all ${first(sql, view, 'automatic', condition)}`}`

/** The first due row that nothing running blocks; while paused, manual rows only. */
export const firstDueWork = (sql: Sql, view: ClaimView): Fragment => sql`with ${claimedNow(sql, view)}
  select * from (${firsts(sql, view, sql`and w.run_at <= ${view.now}`)}) due order by origin = 'manual' desc, run_at, id limit 1`

export const nextDue = async (sql: Sql, view: ClaimView): Promise<KeyedWork | undefined> =>
  (await firstDueWork(sql, view))[0] as KeyedWork | undefined

/**
 * A due time further away is looked at again by then: clocks drift, and a wake-up must not be missed. So what falls due later counts
 * whatever runs now, and a look passes none of what waits for that.
 */
export const LONGEST_NAP_MS = 60_000

/** `ms` until the first row that may run becomes due. */
export const firstWait = (sql: Sql, view: ClaimView): Fragment => {
  const nap = new Date(view.now.getTime() + LONGEST_NAP_MS)
  const idle = { ...view, busy: [], full: { manual: [], automatic: [] } }
  const later = (origin: Work['origin']) => first(sql, idle, origin, sql`and w.run_at > ${nap}`)
  const wait = () => sql`extract(epoch from w.run_at - ${view.now}::timestamptz)::float8 * 1000`
  return sql`with ${claimedNow(sql, view)}
    select case when ${isDue(sql, view)} then 0 else ${wait()} end as ms from (${firsts(sql, view, sql`and w.run_at <= ${nap}`)}) w
    union all select ${wait()} from (${later('manual')} ${view.paused ? sql`` : sql`union all ${later('automatic')}`}) w
    order by 1 limit 1`
}

/** Milliseconds until a look for the next due row is worth it; undefined when there is none to come. */
export const untilNextDue = async (sql: Sql, view: ClaimView): Promise<number | undefined> => (await firstWait(sql, view))[0]?.ms

/** Whether `w` is the row of this kind for a record; `refId` is the record's id in the statement. */
export const isWorkOf = (sql: Sql, kind: WorkKind, refId: Fragment): Fragment => sql`w.kind = ${kind} and w.ref_id = ${refId}`

export const workById = async (sql: Sql, id: string): Promise<Work | undefined> =>
  (await sql`select ${columns(sql)} from work w where w.id = ${id}`)[0] as Work | undefined

export const workOf = async (sql: Sql, kind: WorkKind, refId: string): Promise<Work | undefined> =>
  (await sql`select ${columns(sql)} from work w where w.kind = ${kind} and w.ref_id = ${refId}`)[0] as Work | undefined

/** Running rows without a live lane here. */
export const runningElsewhere = async (sql: Sql, live: string[]): Promise<Work[]> =>
  (await sql`select ${columns(sql)} from work w where w.state = 'running' and w.id <> all(${live}::uuid[]) limit 1000`) as unknown as Work[]

/** Queued and running rows of these kinds. */
export const workOfKinds = async (sql: Sql, kinds: readonly WorkKind[]): Promise<Work[]> =>
  (await sql`select ${columns(sql)} from work w where w.kind = any(${[...kinds]}::text[]) limit 10000`) as unknown as Work[]

/** Claims a row under its key until the lease ends. It keeps its due time, so that the actor wakes if this process dies. */
export const claimWork =
  (work: KeyedWork, claim: { owner: string; leaseUntil: Date }): Query =>
  (sql) =>
    sql`update work set state = 'running', claimed_by = ${claim.owner}, lease_until = ${claim.leaseUntil}, attempt = ${work.attempt + 1},
        concurrency_key = ${work.concurrency_key} where id = ${work.id}`

/** Writes the payload before the claim of the same row, in a separate statement. */
export const keepPayload =
  (id: string, payload: Record<string, unknown>): Query =>
  (sql) =>
    sql`update work set payload = ${sql.json(payload as never)} where id = ${id}`
