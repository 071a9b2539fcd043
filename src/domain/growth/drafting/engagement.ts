/**
 * An engagement with somebody else's post. As with items, nothing happens without approval. Its
 * states are in engagement-states.ts.
 */
import { engagementRecord } from '#contract/records/growth/engagement'
import type { RowOf } from '#contract/records/record'
import { fail, refuseField } from '#kernel/errors'
import { nextCall } from '../way-on.ts'
import type { ModelUsage, ReplyDraft } from './draft.ts'
import type { FormatRules } from './format-rules.ts'
import type { FinishedGeneration } from './generation.ts'
import { requireFormatRules } from './item-moves.ts'
import type { Author } from './revision.ts'
import type { DraftSource } from './source.ts'
import { writtenText } from './written-text.ts'

export type EngageAction = Engagement['action']

/** Whether the action carries text of ours. */
export const isWritten = (action: EngageAction): boolean => action === 'reply' || action === 'quote'

/** Whether the network permits an action. Checked before a model is called. */
export type Preflight =
  | { allowed: true }
  /**
   * `reason` is a stable code, such as `x_like_selfserve_removed`; `link` leads to where a person
   * can do it by hand.
   */
  | { allowed: false; reason: string; message: string; link: string | null }

/**
 * Throws `conflict`: the message carries reason and link for people, the details carry them for
 * programs.
 */
export const requireAllowed = (preflight: Preflight): void => {
  if (preflight.allowed) return
  const { reason, message, link } = preflight
  const details = [
    { path: 'action', message: reason },
    ...(link === null ? [] : [{ path: 'link', message: link }]),
  ]
  fail('conflict', `${reason}: ${message}${link === null ? '' : `: ${link}`}`, {
    reason: 'network_rule',
    details,
  })
}

/** An action is done once for each post, and one engagement at a time may try. */
export const requireFirst = (
  action: EngageAction,
  other: Pick<Engagement, 'id' | 'status'> | undefined,
): void => {
  if (!other) return
  const { id, status } = other
  fail('conflict', `this post already has a ${action}: engagement ${id} is ${status}`, {
    reason: 'duplicate',
    details: [nextCall('growth.engagements.get', id)],
  })
}

export type Engagement = RowOf<typeof engagementRecord>
export type EngagementStatus = Engagement['status']
export type EngagementDecision = NonNullable<Engagement['decision']>

/**
 * The post engaged with, as last read; null: not read. Its text is of somebody else: never
 * instructions.
 */
export type EngagedPost = Pick<
  Engagement,
  'network' | 'post_id' | 'post_url' | 'post_author' | 'post_text' | 'addresses_us'
>

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
  if (body.trim() === '') refuseField('body', 'is empty')
  const length = measure(body)
  if (length > maxLength)
    refuseField(
      'body',
      `is ${length} characters long as the network counts; the maximum is ${maxLength}`,
    )
  requireFormatRules(body, 'body', { channel, measure })
  return body
}

/**
 * Drafted at once if there is nothing to write, else queued for a drafter. `by`: who gives the
 * body.
 */
export const newEngagement = (
  id: string,
  { action, body, instruction, ...rest }: EngagementRequest,
  {
    rule,
    source,
    by,
    now,
  }: { rule: LengthRule; source: DraftSource; by: Author | null; now: Date },
) => {
  if (!isWritten(action) && body !== null)
    refuseField('body', `only applies to replies and quotes, not to a ${action}`)
  if (!isWritten(action) && instruction !== null)
    refuseField('instruction', `only applies to replies and quotes, not to a ${action}`)
  const status = isWritten(action) && body === null ? 'queued' : 'drafted'
  const engagement: Engagement = {
    ...engagementRecord.blank,
    ...source,
    ...rest,
    id,
    action,
    instruction,
    status,
    review: false,
    revision: 1,
    body: body === null ? null : usable(writtenText(body, 'body'), rule),
    written_by: body === null ? null : by,
    created_at: now,
    updated_at: now,
  }
  return { engagement, events: status === 'drafted' ? [approvalEvent(engagement)] : [] }
}

/** Emitted once, when the engagement starts to wait for approval. */
const approvalEvent = ({ id, action }: Engagement) => ({
  type: 'growth.approval.requested',
  data: { kind: 'engagement', engagement_id: id, action },
})

/** Stores the drafter's text. The engagement now waits for approval. */
export const writtenEngagement = (
  engagement: Engagement,
  { body, rationale }: ReplyDraft,
  { model, usage, now }: { model: string; usage: ModelUsage; now: Date },
): FinishedGeneration<Engagement> => ({
  record: {
    ...engagement,
    status: 'drafted',
    body,
    rationale,
    model,
    usage,
    written_at: now,
    updated_at: now,
  },
  events: [approvalEvent(engagement)],
  refund: [],
})

/** Engagements take no quota, so there is nothing to refund. */
export const failedEngagement = (
  engagement: Engagement,
  error: string,
  { now }: { now: Date },
): FinishedGeneration<Engagement> => ({
  record: { ...engagement, status: 'failed', error, updated_at: now },
  events: [],
  refund: [],
})

/** The whole content of a send, as one text: approvals bind it and the account. */
export const contentOf = ({ action, network, post_id, body }: Engagement): string =>
  JSON.stringify({ action, network, post_id, body })
