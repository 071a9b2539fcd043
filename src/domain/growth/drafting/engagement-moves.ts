/**
 * The transitions of an engagement. Each function returns the next engagement, or throws `conflict`
 * naming the state. What becomes of it as it is executed is in sending/engagement.ts.
 *
 *   queued → generating → drafted ─approve→ approved ─execute→ executing
 *                   └→ failed  └─reject→ rejected
 *   executing ─→ executed | execute_failed | execute_unconfirmed
 *   approved, rejected, execute_failed ─reopen→ drafted
 */
import { fail } from '#kernel/errors'
import { unapproved } from '../sending/sendable.ts'
import { requireSeen } from './content-mark.ts'
import {
  contentOf,
  type Engagement,
  type EngagementDecision,
  engagementState,
  illegal,
  isWritten,
  type LengthRule,
  usable,
} from './engagement.ts'
import { contentHash, invalid } from './item.ts'
import { type Author, rewritten } from './revision.ts'
import { writtenText } from './written-text.ts'

interface By {
  by: Author
  now: Date
}

/** The engagement with who decided what of it. */
export const decidedOn = (
  engagement: Engagement,
  what: EngagementDecision['what'],
  { by, now }: By,
): Engagement => ({
  ...engagement,
  decision: { what, by, at: now },
})

interface Words extends LengthRule, By {
  body: string
}

const withWords = (engagement: Engagement, { body, by, now, ...rule }: Words): Engagement => {
  if (!isWritten(engagement.action))
    invalid('body', `only applies to replies and quotes, not to a ${engagement.action}`)
  const words = usable(writtenText(body, 'body'), rule)
  return words === engagement.body
    ? engagement
    : rewritten(engagement, { body: words }, { by, now })
}

interface Approval extends LengthRule, By {
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
  if (engagement.status !== 'drafted') illegal(engagement, 'approve')
  requireSeen(engagement.body, seen)
  const words = body ?? engagement.body
  const next = words === null ? engagement : withWords(engagement, { body: words, ...rest })
  return {
    ...next,
    status: 'approved',
    approved_hash: contentHash(contentOf(next), accountExternalId),
    account_external_id: accountExternalId,
    last_error: null,
    updated_at: rest.now,
  }
}

const EDITABLE: readonly Engagement['status'][] = ['drafted', 'approved', 'executing']

/**
 * Whether an edit of it would change nothing. Throws `invalid_input` for a text that cannot be
 * used.
 */
export const isSameText = (engagement: Engagement, words: Words): boolean =>
  EDITABLE.includes(engagement.status) && withWords(engagement, words) === engagement

/**
 * Changes the text of a draft. An approved one becomes a draft again; one that is about to be sent
 * must have been taken back.
 */
export const editEngagement = (engagement: Engagement, words: Words): Engagement => {
  if (engagement.status !== 'drafted' && engagement.status !== 'approved')
    illegal(engagement, 'edit')
  return { ...withWords(engagement, words), ...unapproved, last_error: null, updated_at: words.now }
}

const REOPENABLE: readonly Engagement['status'][] = ['approved', 'rejected', 'execute_failed']

/** Makes a draft of it again. One that is about to be sent must have been taken back. */
export const reopenEngagement = (engagement: Engagement, now: Date): Engagement => {
  if (!REOPENABLE.includes(engagement.status)) illegal(engagement, 'reopen')
  return { ...engagement, ...unapproved, reject_reason: null, last_error: null, updated_at: now }
}

/** Whether it keeps others of its action from its post. */
export const holdsPost = ({ status }: Pick<Engagement, 'status'>): boolean =>
  status !== 'rejected' && status !== 'failed'

const DELETABLE: readonly Engagement['status'][] = [
  'drafted',
  'approved',
  'rejected',
  'failed',
  'execute_failed',
]

/**
 * What is deleted: as it will be if it is restored. Only what was certainly never on the network.
 */
export const removedEngagement = (
  engagement: Engagement,
  { wasSent, now }: { wasSent: boolean; now: Date },
): Engagement => {
  if (!DELETABLE.includes(engagement.status)) illegal(engagement, 'delete')
  if (wasSent)
    fail(
      'conflict',
      'cannot delete: an earlier attempt to send the engagement may be on the network; reject it instead',
    )
  return engagement.status === 'approved'
    ? reopenEngagement(engagement, now)
    : { ...engagement, updated_at: now }
}

export const isInReview = ({ status, review }: Engagement): boolean =>
  status === 'execute_unconfirmed' && review

const executedByHand = (engagement: Engagement, now: Date): Engagement => ({
  ...engagement,
  ...{ status: 'executed', review: false, executed_at: now, last_error: null, updated_at: now },
})

/**
 * Settles an engagement in review that a person found on the network. `seen`: the hash of its text,
 * or the first digits.
 */
export const confirmEngagement = (engagement: Engagement, now: Date, seen?: string): Engagement => {
  if (!isInReview(engagement)) illegal(engagement, 'confirm')
  requireSeen(engagement.body, seen)
  return executedByHand(engagement, now)
}

const DOABLE: readonly Engagement['status'][] = [
  'drafted',
  'approved',
  'execute_failed',
  'execute_unconfirmed',
]

/**
 * Settles an engagement that a person did by hand, or found on the network. `url` is kept as given.
 */
export const markDone = (
  engagement: Engagement,
  url: string | undefined,
  now: Date,
): Engagement => {
  if (!DOABLE.includes(engagement.status)) illegal(engagement, 'mark done')
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
): Engagement => {
  const { status } = engagement
  if (status !== 'drafted' && status !== 'execute_failed' && !isInReview(engagement))
    illegal(engagement, 'reject')
  return {
    ...engagement,
    status: 'rejected',
    review: false,
    reject_reason: reason ?? null,
    updated_at: now,
  }
}

/** Executes now. An engagement that may be on the network already is never sent again. */
export const requestExecution = (engagement: Engagement, now: Date): Engagement => {
  if (engagement.status === 'execute_unconfirmed')
    fail(
      'conflict',
      `cannot execute: the engagement is ${engagementState(engagement)} and may already be on the network; once it is in review, ` +
        'approve it if it is there, or reject it if not',
    )
  if (engagement.status !== 'approved' && engagement.status !== 'execute_failed')
    illegal(engagement, 'execute')
  return { ...engagement, status: 'executing', updated_at: now }
}
