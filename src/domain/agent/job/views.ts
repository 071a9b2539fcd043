/** Records of the agent as callers see them. */
import { approvalRecord } from '#contract/records/agent/approval'
import { conversationRecord, messageRecord } from '#contract/records/agent/conversation'
import { jobRecord } from '#contract/records/agent/job'
import { stepRecord } from '#contract/records/agent/step'
import { viewOf } from '#contract/records/view'
import type { Deciders } from '#kernel/deciders'
import type { Conversation } from '../conversation.ts'
import { type Approval, approvalUrl, callHash, type Subject } from './approval.ts'
import type { Job } from './job.ts'
import type { Step } from './step.ts'
import { attemptsOf } from './tasks/task.ts'

/** `is_hidden`: it is a private conversation of others; owners only see that it exists. */
export type ShownConversation = Conversation & { is_hidden?: boolean }

const view = viewOf(conversationRecord)

export const conversationView = ({ is_hidden: hidden = false, ...shown }: ShownConversation) => ({
  ...view(shown),
  ...(hidden && { title: null, people: [] }),
  hidden,
})

export const messageView = viewOf(messageRecord)

/** Costs are counted in hundredths of a cent. */
const IN_CENT = 100

const viewOfJob = viewOf(jobRecord)

export const jobView = (job: Job) => ({
  ...viewOfJob(job),
  costUsdCents: (job.cost + job.reserved_cost) / IN_CENT,
  costIsEstimated: job.cost_estimated || job.reserved_cost > 0,
  reservedCostUsdCents: job.reserved_cost / IN_CENT,
})

/** For a job that is a task. A task never waits, so its states are those of the job. */
export const taskView = (job: Job) => {
  const { id, tier, model, status, output, error } = job
  const { type, input, max_attempts } = job.task!
  return {
    id,
    taskType: type,
    input: { ...input },
    tier,
    model,
    requestedModel: job.asked_model,
    maxAttempts: max_attempts,
    attempts: attemptsOf(job),
    output,
    error,
    status: status as 'queued' | 'running' | 'completed' | 'failed' | 'cancelled',
    startedAt: job.started_at,
    endedAt: job.ended_at,
    createdAt: job.created_at,
    updatedAt: job.updated_at,
  }
}

/** A step without its full result, which can be large. */
export interface ShownStep extends Omit<Step, 'result' | 'answer'> {
  /** The first characters of its result, or of the model's words. */
  shown: string | null
  /** Whether there is more of the result. */
  shown_cut: boolean
}

const viewOfStep = viewOf(stepRecord)

export const stepView = (step: ShownStep) => ({
  ...viewOfStep(step),
  resultIsCut: step.result_cut || step.shown_cut,
})

/** An account is written as in the sentence next to it. */
const subjectView = (subject: Subject) => ({
  ...subject,
  account: subject.account === null ? null : `@${subject.account}`,
})

/** Shown instead of text from a conversation that the reader does not see. */
export const HIDDEN = '(said in a private conversation)'

/** The same, for a conversation that was deleted. */
export const GONE = '(said in a conversation that was deleted)'

interface ApprovalBeside {
  publicUrl: string
  /** The taint of the job; null once the job is past its retention. */
  taint: string[] | null
  deciders: Deciders
  /** Whether the reader is one of them. */
  mayDecide: boolean
  /**
   * The reader does not see its conversation. People who may decide are still shown the call, and
   * that it follows text from outside, but not which.
   */
  isHidden?: boolean
}

const decidersView = ({ roles, people, more }: Deciders) => ({
  roles: [...roles],
  people: people.map(({ id, name }) => ({ kind: 'person' as const, id, name })),
  more,
})

const viewOfApproval = viewOf(approvalRecord)

const UNTRUSTED = 'untrusted: '

/** The reasons, without the sources of what the job has read. */
const withoutSources = (why: readonly string[]): string[] => [
  ...new Set(why.map((one) => (one.startsWith(UNTRUSTED) ? `${UNTRUSTED}${HIDDEN}` : one))),
]

const UNTAKEN = ['cancelled', 'rejected']

/** What became of a call. Its step says so of one that was allowed, as long as that is kept. */
const outcomeOf = ({ status, decided_how, step }: Approval) => {
  const none = { outcome: null, error: null }
  if (decided_how === 'moot' || decided_how === 'stale')
    return { outcome: decided_how, error: null } as const
  if (status !== 'approved' || !step) return none
  const { state, error } = step
  if (state === 'done' || state === 'unknown') return { outcome: state, error: null } as const
  if (state === 'failed') return { outcome: 'failed', error } as const
  if (UNTAKEN.includes(state))
    return { outcome: 'failed', error: 'its job ended before it ran' } as const
  return { outcome: 'running', error: null } as const
}

export const approvalView = (
  approval: Approval,
  { publicUrl, taint, deciders, mayDecide, isHidden = false }: ApprovalBeside,
) => {
  const goal = isHidden ? HIDDEN : approval.goal
  const { outcome, error } = outcomeOf(approval)
  // The list stays empty if it is: it says whether what the call says is untrusted.
  const read = isHidden && taint !== null && taint.length > 0 ? [HIDDEN] : taint
  return {
    ...viewOfApproval(approval),
    outcome,
    error: isHidden && error !== null ? HIDDEN : error,
    decider: approval.decider && { ...approval.decider, name: approval.decider_name ?? null },
    sha256: callHash(approval),
    goal,
    why: isHidden ? withoutSources(approval.why) : approval.why,
    subject: subjectView(approval.subject),
    url: approvalUrl(publicUrl, approval.id),
    deciders: approval.status === 'pending' ? decidersView(deciders) : null,
    may_decide: approval.status === 'pending' && mayDecide,
    job: read && { id: approval.job_id, goal, taint: read },
  }
}
