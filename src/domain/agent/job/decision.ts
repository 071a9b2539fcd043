/** What a person's decision about a call does to the job that waits for it. Pure. */
import { fail } from '#kernel/errors'
import type { Approval } from './approval.ts'
import {
  decideApproval,
  goOn,
  type JobChange,
  nameRecords,
  putStep,
  setJob,
  tell,
} from './change.ts'
import type { Handles } from './handles.ts'
import { isOver } from './job.ts'
import type { News } from './news.ts'
import type { Step } from './step.ts'

export interface CallDecision {
  /** With the decision. */
  approval: Approval
  /** Undefined: its job is past its retention. */
  step: Step | undefined
  /** What becomes of the step. */
  going: Partial<Step>
  /** Records of its new arguments that the conversation had no name for. */
  names?: Handles
}

/** Throws `conflict` if it comes too late. */
export const answerDecision = (
  before: JobChange,
  { approval, step, going, names = {} }: CallDecision,
): JobChange => {
  if (isOver(before.job))
    fail('conflict', `cannot decide: the job is ${before.job.status}`, { reason: 'wrong_state' })
  if (step?.state !== 'asked')
    return fail('conflict', `cannot decide: the call is ${step?.state ?? 'gone'}`, {
      reason: 'wrong_state',
    })
  const next = { ...step, ...going }
  const change = nameRecords(decideApproval(putStep(before, next), approval), names)
  return goOn(setJob(tell(change, ...newsOf(approval, next)), {}))
}

const newsOf = (
  { id, status, decided_how: how, reason, tool_name, edited }: Approval,
  { number, kind, name, state }: Step,
): News[] => [
  {
    type: 'approval.decided',
    data: { approvalId: id, status, how, reason, tool: tool_name, edited, number },
  },
  ...(state === 'rejected'
    ? [{ type: 'step.ended' as const, data: { number, kind, name, state } }]
    : []),
]
