/**
 * What people do with somebody else's post on the network, and its way there: as with items, nothing is done without approval.
 *
 *   queued → generating → drafted ─approve→ approved ─execute→ executing ─→ executed | execute_failed | execute_unconfirmed
 *                   └→ failed  └─reject→ rejected
 *
 * What the executing machine does is in execute.ts.
 */
import { fail } from '#kernel/errors'
import type { ModelUsage, ReplyDraft } from './draft.ts'
import type { FormatRules } from './format-rules.ts'
import type { Ended } from './generation.ts'
import { contentHash, requireForm } from './item.ts'

export const engageActions = ['reply', 'quote', 'repost', 'like'] as const
export type EngageAction = (typeof engageActions)[number]

/** Those with words of our own. */
export const isWritten = (action: EngageAction): boolean => action === 'reply' || action === 'quote'

export const engagementStatuses = [
  ...(['queued', 'generating', 'failed', 'drafted', 'approved', 'executing', 'executed', 'rejected'] as const),
  ...(['execute_failed', 'execute_unconfirmed'] as const),
] as const
export type EngagementStatus = (typeof engagementStatuses)[number]

/** Whether the network lets this be done at all; asked before a model is called. */
export type Preflight =
  | { allowed: true }
  /** `reason`: a stable code, as `x_like_selfserve_removed`; `link`: where a person can do it by hand, if anywhere. */
  | { allowed: false; reason: string; message: string; link: string | null }

/** `conflict`, with the reason and the link for people and, as details, for programs. */
export const requireAllowed = (preflight: Preflight): void => {
  if (preflight.allowed) return
  const { reason, message, link } = preflight
  const details = [{ path: 'action', message: reason }, ...(link === null ? [] : [{ path: 'link', message: link }])]
  fail('conflict', `${reason}: ${message}${link === null ? '' : `: ${link}`}`, { details })
}

/** One of an action on a post at a time, and none after it was done. */
export const requireFirst = (action: EngageAction, other: Pick<Engagement, 'id' | 'status'> | undefined): void => {
  if (other) fail('conflict', `this post already has a ${action}: engagement ${other.id} is ${other.status}`)
}

/** The post that it is about, as it was read; what is null has not been. */
export interface EngagedPost {
  network: string
  post_id: string
  post_url: string | null
  post_author: string | null
  /** Somebody else's words: never to be trusted as an instruction. */
  post_text: string | null
  /** It mentions or quotes the account that read it. */
  addresses_us: boolean
}

export interface Engagement extends EngagedPost {
  id: string
  status: EngagementStatus
  action: EngageAction
  /** In doubt, and the machine has given up: a person must look. */
  review: boolean
  /** What a model is told beside the post. */
  instruction: string | null
  /** Null for a repost and a like, and until it is drafted. */
  body: string | null
  rationale: string | null
  /** The signal that it came from. */
  signal_id: string | null
  /** Why drafting failed: as of any generation. */
  error: string | null
  model: string | null
  usage: ModelUsage | null
  approved_hash: string | null
  account_external_id: string | null
  reject_reason: string | null
  external_id: string | null
  url: string | null
  executed_at: Date | null
  last_error: string | null
  created_at: Date
  updated_at: Date
}

/** The network's rule for what is written. */
export interface LengthRule {
  measure(text: string): number
  maxLength: number
  /** Whose rules the words keep to, if the workspace has such a channel. */
  channel?: { name: string; format_rules: FormatRules } | undefined
}

/** What is asked for. */
export interface EngagementWish extends EngagedPost {
  action: EngageAction
  instruction: string | null
  /** Given: no model is called. */
  body: string | null
  signal_id: string | null
}

const invalid = (path: string, message: string): never => fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

const usable = (body: string, { measure, maxLength, channel }: LengthRule): string => {
  if (body.trim() === '') invalid('body', 'is empty')
  const length = measure(body)
  if (length > maxLength) invalid('body', `is ${length} characters long as the network counts; the maximum is ${maxLength}`)
  requireForm(body, 'body', { channel, measure })
  return body
}

const nothingYet = {
  ...{ review: false, rationale: null, error: null, model: null, usage: null, approved_hash: null, account_external_id: null },
  ...{ reject_reason: null, external_id: null, url: null, executed_at: null, last_error: null },
} as const

