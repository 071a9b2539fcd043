/**
 * Events. Letters write them. They are delivered in order for each subject, kept for a while, and
 * then deleted.
 */
import { newId } from '#kernel/ids'
import type { Fragment, Query, Sql } from './db.ts'
import { many, mapPart, one, sure } from './load.ts'
import type { Page } from './page.ts'

export interface NewEvent {
  /** Set only if the id must be known beforehand. */
  id?: string
  type: string
  data: Record<string, unknown>
  /**
   * Whether to deliver the event: the endpoint wants it, or it goes out regardless of the
   * allow-list.
   */
  due?: boolean
  /**
   * For events to be delivered: the record that the event belongs to. Events of one record are sent
   * in order.
   */
  subject?: string | null
}

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

/**
 * An event after a try. It is either finished and kept until it expires, or waiting for the next
 * try.
 */
type TriedEvent = { attempts: number; error: string | null } & (
  | { state: 'delivered' | 'dead'; expiresAt: Date }
  | { state: 'pending'; nextAt: Date }
)

export const outboxLimits = {
  /**
   * How many finished events a workspace keeps, whatever their age. Older ones are deleted
   * first.
   */
  finished: 10_000,
  /** How many events of a workspace may wait. Beyond this, the oldest are given up. */
  waiting: 10_000,
} as const
/** The most rows that one statement deletes or gives up. */
const AT_ONCE = 500

/**
 * Inserts the events. Now and then, depending on the events' random ids, it also deletes expired
 * events (one in 16) and surplus ones (one in 256).
 */
export const eventParts = (sql: Sql, events: NewEvent[] = [], now: Date): Fragment[] => {
  const rows = events.map((event) => ({ id: newId(), ...event }))
  const parts = rows.map((event) => insertEvent(sql, event, now))
  if (rows.some(({ id }) => id.endsWith('0'))) parts.push(removeExpiredEvents(sql))
  if (rows.some(({ id }) => id.endsWith('00'))) parts.push(removeSurplusEvents(sql))
  return parts
}

/**
 * Events that nobody wants keep the defaults of their columns. Most workspaces have no endpoint,
 * and should pay little for events.
 */
const insertEvent = (
  sql: Sql,
  { id, type, data, due, subject = null }: NewEvent & { id: string },
  now: Date,
): Fragment =>
  due
    ? sql`insert into outbox (id, type, data, created_at, subject, state, next_at, expires_at)
        values (${id}, ${type}, ${sql.json(data)}, ${now}, ${subject}, 'pending', ${now}, null)`
    : sql`insert into outbox (id, type, data, created_at)
      values (${id}, ${type}, ${sql.json(data)}, ${now})`

/** Deletes some expired events, by the index on expiry. */
export const removeExpiredEvents = (
  sql: Sql,
): Fragment => sql`delete from outbox where id = any(array(
  select id from outbox where expires_at <= clock_timestamp() order by expires_at
    limit ${AT_ONCE}))`

/**
 * Deletes some events beyond the number kept. This is rare, because it reads that much of the index
 * on expiry.
 */
export const removeSurplusEvents = (
  sql: Sql,
): Fragment => sql`delete from outbox where id = any(array(
  select id from outbox where expires_at is not null order by expires_at desc offset ${outboxLimits.finished}
    limit ${AT_ONCE}))`

interface Except {
  /** Treat this event as finished. */
  eventId: string
  /** Treat everything of this subject as waiting for the event. */
  subject: string | null
}

const eventColumns = (sql: Sql): Fragment =>
  sql`o.id, o.type, o.data, o.created_at, o.subject, o.attempts, o.next_at`

/** The first waiting event of each subject; among these, the one due first. */
export const firstDueEvent = (sql: Sql, except?: Except): Fragment<WaitingEvent> => {
  const [eventId, subject] = [except?.eventId ?? null, except?.subject ?? null]
  return sql`select ${eventColumns(sql)} from outbox o
    where o.state = 'pending' and o.id is distinct from ${eventId}::uuid
      and (${subject}::text is null or o.subject is distinct from ${subject})
      and not exists (select 1 from outbox p where p.state = 'pending' and p.subject = o.subject
        and p.id is distinct from ${eventId}::uuid
        and (p.created_at, p.id) < (o.created_at, o.id))
    order by o.next_at, o.created_at, o.id limit 1`
}

