/** Events: written by every letter, sent by the delivery lane in order within their subject, kept for a while, then removed. */
import { newId } from '#kernel/ids'
import type { Fragment, Query, Sql } from './db.ts'
import type { Page } from './page.ts'

export interface NewEvent {
  /** Only where somebody must know it beforehand. */
  id?: string
  type: string
  data: Record<string, unknown>
  /** To be sent, because the workspace's endpoint wants it, or whatever its allow-list says. */
  due?: boolean
  /** The record it is of, where it is to be sent: events of one are sent in order. */
  subject?: string | null
}

/** An event that is to be sent. */
export interface WaitingEvent {
  id: string
  type: string
  data: Record<string, unknown>
  created_at: Date
  subject: string | null
  /** Tries so far. */
  attempts: number
  next_at: Date
}

/** What a try makes of an event: it is over until it expires, or waits for the next try. */
type TriedEvent = { attempts: number; error: string | null } & (
  | { state: 'delivered' | 'dead'; expiresAt: Date }
  | { state: 'pending'; nextAt: Date }
)

/** Events that are over, of one workspace, whatever their age: older ones go first. */
export const MOST_KEPT = 10_000
/** Events that wait, of one workspace; beyond it the oldest are given up. */
export const MOST_PENDING = 10_000
/** What one statement removes or gives up at most. */
const AT_ONCE = 500

/** The inserts, and now and then, by their random ids, the removal of what has expired (one in 16) and of a surplus (one in 256). */
export const eventParts = (sql: Sql, events: NewEvent[] = [], now: Date): Fragment[] => {
  const rows = events.map((event) => ({ id: newId(), ...event }))
  const parts = rows.map((event) => insertEvent(sql, event, now))
  if (rows.some(({ id }) => id.endsWith('0'))) parts.push(removeExpired(sql))
  if (rows.some(({ id }) => id.endsWith('00'))) parts.push(removeSurplus(sql))
  return parts
}

/** The rest of what nobody wants is in the defaults of its columns: most workspaces have no endpoint, and pay for little. */
const insertEvent = (sql: Sql, { id, type, data, due, subject = null }: NewEvent & { id: string }, now: Date): Fragment =>
  due
    ? sql`insert into outbox (id, type, data, created_at, subject, state, next_at, expires_at)
        values (${id}, ${type}, ${sql.json(data as never)}, ${now}, ${subject}, 'pending', ${now}, null)`
    : sql`insert into outbox (id, type, data, created_at) values (${id}, ${type}, ${sql.json(data as never)}, ${now})`

/** Removes some of what has expired, by the index of expiry. */
export const removeExpired = (sql: Sql): Fragment => sql`delete from outbox where id = any(array(
  select id from outbox where expires_at <= clock_timestamp() order by expires_at limit ${AT_ONCE}))`

/** Removes some of what is beyond the number that is kept. Reads so much of the index of expiry, which is why it is rare. */
export const removeSurplus = (sql: Sql): Fragment => sql`delete from outbox where id = any(array(
  select id from outbox where expires_at is not null order by expires_at desc offset ${MOST_KEPT} limit ${AT_ONCE}))`

interface Except {
  /** As if this event were over. */
  eventId: string
  /** And everything of this subject waited for it. */
  subject: string | null
}

const eventColumns = (sql: Sql): Fragment => sql`o.id, o.type, o.data, o.created_at, o.subject, o.attempts, o.next_at`

/** Of the first waiting event of each subject the one that is due first. */
export const firstDue = (sql: Sql, except?: Except): Fragment => {
  const [eventId, subject] = [except?.eventId ?? null, except?.subject ?? null]
  return sql`select ${eventColumns(sql)} from outbox o
    where o.state = 'pending' and o.id is distinct from ${eventId}::uuid and (${subject}::text is null or o.subject is distinct from ${subject})
      and not exists (select 1 from outbox p where p.state = 'pending' and p.subject = o.subject and p.id is distinct from ${eventId}::uuid
        and (p.created_at, p.id) < (o.created_at, o.id))
    order by o.next_at, o.created_at, o.id limit 1`
}

export const nextEvent = async (sql: Sql, except?: Except): Promise<WaitingEvent | undefined> =>
  (await firstDue(sql, except))[0] as unknown as WaitingEvent | undefined

/** Undefined when it does not wait any more. */
export const pendingEvent = async (sql: Sql, id: string): Promise<WaitingEvent | undefined> =>
  (await sql`select ${eventColumns(sql)} from outbox o where o.id = ${id} and o.state = 'pending'`)[0] as unknown as
    | WaitingEvent
    | undefined

export const saveEvent =
  (id: string, next: TriedEvent): Query =>
  (sql) =>
    sql`update outbox set state = ${next.state}, attempts = ${next.attempts}, last_error = ${next.error},
      next_at = ${next.state === 'pending' ? next.nextAt : null}, expires_at = ${next.state === 'pending' ? null : next.expiresAt}
      where id = ${id}`

/** How many wait; no more than a few beyond `MOST_PENDING`. */
export const countPending = async (sql: Sql): Promise<number> =>
  (await sql`select count(*)::int as count from outbox where state = 'pending'`)[0]!.count

/** What the endpoint is or was told of. */
export interface EventRow {
  id: string
  type: string
  subject: string | null
  state: 'pending' | 'delivered' | 'dead'
  attempts: number
  last_error: string | null
  created_at: Date
  next_at: Date | null
  expires_at: Date | null
}

const logColumns = (sql: Sql): Fragment => sql`id, type, subject, state, attempts, last_error, created_at, next_at, expires_at`

interface LogFilters {
  state?: EventRow['state'] | undefined
  type?: string | undefined
}

/** The delivery log, newest first; what nobody has asked for is not in it. */
export const eventLog =
  ({ limit, after, state, type }: Page & LogFilters): Query =>
  (sql) =>
    sql`select ${logColumns(sql)} from outbox where state <> 'unwanted' ${after ? sql`and id < ${after}` : sql``}
        ${state ? sql`and state = ${state}` : sql``} ${type ? sql`and type = ${type}` : sql``}
      order by id desc limit ${limit + 1}`

/** In whatever state; undefined when it is not kept any more. */
export const keptEvent = async (sql: Sql, id: string): Promise<(EventRow & Pick<WaitingEvent, 'data'>) | undefined> =>
  (await sql`select ${logColumns(sql)}, data from outbox where id = ${id}`)[0] as unknown as
    | (EventRow & Pick<WaitingEvent, 'data'>)
    | undefined

/** An event that is kept waits again, with all its tries before it. */
export const replayEvent =
  ({ id, subject }: Pick<EventRow, 'id' | 'subject'>, now: Date): Query =>
  (sql) =>
    sql`update outbox set state = 'pending', subject = ${subject}, attempts = 0, next_at = ${now}, expires_at = null
      where id = ${id}`

/** Some of the events that wait, the oldest, end as dead letters; `beyond` the newest so many. */
export const giveUpEvents =
  ({ beyond, reason, expiresAt }: { beyond: number; reason: string; expiresAt: Date }): Query =>
  (sql) =>
    sql`update outbox set state = 'dead', last_error = ${reason}, next_at = null, expires_at = ${expiresAt}
      where id = any(array(
        select id from outbox where state = 'pending' order by created_at desc, id desc offset ${beyond} limit ${AT_ONCE}))`

/** Whether more wait than `giveUpEvents` takes at once. */
export const manyPending = async (sql: Sql): Promise<boolean> =>
  (await sql`select 1 from outbox where state = 'pending' offset ${AT_ONCE} limit 1`).length === 1
