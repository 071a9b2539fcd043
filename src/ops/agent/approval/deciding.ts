/** The effects of a decision about a call: on the approval, on its step, and on the waiting job. */
import { type News, withEvents } from '#decisions/agent/job-events'
import { newWork } from '#decisions/work'
import type { Approval } from '#domain/agent/job/approval'
import { isOver, type Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { fail } from '#kernel/errors'
import { saveApproval } from '#store/agent/approvals'
import { eventEffects } from '#store/agent/events'
import { saveJob } from '#store/agent/jobs'
import { saveStep } from '#store/agent/steps'
import type { Query } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import type { CommandContext } from '../../engine/call.ts'

interface Asking {
  job: Job | undefined
  step: Step | undefined
  /** Rules that the person sets together with the decision. */
  rules?: Effects
  /** Records that get a handle in the conversation. */
  names?: Query[]
}

/** The decision, its effect on the step, and the job's work, due now. */
export const applyDecision = (
  approval: Approval,
  { job, step, rules = {}, names = [] }: Asking,
  going: Partial<Step>,
  { gate: { now } }: CommandContext,
) => {
  if (!job || isOver(job)) fail('conflict', `cannot decide: the job is ${job?.status ?? 'gone'}`)
  if (step?.state !== 'asked')
    fail('conflict', `cannot decide: the call is ${step?.state ?? 'gone'}`)
  const next: Step = { ...step!, ...going, updated_at: now }
  const told = withEvents({ ...job!, updated_at: now }, newsOf(approval, next), now)
  const writes = [saveApproval(approval), saveStep(next), saveJob(told.job), ...names]
  const work = [
    newWork('agent', {
      root: told.job.root_id,
      refId: told.job.id,
      origin: told.job.origin,
      runAt: now,
    }),
  ]
  const effects = merge(
    { writes, events: [settledEvent(approval)], work },
    rules,
    eventEffects(told.events),
  )
  const auditDetail = {
    tool: approval.tool_name,
    job_id: approval.job_id,
    edited: approval.edited,
    ...(rules.writes && { remember: 'workspace' }),
  }
  return { effects, auditDetail }
}

const settledEvent = ({ id, job_id, tool_name, status, edited }: Approval) => ({
  type: 'agent.approval.decided',
  data: { approval_id: id, job_id, tool_name, status, edited },
  subject: id,
})

const newsOf = (
  { id, status, reason, tool_name, edited }: Approval,
  { number, kind, name, state }: Step,
): News[] => [
  {
    type: 'approval.decided',
    data: { approvalId: id, status, reason, tool: tool_name, edited, number },
  },
  ...(state === 'rejected'
    ? [{ type: 'step.ended' as const, data: { number, kind, name, state } }]
    : []),
]
