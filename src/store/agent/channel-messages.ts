/** What came in from channels: each event once, and the message that is kept of it. */
import { channelMessageRecord } from '#contract/records/agent/channel-message'
import type { ChannelMessage } from '#domain/agent/channel/message'
import { dailyJobLimits } from '#domain/agent/channel/trust'
import type { Conversation } from '#domain/agent/conversation'
import type { Role } from '#kernel/roles'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { conversationTable, type TurnFacts } from './conversations.ts'

const table = tableOf(channelMessageRecord)

export const channelMessagePart = (id: string) =>
  one<ChannelMessage>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'm')} from channel_message m where m.id = ${id}`,
  )

export const deleteChannelMessage =
  (id: string): Query =>
  (sql) =>
    sql`delete from channel_message where id = ${id}`

export const insertChannelMessage = (message: ChannelMessage): Query => table.insert(message)

export const saveChannelMessage = (message: ChannelMessage): Query => table.save(message)

/** How many messages of a connection came since a time. `oldest`: when the first of them came. */
interface Count {
  count: number
  oldest: Date | null
}

export interface ArrivalFacts {
  /** Whether one of its events has come before. */
  is_known: boolean
  /** The event id of the line that a sender is sent at most once a day, and whether it was sent. */
  told: string
  is_told: boolean
  /** How many such lines all senders were sent within a day. */
  told_of_connection: number
  of_connection: number
  oldest_of_connection: Date | null
  of_sender: number
  oldest_of_sender: Date | null
  /** Jobs that strangers have begun or are about to begin. */
  strangers_of_connection: number
  strangers_of_sender: number
  /** Jobs of this sender while linked, counted up to the number allowed. */
  jobs_of_member: number
}

/** Stored as the sender of such a line, so that lines can be counted. No sender has this name. */
const TOLD = ''

const timeBefore = (sql: Sql, ms: number): Fragment =>
  sql`clock_timestamp() - ${ms} * interval '1 millisecond'`

const recent = (sql: Sql, source: string, ms: number): Fragment<Count> =>
  sql`select count(*)::int as count, min(at) as oldest from inbound_event
    where source_id = ${source} and sender <> ${TOLD} and at > ${timeBefore(sql, ms)}`

/**
 * `before`: when the message came, if it is already kept. `rateMs`: for how long messages count.
 * `dayMs`: for how long jobs count.
 */
export const arrivalFacts = (
  {
    source,
    events,
    sender,
    before,
  }: { source: string; events: readonly string[]; sender: string; before?: Date },
  { rateMs, dayMs }: { rateMs: number; dayMs: number },
) =>
  sure(
    one<ArrivalFacts>(
      { oldest_of_connection: true, oldest_of_sender: true },
      (sql) => sql`select t.told,
          exists (select from inbound_event where source_id = ${source} and event_id = any(${[...events]})) as is_known,
          exists (select from inbound_event where source_id = ${source} and event_id = t.told) as is_told,
          (select count(*)::int from inbound_event
            where source_id = ${source} and sender = ${TOLD} and at > ${timeBefore(sql, dayMs)}) as told_of_connection,
          c.count as of_connection, c.oldest as oldest_of_connection, s.count as of_sender, s.oldest as oldest_of_sender,
          d.all_senders as strangers_of_connection, d.this_sender as strangers_of_sender, m.jobs_of_member
        from (select 'told ' || to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD') || ' ' || ${sender} as told) t,
          (${recent(sql, source, rateMs)}) c, (${recent(sql, source, rateMs)} and sender = ${sender}) s,
          (select count(*)::int as all_senders, (count(*) filter (where sender = ${sender}))::int as this_sender from channel_message
            where connection_id = ${source} and identity_id is null and created_at > ${timeBefore(sql, dayMs)} and state <> 'failed') d,
          (select count(*)::int as jobs_of_member from (select from channel_message
            where connection_id = ${source} and sender = ${sender} and identity_id is not null and state <> 'failed'
              and created_at > ${timeBefore(sql, dayMs)} ${before ? sql`and created_at < ${before}` : sql``} limit ${dailyJobLimits.ofMember}) one) m`,
    ),
  )

/**
 * How many messages of the workspace are still to be fetched or decided about, counted up to
 * `most`.
 */
export const fetchesUpTo = (most: number) =>
  sure(
    one<{ count: number }>(
      {},
      (sql) =>
        sql`select count(*)::int as count from (select from work w where w.kind = 'channel_fetch'
          limit ${most}) waiting`,
    ),
  )

export interface NewArrival {
  source: string
  events: readonly string[]
  sender: string
  job: string | null
  now: Date
}

/** Inserts a row for each name of the event. One of them counts as a message of the sender. */
export const insertArrival =
  ({ source, events, sender, job, now }: NewArrival): Query =>
  (sql) => {
    const rows = events.map((event_id, nth) => ({
      source_id: source,
      event_id,
      job_id: job,
      sender: nth === 0 ? sender : null,
      at: now,
    }))
    return sql`insert into inbound_event ${sql(rows)}`
  }

/** The line does not count as a message of the sender. */
export const insertTold =
  ({ source, told, now }: { source: string; told: string; now: Date }): Query =>
  (sql) =>
    sql`insert into inbound_event (source_id, event_id, sender, at)
      values (${source}, ${told}, ${TOLD}, ${now})`

/** The identity of a sender who is linked to a current member. */
export const memberOfSender = (connectionId: string, sender: string) =>
  one<{ id: string; person_id: string; role: Role }>(
    {},
    (sql) => sql`select i.id, i.person_id, m.role from channel_identity i
      join member m on m.tenant_id = i.tenant_id and m.person_id = i.person_id
      where i.connection_id = ${connectionId} and i.external_id = ${sender}`,
  )

export const receivedAt =
  (connectionId: string, now: Date): Query =>
  (sql) =>
    sql`update channel_connection set last_in_at = ${now} where id = ${connectionId}`

/** The conversation of a thread, and what its next turn depends on. */
export type ThreadFacts = Conversation &
  Pick<TurnFacts, 'our_jobs' | 'our_typed' | 'is_busy' | 'has_untrusted'>

export const threadPart = (connectionId: string, thread: string) =>
  one<ThreadFacts>(
    conversationTable.times,
    (
      sql,
    ) => sql`select ${conversationTable.columns(sql, 'c')}, count(j.id)::int as our_jobs, (count(*) filter (where j.typed))::int as
          our_typed,
        coalesce(bool_or(j.status in ('queued', 'running') and j.held_since is null), false) as
          is_busy,
        c.summary_untrusted or exists (select from agent_message m where m.conversation_id = c.id
          and m.untrusted) as has_untrusted
      from agent_conversation c left join agent_job j on j.conversation_id = c.id
        and j.ended_at is null
      where c.connection_id = ${connectionId} and c.thread = ${thread} group by c.tenant_id, c.id`,
  )

export const insertThread = (
  conversation: Conversation,
  { connectionId, thread }: { connectionId: string; thread: string },
): Query => conversationTable.insert(conversation, { connection_id: connectionId, thread })
