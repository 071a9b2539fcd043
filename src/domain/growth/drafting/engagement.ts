/** An engagement with somebody else's post. As with items, nothing happens without approval. Its transitions are in engagement-moves.ts. */
import { fail } from '#kernel/errors'
import { nextCall, refuseWithWay } from '../way-on.ts'
import type { ModelUsage, ReplyDraft } from './draft.ts'
import { engagementWayOn } from './engagement-ways.ts'
import type { FormatRules } from './format-rules.ts'
import type { FinishedGeneration } from './generation.ts'
import { invalid } from './item.ts'
import { requireFormatRules } from './item-moves.ts'
import type { Author } from './revision.ts'
import { writtenText } from './written-text.ts'

export const engageActions = ['reply', 'quote', 'repost', 'like'] as const
export type EngageAction = (typeof engageActions)[number]

/** Whether the action carries text of ours. */
export const isWritten = (action: EngageAction): boolean => action === 'reply' || action === 'quote'

export const engagementStatuses = [
  ...(['queued', 'generating', 'failed', 'drafted', 'approved', 'executing', 'executed', 'rejected'] as const),
  ...(['execute_failed', 'execute_unconfirmed'] as const),
] as const
export type EngagementStatus = (typeof engagementStatuses)[number]

/** Whether the network permits an action. Checked before a model is called. */
export type Preflight =
  | { allowed: true }
  /** `reason` is a stable code, such as `x_like_selfserve_removed`; `link` leads to where a person can do it by hand. */
  | { allowed: false; reason: string; message: string; link: string | null }

/** Throws `conflict`: the message carries reason and link for people, the details carry them for programs. */
export const requireAllowed = (preflight: Preflight): void => {
  if (preflight.allowed) return
  const { reason, message, link } = preflight
  const details = [{ path: 'action', message: reason }, ...(link === null ? [] : [{ path: 'link', message: link }])]
  fail('conflict', `${reason}: ${message}${link === null ? '' : `: ${link}`}`, { details })
}

/** An action is done once for each post, and one engagement at a time may try. */
export const requireFirst = (action: EngageAction, other: Pick<Engagement, 'id' | 'status'> | undefined): void => {
  if (!other) return
  const { id, status } = other
  fail('conflict', `this post already has a ${action}: engagement ${id} is ${status}`, {
    details: [nextCall('growth.engagements.get', id)],
  })
}

/** The post engaged with, as last read. Null: not read. */
export interface EngagedPost {
  network: string
  post_id: string
  post_url: string | null
  post_author: string | null
  /** Somebody else's words: never instructions. */
  post_text: string | null
  /** Whether it mentions or quotes the account that read it. */
  addresses_us: boolean
}

export interface Engagement extends EngagedPost {
  id: string
  status: EngagementStatus
  action: EngageAction
  /** In doubt, and automatic reads have given up: a person must check. */
  review: boolean
  /** Guidance for the drafter, beside the post. */
  instruction: string | null
  /** Null for reposts and likes, and until drafted. */
  body: string | null
  rationale: string | null
  /** The signal it came from. */
  signal_id: string | null
  /** Why drafting failed; see `Generation.error`. */
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
  /** Counts versions of the text, from 1. */
  revision: number
  /** Who wrote the present text; null: a drafter, or there is none. */
  written_by: Author | null
  /** When; null: as the engagement was made. */
  written_at: Date | null
  /** The last decision on it. */
  decision: EngagementDecision | null
  /** The first text, where a later one has replaced it. Stored with the earlier revisions. */
  original_body?: string | null
  created_at: Date
  updated_at: Date
}

/** What was decided of an engagement. `marked_done`: a person says that it was done by hand. */
type DecisionOfEngagement = 'approved' | 'reopened' | 'rejected' | 'execution_requested' | 'confirmed' | 'marked_done'

export interface EngagementDecision {
  what: DecisionOfEngagement
  by: Author
  at: Date | string
}

/** The network's length limit, with the channel's rules. */
export interface LengthRule {
  measure(text: string): number
  maxLength: number
  /** The channel whose format rules apply, if there is one. */
  channel?: { name: string; format_rules: FormatRules } | undefined
}

export interface EngagementRequest extends EngagedPost {
  action: EngageAction
  instruction: string | null
  /** If set, no model is called. */
  body: string | null
  signal_id: string | null
}

/** The text of a reply or quote, if the network and the channel take it. Throws `invalid_input`. */
export const usable = (body: string, { measure, maxLength, channel }: LengthRule): string => {
  if (body.trim() === '') invalid('body', 'is empty')
  const length = measure(body)
  if (length > maxLength) invalid('body', `is ${length} characters long as the network counts; the maximum is ${maxLength}`)
  requireFormatRules(body, 'body', { channel, measure })
  return body
}

const nothingYet = {
  ...{ review: false, rationale: null, error: null, model: null, usage: null, approved_hash: null, account_external_id: null },
  ...{ reject_reason: null, external_id: null, url: null, executed_at: null, last_error: null },
  ...{ revision: 1, written_at: null, decision: null },
} as const

/** Drafted at once if there is nothing to write, else queued for a drafter. `by`: who gives the body. */
export const newEngagement = (
  id: string,
  { action, body, instruction, ...rest }: EngagementRequest,
  { rule, by, now }: { rule: LengthRule; by: Author | null; now: Date },
) => {
  if (!isWritten(action) && body !== null) invalid('body', `only applies to replies and quotes, not to a ${action}`)
  if (!isWritten(action) && instruction !== null) invalid('instruction', `only applies to replies and quotes, not to a ${action}`)
  const status = isWritten(action) && body === null ? 'queued' : 'drafted'
  const engagement: Engagement = {
    ...{ id, action, instruction, ...rest, ...nothingYet, status },
    body: body === null ? null : usable(writtenText(body, 'body'), rule),
    written_by: body === null ? null : by,
    ...{ created_at: now, updated_at: now },
  }
  return { engagement, events: status === 'drafted' ? [approvalEvent(engagement)] : [] }
}

/** Emitted once, when the engagement starts to wait for approval. */
const approvalEvent = ({ id, action }: Engagement) => ({
  type: 'growth.approval.requested',
  data: { kind: 'engagement', engagement_id: id, action },
})

/** The state in words, for messages. */
export const engagementState = ({ status, review }: Pick<Engagement, 'status' | 'review'>): string =>
  status === 'execute_unconfirmed' && review ? 'execute_unconfirmed (in review)' : status

/** Throws `conflict`, naming the state and the way on. */
export const illegal = (engagement: Engagement, action: string): never =>
  refuseWithWay(`cannot ${action}: the engagement is ${engagementState(engagement)}`, engagementWayOn(engagement), engagement.id)

/** Stores the drafter's text. The engagement now waits for approval. */
export const writtenEngagement = (
  engagement: Engagement,
  { body, rationale }: ReplyDraft,
  { model, usage, now }: { model: string; usage: ModelUsage; now: Date },
): FinishedGeneration<Engagement> => ({
  record: { ...engagement, status: 'drafted', body, rationale, model, usage, written_at: now, updated_at: now },
  events: [approvalEvent(engagement)],
  refund: [],
})

/** Engagements take no quota, so there is nothing to refund. */
export const failedEngagement = (engagement: Engagement, error: string, { now }: { now: Date }): FinishedGeneration<Engagement> => ({
  record: { ...engagement, status: 'failed', error, updated_at: now },
  events: [],
  refund: [],
})

/** The whole content of a send, as one text: approvals bind it and the account. */
export const contentOf = ({ action, network, post_id, body }: Engagement): string => JSON.stringify({ action, network, post_id, body })
