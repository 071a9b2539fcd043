import type { Job } from '#domain/agent/job/job'
import type { AgentEvent } from '#store/agent/events'
import type { NewEvent } from '#store/engine/outbox'

export type News = Pick<AgentEvent, 'type' | 'data'>

/** Numbers the events of a job. The returned job must be saved in the same commit as the events. */
export const withEvents = (
  job: Job,
  news: readonly News[],
  now: Date,
): { job: Job; events: AgentEvent[] } => ({
  job: { ...job, next_event: job.next_event + news.length },
  events: news.map(({ type, data }, index) => ({
    ...{
      job_id: job.id,
      seq: job.next_event + index,
      conversation_id: job.conversation_id,
      at: now,
      type,
      data,
    },
  })),
})

export const statusNews = ({ status, error }: Job): News => ({
  type: 'job.status',
  data: { status, error },
})

/** The webhook event for a job that is over. */
export const settledEvent = ({ id, kind, conversation_id, status, error }: Job): NewEvent => ({
  type: 'agent.job.settled',
  data: { job_id: id, kind, conversation_id, status, error },
  subject: id,
})
