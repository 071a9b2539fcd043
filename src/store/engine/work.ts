/** Work rows: the durable mailbox of a tenant. What the letters add and settle is in letter.ts; this is how lanes take them. */

import type { Again } from '#domain/growth/sending/post-again'
import type { Fragment, Query, Sql } from './db.ts'
import type { NewWork } from './letter.ts'

export interface Work {
  id: string
  lane: NewWork['lane']
  kind: string
  ref_id: string
  origin: 'manual' | 'automatic'
  state: 'queued' | 'running'
  run_at: Date
  attempt: number
  claimed_by: string | null
  lease_until: Date | null
  payload: Record<string, unknown>
  /** Rows of one slot run one at a time. */
  slot: string
}

/** Sends of a post that provably failed since it was due. */
export const triesOf = (work: Work): number => Number(work.payload.tries ?? 0)

/** The person's word that a row carries, if any. */
export const againOf = (work: Work): Again | undefined => {
  const stored = work.payload.again as StoredAgain | undefined
  if (!stored) return undefined
  const { asked_at, clear } = stored
  return { askedAt: new Date(asked_at), ...(clear ? { clear: { ...clear, readAt: new Date(clear.readAt) } } : {}) }
}

/** As JSON keeps it. */
interface StoredAgain {
  asked_at: string
  clear?: { readAt: string; attemptId: string; review: boolean }
}

export const againPayload = ({ askedAt, clear }: Again): StoredAgain => ({
  asked_at: askedAt.toISOString(),
  ...(clear ? { clear: { ...clear, readAt: clear.readAt.toISOString() } } : {}),
})

/**
 * Posts and engagements run one at a time per account (the bound one, or the default for what is bound to none), the rest one at a time per lane; what
 * is in doubt is looked up beside the other reads of its lane, which may take long. Rules are decided as they are claimed and
 * wait for nothing that takes long.
 */
const withSlot = (sql: Sql): Fragment => sql`
  select w.id, w.lane, w.kind, w.ref_id, w.origin, w.state, w.run_at, w.attempt, w.claimed_by, w.lease_until, w.payload,
    case when w.lane = 'publish' then 'publish:' || coalesce((select i.account_external_id from item i where i.id = w.ref_id),
      (select e.account_external_id from engagement e where e.id = w.ref_id),
      (select c.external_id from connection c where c.is_default and c.status = 'connected'), '')
      when w.kind in ('reconcile', 'confirm') then w.kind when w.kind in ('rule', 'rule_cron') then 'rule' else w.lane end as slot
  from work w`

/** When a claim looks, and what it may not claim. */
export interface Busy {
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

/** Due; what a person asked for now is due whatever has become of the clock since. */
const isDue = (sql: Sql, { now }: Busy): Fragment => sql`(w.run_at <= ${now} or (w.origin = 'manual' and w.kind in ('publish', 'execute')))`

/** The first due row that no running one is in the way of; while paused only what people asked for. */
export const nextDue = async (sql: Sql, view: Busy): Promise<Work | undefined> =>
  (
    await sql`select * from (${withSlot(sql)} where ${claimable(sql, view)} and ${isDue(sql, view)}) due
      where slot <> all(${view.busy}::text[]) order by origin = 'manual' desc, run_at, id limit 1`
  )[0] as Work | undefined

/** Milliseconds until the next row that may run becomes due; undefined when there is none. */
export const untilNextDue = async (sql: Sql, view: Busy): Promise<number | undefined> => {
  const [row] =
    (await sql`select case when ${isDue(sql, view)} then 0 else extract(epoch from w.run_at - ${view.now}::timestamptz)::float8 * 1000 end as ms
    from (${withSlot(sql)} where ${claimable(sql, view)}) w where slot <> all(${view.busy}::text[]) order by 1 limit 1`) as unknown as {
      ms: number
    }[]
  return row?.ms
}

export const workById = async (sql: Sql, id: string): Promise<Work | undefined> =>
  (await sql`${withSlot(sql)} where w.id = ${id}`)[0] as Work | undefined

export const workOf = async (sql: Sql, kind: string, refId: string): Promise<Work | undefined> =>
  (await sql`${withSlot(sql)} where w.kind = ${kind} and w.ref_id = ${refId}`)[0] as Work | undefined

/** Rows that somebody runs, except those that have a live lane here. */
export const runningElsewhere = async (sql: Sql, live: string[]): Promise<Work[]> =>
  (await sql`${withSlot(sql)} where w.state = 'running' and w.id <> all(${live}::uuid[]) limit 1000`) as unknown as Work[]

export const automaticWork = async (sql: Sql, state: 'queued' | 'running', lane: string): Promise<Work[]> =>
  (await sql`${withSlot(sql)} where w.state = ${state} and w.origin = 'automatic' and w.lane = ${lane} limit 1000`) as unknown as Work[]

/** Runs of rules that wait for their turn, and times of their patterns. */
export const workOfRules = async (sql: Sql, kind: 'rule' | 'rule_cron'): Promise<Work[]> =>
  (await sql`${withSlot(sql)} where w.kind = ${kind} limit 10000`) as unknown as Work[]

/** Queued or running, whoever asked for it. */
export const workOfLane = async (sql: Sql, lane: NewWork['lane']): Promise<Work[]> =>
  (await sql`${withSlot(sql)} where w.lane = ${lane} limit 1000`) as unknown as Work[]

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
