/**
 * What people do with an engagement. Each function returns the next engagement; where
 * engagement-states.ts does not allow it, it throws `conflict`. What becomes of the engagement as
 * it is executed is in sending/engagement.ts.
 *
 *   queued → generating → drafted ─approve→ approved ─execute→ executing
 *                   └→ failed  └─reject→ rejected
 *   executing ─→ executed | execute_failed | execute_unconfirmed
 *   approved, rejected, execute_failed ─reopen→ drafted
 */
import { fail, refuseField } from '#kernel/errors'
import { unapproved } from '../sending/sendable.ts'
import { requireSeen } from './content-mark.ts'
import {
  contentOf,
  type Engagement,
  type EngagementDecision,
  isWritten,
  type LengthRule,
  usable,
} from './engagement.ts'
import { engagementStates, IN_REVIEW } from './engagement-states.ts'
import { contentHash, type DecidedBy, decisionBy } from './item.ts'
import { reviseText } from './revision.ts'
import { writtenText } from './written-text.ts'

/** The engagement with who decided on it. */
export const decidedOn = (
  engagement: Engagement,
  what: EngagementDecision['what'],
  by: DecidedBy,
): Engagement => ({ ...engagement, decision: decisionBy(what, by), restored_as_of: null })

interface Words extends LengthRule, DecidedBy {
  body: string
}

const withWords = (engagement: Engagement, { body, by, now, ...rule }: Words): Engagement => {
  if (!isWritten(engagement.action))
    refuseField('body', `only applies to replies and quotes, not to a ${engagement.action}`)
  const words = usable(writtenText(body, 'body'), rule)
  return words === engagement.body
    ? engagement
    : reviseText(engagement, { body: words }, { by, now })
}

interface Approval extends LengthRule, DecidedBy {
  /** An edited text. */
  body: string | undefined
  /** The hash of the text that the caller has seen, or its first digits. */
  seen?: string | undefined
  accountExternalId: string | null
}

/**
 * Approves a draft with the text that the caller has seen, edited if there is a body, for the
 * account that is the default now.
 */
export const approveEngagement = (
  engagement: Engagement,
  { body, seen, accountExternalId, ...rest }: Approval,
): Engagement => {
  const status = engagementStates.next(engagement, 'approve')
  requireSeen(engagement, seen)
  const words = body ?? engagement.body
  const next = words === null ? engagement : withWords(engagement, { body: words, ...rest })
  return {
    ...next,
    status,
    approved_hash: contentHash(contentOf(next), accountExternalId),
    account_external_id: accountExternalId,
    last_error: null,
    updated_at: rest.now,
  }
}

/**
 * Whether an edit would leave it unchanged. Throws `invalid_input` for a text that cannot be used.
 */
export const isSameText = (engagement: Engagement, words: Words): boolean =>
  (engagementStates.allows(engagement, 'edit') || engagement.status === 'executing') &&
  withWords(engagement, words) === engagement

/**
 * Changes the text of a draft. An approved engagement becomes a draft again; one that is about to
 * be sent must have been taken back.
 */
export const editEngagement = (engagement: Engagement, words: Words): Engagement => {
  engagementStates.next(engagement, 'edit')
  return {
    ...withWords(engagement, words),
    ...unapproved,
    last_error: null,
    restored_as_of: null,
    updated_at: words.now,
  }
}

/** Turns it back into a draft. One that is about to be sent must have been taken back. */
export const reopenEngagement = (engagement: Engagement, now: Date): Engagement => ({
  ...engagement,
  ...unapproved,
  status: engagementStates.next(engagement, 'reopen'),
  reject_reason: null,
  last_error: null,
  updated_at: now,
})

/** Whether it prevents other engagements of the same action on its post. */
export const holdsPost = ({ status }: Pick<Engagement, 'status'>): boolean =>
  status !== 'rejected' && status !== 'failed'

/**
 * Deletes it: an approved one will be a draft if it is restored. Only what was certainly never on
 * the network can be deleted.
 */
export const removedEngagement = (
  engagement: Engagement,
  { wasSent, now }: { wasSent: boolean; now: Date },
): Engagement => {
  engagementStates.next(engagement, 'delete')
  if (wasSent || engagement.restored_as_of)
    fail(
      'conflict',
      'cannot delete: an earlier attempt to send the engagement may be on the network; reject it instead',
      { reason: 'in_doubt' },
    )
  return engagement.status === 'approved'
    ? reopenEngagement(engagement, now)
    : { ...engagement, updated_at: now }
}

export const isInReview = (engagement: Engagement): boolean =>
  engagementStates.stateOf(engagement) === IN_REVIEW

const executedByHand = (engagement: Engagement, now: Date): Engagement => ({
  ...engagement,
  status: 'executed',
  review: false,
  executed_at: now,
  last_error: null,
  updated_at: now,
})

/**
 * Settles an engagement in review that a person found on the network. `seen`: the hash of its text,
 * or the first digits.
 */
export const confirmEngagement = (engagement: Engagement, now: Date, seen?: string): Engagement => {
  engagementStates.next(engagement, 'confirm')
  requireSeen(engagement, seen)
  return executedByHand(engagement, now)
}

/**
 * Settles an engagement that a person did by hand, or found on the network. `url` is kept as given.
 */
export const markDone = (
  engagement: Engagement,
  url: string | undefined,
  now: Date,
): Engagement => {
  engagementStates.next(engagement, 'mark done')
  return { ...executedByHand(engagement, now), url: url ?? null }
}

/**
 * Rejects a draft, an engagement that the network refused, or one in review that a person did not
 * find on the network.
 */
export const rejectEngagement = (
  engagement: Engagement,
  reason: string | undefined,
  now: Date,
): Engagement => ({
  ...engagement,
  status: engagementStates.next(engagement, 'reject'),
  review: false,
  reject_reason: reason ?? null,
  updated_at: now,
})

/** Executes now. An engagement that may be on the network already is never sent again. */
export const requestExecution = (engagement: Engagement, now: Date): Engagement => ({
  ...engagement,
  status: engagementStates.next(engagement, 'execute'),
  updated_at: now,
})
