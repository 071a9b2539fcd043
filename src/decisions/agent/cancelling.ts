import { concludeJob, type Job } from '#domain/agent/job/job'
import { rejectPending } from '#store/agent/approvals'
import { eventEffects } from '#store/agent/events'
import { type OpenJob, saveJob } from '#store/agent/jobs'
import { type CallInFlight, cancelSteps } from '#store/agent/steps'
import { type Effects, merge } from '#store/engine/letter'
import type { LiveLanes } from '../deciding.ts'
import { settledEvent, statusNews, withEvents } from './job-events.ts'

/**
 * Cancels a job with everything that it asks for or was about to do. The caller settles its row of
 * work.
 */
export const cancelledJob = (
  { work: _, ...before }: OpenJob,
  now: Date,
): { job: Job; effects: Effects } => {
  const over = concludeJob(before, { status: 'cancelled', error: null }, now)
  const { job, events } = withEvents(over, [statusNews(over)], now)
  const writes = [saveJob(job), cancelSteps(job.id, [], now), rejectPending(job.id, 'cancel', now)]
  return { job, effects: merge({ writes, events: [settledEvent(job)] }, eventEffects(events)) }
}

/**
 * Stops whatever is running for these jobs. Returns the rows of work that are over, and the outside
 * calls that can no longer be stopped: such a call's row is settled when its outcome arrives.
 */
export const stopJobs = (
  tree: readonly OpenJob[],
  calls: readonly CallInFlight[],
  lanes: LiveLanes,
) => {
  const works = new Set(tree.flatMap(({ work }) => work ?? []))
  const recalled = new Set(lanes.recall((work) => works.has(work.id)).map(({ id }) => id))
  const onTheirWay = new Set(lanes.ids().filter((id) => !recalled.has(id)))
  const left = new Set(tree.flatMap(({ id, work }) => (work && recalled.has(work) ? [] : id)))
  return {
    settled: [...works].filter((id) => !onTheirWay.has(id)),
    in_flight: calls.filter(({ job_id }) => left.has(job_id)),
  }
}
