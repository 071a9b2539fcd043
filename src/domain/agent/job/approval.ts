/**
 * What a job asks people about: one call of a tool, as it was shown to them. pending → approved or
 * rejected.
 */
import { approvalRecord } from '#contract/records/agent/approval'
import type { RowOf } from '#contract/records/record'
import { fail } from '#kernel/errors'
import { textsIn } from '#kernel/json-value'
import { unseenCount, unseenWarning, withCodes } from '#kernel/unseen'
import type { Job, OnBehalf } from './job.ts'
import { APPROVAL_MS } from './limits.ts'
import type { Step } from './step.ts'

export type Approval = RowOf<typeof approvalRecord>
export type Subject = Approval['subject']

/**
 * The caller of a direct call, identified in a way that is the same for all sessions of a person.
 */
export const directCaller = ({ kind, id, personId }: OnBehalf): string =>
  kind === 'session' ? `person:${personId}` : `${kind}:${id}`

type NewApproval = Pick<Approval, 'summary' | 'subject' | 'direct_by' | 'conversation_id'> & {
  now: Date
}

/**
 * The sentence that people are shown wherever they decide. It shows codes for characters that
 * nobody would see, and counts such characters in the whole call.
 */
export const shownSummary = ({
  summary,
  subject,
  arguments: given,
}: Pick<Approval, 'summary' | 'subject' | 'arguments'>): string => {
  let inArguments = 0
  for (const { text } of textsIn(given)) inArguments += unseenCount(text)
  // The arguments may contain the text that goes out.
  const count = Math.max(inArguments, unseenCount(subject.text ?? ''))
  return `${withCodes(summary)}${count === 0 ? '' : `. ${unseenWarning('What it says', count)}`}`
}

/** A step asks for an approval. */
export const newApproval = (
  id: string,
  job: Pick<Job, 'id' | 'goal'>,
  step: Step,
  { now, ...said }: NewApproval,
): Approval => ({
  ...approvalRecord.blank,
  ...said,
  id,
  job_id: job.id,
  step_id: step.id,
  goal: job.goal,
  tool_name: step.name,
  why: step.why,
  summary: shownSummary({ ...said, arguments: step.args ?? {} }),
  arguments: step.args ?? {},
  arguments_hash: step.args_hash!,
  status: 'pending',
  edited: false,
  expires_at: new Date(now.getTime() + APPROVAL_MS),
  created_at: now,
  updated_at: now,
})

/** A reason of a step: it runs with arguments other than the model's. */
export const EDITED = 'a person changed the arguments'

/** The page where a person decides. */
export const approvalUrl = (publicUrl: string, id: string): string => `${publicUrl}/approvals/${id}`

export type ApprovalDecision = Pick<Approval, 'decided_how' | 'decided_by'> & {
  reason?: string | null
  now: Date
}

/**
 * Making the same decision twice has no effect: the approval is returned unchanged. Throws
 * `conflict` if the opposite decision was made before, or if it can no longer be decided.
 */
export const decide = (
  approval: Approval,
  status: 'approved' | 'rejected',
  { now, reason = null, ...by }: ApprovalDecision,
): Approval => {
  if (approval.status === status && approval.decided_how === 'person') return approval
  if (approval.status !== 'pending')
    fail(
      'conflict',
      `cannot ${status === 'approved' ? 'approve' : 'reject'}: the call was already ${approval.status}${how(approval)}`,
      {
        reason: 'wrong_state',
        by: approval.decided_by === null ? null : { kind: 'person', id: approval.decided_by },
        at: approval.decided_at,
      },
    )
  if (status === 'approved' && approval.expires_at <= now)
    fail('conflict', 'cannot approve: the time to decide is over', { reason: 'too_late' })
  return { ...approval, ...by, status, reason, decided_at: now, updated_at: now }
}

const how = ({ decided_how }: Approval): string => {
  if (decided_how === 'expiry') return ', because nobody decided in time'
  return decided_how === 'cancel' ? ', because its job ended' : ''
}

/** An approval that a call in the same conversation waits for. */
export type OpenApproval = Pick<
  Approval,
  'tool_name' | 'arguments_hash' | 'subject' | 'summary' | 'expires_at'
>

/**
 * The open approval of an equal call on records that are unchanged, if any: a person is not asked
 * twice.
 */
export const openFor = <O extends OpenApproval>(
  open: readonly O[],
  call: Pick<Approval, 'tool_name' | 'arguments_hash' | 'subject'>,
  now: Date,
): O | undefined =>
  open.find(
    ({ tool_name, arguments_hash, subject, expires_at }) =>
      tool_name === call.tool_name &&
      arguments_hash === call.arguments_hash &&
      isSameSubject(subject, call.subject) &&
      expires_at > now,
  )

export const isSameSubject = (a: Subject, b: Subject): boolean =>
  a.account === b.account &&
  a.records.length === b.records.length &&
  a.records.every(({ kind, id, sha256 }, index) => {
    const other = b.records[index]!
    return kind === other.kind && id === other.id && sha256 === other.sha256
  })