const times = { created_at: true, next_at: true } as const

export const nextEvent = (except?: Except) =>
  one<WaitingEvent>(times, (sql) => firstDueEvent(sql, except))

/** Undefined if the event is no longer waiting. */
export const pendingEvent = (id: string) =>
  one<WaitingEvent>(
    times,
    (sql) =>
      sql`select ${eventColumns(sql)} from outbox o where o.id = ${id} and o.state = 'pending'`,
  )

export const saveEvent =
  (id: string, next: TriedEvent): Query =>
  (sql) =>
    sql`update outbox set state = ${next.state}, attempts = ${next.attempts},
      last_error = ${next.error},
      next_at = ${next.state === 'pending' ? next.nextAt : null},
        expires_at = ${next.state === 'pending' ? null : next.expiresAt}
      where id = ${id}`

/** The number of waiting events. */
export const waitingEventCount = mapPart(
  sure(
    one<{ count: number }>(
      {},
      (sql) => sql`select count(*)::int as count from outbox where state = 'pending'`,
    ),
  ),
  ({ count }) => count,
)

/** An event that the endpoint was sent, or will be. */
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

const logColumns = (sql: Sql): Fragment =>
  sql`id, type, subject, state, attempts, last_error, created_at, next_at, expires_at`

const EVENT_TIMES = { created_at: true, next_at: true, expires_at: true } as const

interface LogFilters {
  state?: EventRow['state'] | undefined
  type?: string | undefined
}

/** The delivery log, newest first, without events that no endpoint wanted. */
export const eventLog =
  ({ limit, after, state, type }: Page & LogFilters): Query<EventRow> =>
  (sql) =>
    sql`select ${logColumns(sql)} from outbox where state <> 'unwanted'
      ${after ? sql`and id < ${after}` : sql``}
        ${state ? sql`and state = ${state}` : sql``} ${type ? sql`and type = ${type}` : sql``}
      order by id desc limit ${limit + 1}`

/** The same, to be read with other things. */
export const loggedEvents = (page: Page & LogFilters) => many(EVENT_TIMES, eventLog(page))

/** An event of the log. */
export const loggedEvent = (id: string) =>
  one<EventRow>(
    EVENT_TIMES,
    (sql) => sql`select ${logColumns(sql)} from outbox where id = ${id} and state <> 'unwanted'`,
  )

/** An event in any state; undefined if it is no longer kept. */
export const keptEvent = (id: string) =>
  one<EventRow & Pick<WaitingEvent, 'data'>>(
    EVENT_TIMES,
    (sql) => sql`select ${logColumns(sql)}, data from outbox where id = ${id}`,
  )

/** Makes a kept event wait again; its tries still count. */
export const replayEvent =
  ({ id, subject }: Pick<EventRow, 'id' | 'subject'>, now: Date): Query =>
  (sql) =>
    sql`update outbox set state = 'pending', subject = ${subject}, attempts = 0, next_at = ${now},
      expires_at = null
      where id = ${id}`

/** Gives up some of the oldest waiting events as dead letters. Keeps the newest `beyond`. */
export const giveUpEvents =
  ({ beyond, reason, expiresAt }: { beyond: number; reason: string; expiresAt: Date }): Query =>
  (sql) =>
    sql`update outbox set state = 'dead', last_error = ${reason}, next_at = null,
      expires_at = ${expiresAt}
      where id = any(array(
        select id from outbox where state = 'pending' order by created_at desc,
          id desc offset ${beyond} limit ${AT_ONCE}))`

/** Whether more are waiting than `giveUpEvents` takes at once. */
export const manyPending = async (sql: Sql): Promise<boolean> =>
  (await sql`select 1 from outbox where state = 'pending' offset ${AT_ONCE} limit 1`).length === 1
