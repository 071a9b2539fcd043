import { ended, type Job } from '#domain/agent/job'
import { rejectPending } from '#store/agent/approvals'
import { eventEffects } from '#store/agent/events'
import { type OpenJob, saveJob } from '#store/agent/jobs'
import { cancelSteps } from '#store/agent/steps'
import { type Effects, merge } from '#store/engine/letter'
import { settledEvent, statusNews, withEvents } from './job-events.ts'

/** Cancels a job with all that it asks or was about to do. Its row of work is for the caller to settle. */
export const cancelledJob = ({ work: _, ...before }: OpenJob, now: Date): { job: Job; effects: Effects } => {
  const over = ended(before, { status: 'cancelled', error: null }, now)
  const { job, events } = withEvents(over, [statusNews(over)], now)
  const writes = [saveJob(job), cancelSteps(job.id, [], now), rejectPending(job.id, 'cancel', now)]
  return { job, effects: merge({ writes, events: [settledEvent(job)] }, eventEffects(events)) }
}
