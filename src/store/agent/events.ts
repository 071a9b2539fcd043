/** What happened in a job, in order. */
import type { News } from '#domain/agent/job/news'
import type { Query } from '../engine/db.ts'
import type { ChangedRecord, Effects } from '../engine/letter.ts'
import { many } from '../engine/load.ts'

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

export const eventsAfter = (jobId: string, seq: number) =>
  many<AgentEvent>(
    { at: true },
    (sql) => sql`select job_id, seq, conversation_id, at, type, data from agent_event
      where job_id = ${jobId} and seq > ${seq}::bigint
      order by seq limit ${MOST_EVENTS}`,
  )

export interface ConversationEvent extends AgentEvent {
  conversation_seq: number
}

/** The events of all jobs of a conversation. */
export const conversationEventsAfter = (conversationId: string, seq: number) =>
  many<ConversationEvent>(
    { at: true },
    (
      sql,
    ) => sql`select job_id, seq, conversation_id, conversation_seq, at, type, data from agent_event
      where conversation_id = ${conversationId} and conversation_seq > ${seq}
        order by conversation_seq limit ${MOST_EVENTS}`,
  )
