/** What happened in a job, in order. */
import type { Query } from '../engine/db.ts'
import { many } from '../engine/load.ts'

type EventType = 'job.status' | 'step.started' | 'step.ended' | 'approval.requested' | 'approval.decided' | 'message'

export interface AgentEvent {
  job_id: string
  seq: number
  conversation_id: string | null
  at: Date
  type: EventType
  data: Record<string, unknown>
}

export const insertEvents =
  (events: readonly AgentEvent[]): Query =>
  (sql) =>
    sql`insert into agent_event ${sql(events.map((event) => ({ ...event, data: sql.json(event.data as never) })))}`

/** The most events of one read. */
const MOST_EVENTS = 500

export const eventsAfter = (jobId: string, seq: number) =>
  many<AgentEvent>(
    { at: true },
    (sql) => sql`select job_id, seq, conversation_id, at, type, data from agent_event where job_id = ${jobId} and seq > ${seq}
      order by seq limit ${MOST_EVENTS}`,
  )