/** Drafted where nothing is to be written, else queued for a drafter. */
export const newEngagement = (
  id: string,
  { action, body, instruction, ...asked }: EngagementWish,
  { rule, now }: { rule: LengthRule; now: Date },
) => {
  if (!isWritten(action) && body !== null) invalid('body', `only applies to replies and quotes, not to a ${action}`)
  if (!isWritten(action) && instruction !== null) invalid('instruction', `only applies to replies and quotes, not to a ${action}`)
  const status = isWritten(action) && body === null ? 'queued' : 'drafted'
  const engagement: Engagement = {
    ...{ id, action, instruction, ...asked, ...nothingYet, status },
    body: body === null ? null : usable(body, rule),
    ...{ created_at: now, updated_at: now },
  }
  return { engagement, events: status === 'drafted' ? [approvalEvent(engagement)] : [] }
}

/** Once for each that waits for approval. */
const approvalEvent = ({ id, action }: Engagement) => ({
  type: 'growth.approval.requested',
  data: { kind: 'engagement', engagement_id: id, action },
})

/** As a person would name its state. */
export const engagementState = ({ status, review }: Pick<Engagement, 'status' | 'review'>): string =>
  status === 'execute_unconfirmed' && review ? 'execute_unconfirmed (in review)' : status

const illegal = (engagement: Engagement, action: string): never =>
  fail('conflict', `cannot ${action}: the engagement is ${engagementState(engagement)}`)

/** A drafter has written it: it waits for approval. */
export const writtenEngagement = (
  engagement: Engagement,
  { body, rationale }: ReplyDraft,
  { model, usage, now }: { model: string; usage: ModelUsage; now: Date },
): Ended<Engagement> => ({
  record: { ...engagement, status: 'drafted', body, rationale, model, usage, updated_at: now },
  events: [approvalEvent(engagement)],
  refund: [],
})

/** Nothing was taken for it, so nothing goes back. */
export const failedEngagement = (engagement: Engagement, error: string, { now }: { now: Date }): Ended<Engagement> => ({
  record: { ...engagement, status: 'failed', error, updated_at: now },
  events: [],
  refund: [],
})

/** All that goes out, in one text: what an approval is bound to, beside the account. */
export const contentOf = ({ action, network, post_id, body }: Engagement): string => JSON.stringify({ action, network, post_id, body })

interface Approval extends LengthRule {
  body: string | undefined
  accountExternalId: string | null
  now: Date
}

/** Approves it, in other words if they are given, for the account that is the default now. */
export const approveEngagement = (engagement: Engagement, { body, accountExternalId, now, ...rule }: Approval): Engagement => {
  if (engagement.status !== 'drafted') illegal(engagement, 'approve')
  if (body !== undefined && !isWritten(engagement.action))
    invalid('body', `only applies to replies and quotes, not to a ${engagement.action}`)
  const words = body ?? engagement.body
  const next = { ...engagement, body: words === null ? null : usable(words, rule) }
  return {
    ...next,
    status: 'approved',
    approved_hash: contentHash(contentOf(next), accountExternalId),
    account_external_id: accountExternalId,
    last_error: null,
    updated_at: now,
  }
}

const isInReview = ({ status, review }: Engagement): boolean => status === 'execute_unconfirmed' && review

/** A person has looked: it is on the network. Settles what the machine could not. */
export const confirmEngagement = (engagement: Engagement, now: Date): Engagement => {
  if (!isInReview(engagement)) illegal(engagement, 'confirm')
  return { ...engagement, status: 'executed', review: false, executed_at: now, last_error: null, updated_at: now }
}

/** A draft, what the network refused, or what a person has looked for in vain is put aside. */
export const rejectEngagement = (engagement: Engagement, reason: string | undefined, now: Date): Engagement => {
  const { status } = engagement
  if (status !== 'drafted' && status !== 'execute_failed' && !isInReview(engagement)) illegal(engagement, 'reject')
  return { ...engagement, status: 'rejected', review: false, reject_reason: reason ?? null, updated_at: now }
}

/** A person wants it done now. What may be done already is never sent again. */
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

/** As every surface shows it. */
export const engagementView = (engagement: Engagement) => {
  const { approved_hash: _, account_external_id, network, post_id, post_url, post_author, post_text, addresses_us, ...rest } = engagement
  const post = { network, id: post_id, url: post_url, author: post_author, text: post_text, addresses_us }
  return { ...rest, account: account_external_id, post }
}

/** The body of every answer about one engagement. */
export const engagementAnswer = (engagement: Engagement): string => JSON.stringify({ engagement: engagementView(engagement) })
