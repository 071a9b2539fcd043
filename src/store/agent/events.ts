/** What happened in a job, in order. */
import type { News } from '#domain/agent/job/news'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import type { ChangedRecord, Effects } from '../engine/letter.ts'
import { many, mapPart, one, type Part } from '../engine/load.ts'

export interface AgentEvent extends News {
  job_id: string
  seq: number
  conversation_id: string | null
  at: Date
}

const insertEvents =
  (events: readonly AgentEvent[]): Query =>
  (sql) =>
    sql`insert into agent_event ${sql(events.map((event) => ({ ...event, data: sql.json(event.data as never) })))}`

const changed = (kind: string, ids: readonly (string | null)[]): ChangedRecord[] =>
  [...new Set(ids)].flatMap((id) => (id === null ? [] : [{ kind, id }]))

/** Stores events, and tells the streams of this process about them. */
export const eventEffects = (events: readonly AgentEvent[]): Effects => {
  if (events.length === 0) return {}
  return {
    writes: [insertEvents(events)],
    news: [
      ...changed(
        'job',
        events.map((event) => event.job_id),
      ),
      ...changed(
        'conversation',
        events.map((event) => event.conversation_id),
      ),
    ],
  }
}

/** The most events of one read. */
export const MOST_EVENTS = 500

/** An event that somebody says they have last, of a job or a conversation. Zero: none yet. */
interface Place {
  id: string
  seq: number
}

type Find = (sql: Sql, place: Place) => Fragment<{ seq: number }>

const inJob: Find = (sql, { id, seq }) => sql`select p.seq from agent_event p
  where p.job_id = ${id} and p.seq = ${seq}::bigint`

const inConversation: Find = (sql, { id, seq }) => sql`select p.conversation_seq as seq
  from agent_event p where p.conversation_id = ${id} and p.conversation_seq = ${seq}`

/** The event that there is, or else the one before it. */
const upToInJob: Find = (sql, { id, seq }) => sql`select p.seq from agent_event p
  where p.job_id = ${id} and p.seq <= ${seq}::bigint order by p.seq desc limit 1`

const upToInConversation: Find = (sql, { id, seq }) => sql`select p.conversation_seq as seq
  from agent_event p where p.conversation_id = ${id} and p.conversation_seq <= ${seq}
  order by p.conversation_seq desc limit 1`

/** Below the oldest, nobody has missed anything: all that there is comes after it. */
const isThere = (place: Place, find: Find): Part<boolean> =>
  mapPart(
    one<{ seq: number }>({}, (sql) => find(sql, place)),
    (row) => row === undefined || Number(row.seq) === place.seq,
  )

/** Whether the job has such an event. Of a copy, the original has others since. */
export const isInJob = (place: Place): Part<boolean> => isThere(place, upToInJob)
export const isInConversation = (place: Place): Part<boolean> => isThere(place, upToInConversation)

/** All that there are if there is no such place. */
export const eventsAfter = (place: Place) =>
  many<AgentEvent>(
    { at: true },
    (sql) => sql`select job_id, seq, conversation_id, at, type, data from agent_event
      where job_id = ${place.id} and seq > coalesce((${inJob(sql, place)}), 0)
      order by seq limit ${MOST_EVENTS}`,
  )

export interface ConversationEvent extends AgentEvent {
  conversation_seq: number
}

/** The events of all jobs of a conversation. */
export const conversationEventsAfter = (place: Place) =>
  many<ConversationEvent>(
    { at: true },
    (
      sql,
    ) => sql`select job_id, seq, conversation_id, conversation_seq, at, type, data from agent_event
      where conversation_id = ${place.id}
        and conversation_seq > coalesce((${inConversation(sql, place)}), 0)
        order by conversation_seq limit ${MOST_EVENTS}`,
  )

/** More events than a job or a deployment has between a backup and its restore. */
const LEAP = { job: 1_000_000, conversations: 1_000_000_000 }

/** Where another hold would lead past what the column holds. */
const LAST_LEAP = 2_000_000_000

/**
 * The jobs of the workspace that go on number their next events where the original of a copy does
 * not get.
 */
export const leapInJobs = async (sql: Sql): Promise<void> => {
  await sql`update agent_job set next_event = next_event + ${LEAP.job}
    where ended_at is null and next_event < ${LAST_LEAP}`
}

/** The same for the conversations of all workspaces, as the owner of the tables. */
export const leapInConversations = async (sql: Sql): Promise<void> => {
  await sql`with numbers as (
      select pg_get_serial_sequence('agent_event', 'conversation_seq')::regclass as name)
    select setval(name, nextval(name) + ${LEAP.conversations}) from numbers`
}
