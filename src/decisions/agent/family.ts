/** What the end of a job means for its parent and its children. */
import { newWork } from '#decisions/work'
import { withAnswer } from '#domain/agent/job/delegation'
import { isOver, type Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { eventEffects } from '#store/agent/events'
import { saveJob } from '#store/agent/jobs'
import { saveStep } from '#store/agent/steps'
import { type Effects, merge } from '#store/engine/letter'
import { type News, statusNews, withEvents } from './job-events.ts'

export interface Parent {
  job: Job | undefined
  /** The step that waits. */
  step: Step | undefined
}

/** A child is over: its parent has the answer, and continues at once. */
export const childEnded = ({ job, step }: Parent, child: Job, now: Date): Effects => {
  if (!job || isOver(job) || step?.state !== 'waiting') return {}
  const after = withAnswer(job, step, child, now)
  const { number, kind, name, state } = after.step
  const ms = step.started_at ? now.getTime() - step.started_at.getTime() : 0
  const news: News[] = [
    { type: 'step.ended', data: { number, kind, name, state, ms } },
    ...(job.status === 'running' ? [] : [statusNews(after.job)]),
  ]
  const told = withEvents(after.job, news, now)
  const work = [
    newWork('agent', { root: job.root_id, refId: job.id, origin: job.origin, runAt: now }),
  ]
  return merge(
    { writes: [saveStep(after.step), saveJob(told.job)], work },
    eventEffects(told.events),
  )
}
