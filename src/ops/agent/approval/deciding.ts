/** A decision about a call, with what it does to the job that waits for it. */
import { decidedEvent } from '#decisions/agent/asking'
import { factsAt, jobEffects } from '#decisions/agent/job-effects'
import type { ConversationThread } from '#domain/agent/job/change'
import type { CallDecision } from '#domain/agent/job/decision'
import type { Job } from '#domain/agent/job/job'
import { stepOf } from '#domain/agent/job/transition'
import { fail } from '#kernel/errors'
import { type Effects, merge } from '#store/engine/letter'
import type { CommandContext } from '../../engine/call.ts'

interface Asking {
  job: Job | undefined
  thread?: ConversationThread | undefined
  /** Rules that the person sets together with the decision. */
  rules?: Effects
}

/** The job's work is due now. */
export const applyDecision = (
  { job, thread, rules = {} }: Asking,
  decision: CallDecision,
  { gate: { now } }: CommandContext,
) => {
  if (!job)
    return fail('conflict', 'cannot decide: the job is gone', { reason: 'missing_prerequisite' })
  const change = stepOf(job, { kind: 'decision', ...decision }, { ...factsAt(now), thread })
  const { job_id, tool_name, edited } = decision.approval
  const auditDetail = {
    tool: tool_name,
    job_id,
    edited,
    ...(rules.writes && { remember: 'workspace' }),
  }
  return {
    effects: merge(jobEffects(change), { events: [decidedEvent(decision.approval)] }, rules),
    auditDetail,
  }
}
