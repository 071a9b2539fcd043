/**
 * What a job asks people about: one call of a tool, as it was shown to them. pending → approved or
 * rejected.
 */
import { approvalRecord } from '#contract/records/agent/approval'
import type { RowOf } from '#contract/records/record'
import { fail } from '#kernel/errors'
import { textsIn } from '#kernel/json-value'
import { unseenCount, unseenWarning, withCodes } from '#kernel/unseen'
import { argumentsHash } from '../hash.ts'
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

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The record that a call is about: of those it is bound to the first, or else the one it names. */
const subjectIdOf = ({ records: [first] }: Subject, { id }: Record<string, unknown>) =>
  first?.id ?? (typeof id === 'string' && UUID.test(id) ? id : null)

/** SHA-256 of a call as it was shown. */
export const callHash = ({
  tool_name,
  arguments: given,
  subject,
}: Pick<Approval, 'tool_name' | 'arguments' | 'subject'>): string =>
  argumentsHash({ tool_name, arguments: given, subject })

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
  subject_id: subjectIdOf(said.subject, step.args ?? {}),
  expires_at: new Date(now.getTime() + APPROVAL_MS),
  created_at: now,
  updated_at: now,
})

/** A reason of a step: it runs with arguments other than the model's. */
export const EDITED = 'a person changed the arguments'

/** The page where a person decides. */
export const approvalUrl = (publicUrl: string, id: string): string => `${publicUrl}/approvals/${id}`

export interface ApprovalDecision {
  decided_how: 'person'
  decided_by: string
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
        by: approval.decider,
        at: approval.decided_at,
      },
    )
  if (status === 'approved' && approval.expires_at <= now)
    fail('conflict', 'cannot approve: the time to decide is over', { reason: 'too_late' })
  const decider = { kind: 'person', id: by.decided_by } as const
  return { ...approval, ...by, decider, status, reason, decided_at: now, updated_at: now }
}

/** Somebody has made the call needless. Whether it was allowed before remains. */
export const overtake = (
  approval: Approval,
  { by, now }: { by: NonNullable<Approval['decider']>; now: Date },
): Approval => ({
  ...approval,
  ...(approval.status === 'pending' && {
    status: 'rejected',
    decided_by: by.kind === 'person' ? by.id : null,
    decided_at: now,
  }),
  decided_how: 'moot',
  decider: by,
  updated_at: now,
})

/**
 * Throws `conflict` if what a person has seen is not the call that waits. `seen`: the hash of the
 * call, or of its text.
 */
export const requireSeenCall = (approval: Approval, seen: string): void => {
  if (seen === callHash(approval) || seen === approval.subject.sha256) return
  fail('conflict', 'this is not the call that you saw: read it again before you decide', {
    reason: 'stale_call',
    details: [{ path: 'expect_sha256', message: `the call has ${callHash(approval)}` }],
  })
}

const how = ({ decided_how }: Approval): string => {
  if (decided_how === 'expiry') return ', because nobody decided in time'
  if (decided_how === 'moot') return ', because somebody had made it needless'
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
