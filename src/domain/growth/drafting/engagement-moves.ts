/**
 * The transitions of an engagement. Each function returns the next engagement, or throws `conflict` naming the state.
 * What becomes of it as it is executed is in sending/engagement.ts.
 *
 *   queued → generating → drafted ─approve→ approved ─execute→ executing ─→ executed | execute_failed | execute_unconfirmed
 *                   └→ failed  └─reject→ rejected ─reopen→ drafted
 */
import { fail } from '#kernel/errors'
import { unapproved } from '../sending/sendable.ts'
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

interface By {
  by: Author
  now: Date
}

/** The engagement with who decided what of it. */
export const decidedOn = (engagement: Engagement, what: EngagementDecision['what'], { by, now }: By): Engagement => ({
  ...engagement,
  decision: { what, by, at: now },
})

interface Words extends LengthRule, By {
  body: string
}

const withWords = (engagement: Engagement, { body, by, now, ...rule }: Words): Engagement => {
  if (!isWritten(engagement.action)) invalid('body', `only applies to replies and quotes, not to a ${engagement.action}`)
  const words = usable(body, rule)
  return words === engagement.body ? engagement : rewritten(engagement, { body: words }, { by, now })
}

interface Approval extends LengthRule, By {
  /** An edited text. */
  body: string | undefined
  accountExternalId: string | null
}

/** Approves a draft, with an edited body if there is one, for the account that is the default now. */
export const approveEngagement = (engagement: Engagement, { body, accountExternalId, ...rest }: Approval): Engagement => {
  if (engagement.status !== 'drafted') illegal(engagement, 'approve')
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

/** Changes the text of a draft. An approved one becomes a draft again. */
export const editEngagement = (engagement: Engagement, words: Words): Engagement => {
  if (engagement.status !== 'drafted' && engagement.status !== 'approved') illegal(engagement, 'edit')
  const next = withWords(engagement, words)
  return next === engagement ? engagement : { ...next, ...unapproved, last_error: null, updated_at: words.now }
}

const REOPENABLE: readonly Engagement['status'][] = ['approved', 'rejected', 'execute_failed']

/** Makes a draft of an engagement that was decided or refused. One that is a draft stays as it is. */
export const reopenEngagement = (engagement: Engagement, now: Date): Engagement => {
  if (engagement.status === 'drafted') return engagement
  if (!REOPENABLE.includes(engagement.status)) illegal(engagement, 'reopen')
  return { ...engagement, ...unapproved, reject_reason: null, last_error: null, updated_at: now }
}

export const isInReview = ({ status, review }: Engagement): boolean => status === 'execute_unconfirmed' && review

const executedByHand = (engagement: Engagement, now: Date): Engagement => ({
  ...engagement,
  ...{ status: 'executed', review: false, executed_at: now, last_error: null, updated_at: now },
})

/** Settles an engagement in review that a person found on the network. */
export const confirmEngagement = (engagement: Engagement, now: Date): Engagement => {
  if (!isInReview(engagement)) illegal(engagement, 'confirm')
  return executedByHand(engagement, now)
}

const DOABLE: readonly Engagement['status'][] = ['drafted', 'approved', 'execute_failed', 'execute_unconfirmed']

/** Settles an engagement that a person did by hand, or found on the network. `url` is kept as given. */
export const markDone = (engagement: Engagement, url: string | undefined, now: Date): Engagement => {
  if (!DOABLE.includes(engagement.status)) illegal(engagement, 'mark done')
  return { ...executedByHand(engagement, now), url: url ?? null }
}

/** Rejects a draft, an engagement that the network refused, or one in review that a person did not find on the network. */
export const rejectEngagement = (engagement: Engagement, reason: string | undefined, now: Date): Engagement => {
  const { status } = engagement
  if (status !== 'drafted' && status !== 'execute_failed' && !isInReview(engagement)) illegal(engagement, 'reject')
  return { ...engagement, status: 'rejected', review: false, reject_reason: reason ?? null, updated_at: now }
}

/** Executes now. An engagement that may be on the network already is never sent again. */
export const requestExecution = (engagement: Engagement, now: Date): Engagement => {
  if (engagement.status === 'execute_unconfirmed')
    fail(
      'conflict',
      `cannot execute: the engagement is ${engagementState(engagement)} and may already be on the network; once it is in review, ` +
        'approve it if it is there, or reject it if not',
    )
  if (engagement.status !== 'approved' && engagement.status !== 'execute_failed') illegal(engagement, 'execute')
  return { ...engagement, status: 'executing', updated_at: now }
}
