/**
 * Executing an engagement exactly once: the machine that posts items (publish.ts, reconcile.ts), told of an engagement in its
 * own words. Every transition is that machine's; here is only the translation.
 */
import { contentOf, type Engagement, type EngagementStatus } from '../drafting/engagement.ts'
import type { Item, ItemStatus } from '../drafting/item.ts'
import type { Attempt, Settled } from './publish.ts'

/** The states that the machine knows; the others it never meets. */
const itemStatus: Partial<Record<EngagementStatus, ItemStatus>> = {
  drafted: 'drafted',
  approved: 'approved',
  executing: 'publishing',
  executed: 'posted',
  rejected: 'rejected',
  execute_failed: 'publish_failed',
  execute_unconfirmed: 'publish_unconfirmed',
}

const engagementStatus: Record<ItemStatus, EngagementStatus> = {
  drafted: 'drafted',
  approved: 'approved',
  publishing: 'executing',
  posted: 'executed',
  rejected: 'rejected',
  publish_failed: 'execute_failed',
  publish_unconfirmed: 'execute_unconfirmed',
}

/** Never on a schedule, so the machine tries it only when a person asks. Its body is all that an approval is bound to. */
export const asItem = (engagement: Engagement): Item => ({
  ...{
    id: engagement.id,
    batch_id: null,
    resurfaced_from: null,
    kind: 'post',
    title: null,
    status: itemStatus[engagement.status] ?? 'drafted',
  },
  ...{ review: engagement.review, body: contentOf(engagement), format: '', hook: '', rationale: '', stories: [], learnings: [], length: 0 },
  ...{
    experiment_id: null,
    arm: null,
    resurfaced_from: null,
    post_at: null,
    on_missed: null,
    approved_hash: engagement.approved_hash,
    account_external_id: engagement.account_external_id,
  },
  ...{ reject_reason: engagement.reject_reason, external_id: engagement.external_id, url: engagement.url },
  ...{ posted_at: engagement.executed_at, last_error: engagement.last_error },
  ...{ created_at: engagement.created_at, updated_at: engagement.updated_at },
})

/** What the machine has made of it. */
export const fromItem = (engagement: Engagement, item: Item): Engagement => ({
  ...engagement,
  status: engagementStatus[item.status],
  review: item.review,
  approved_hash: item.approved_hash,
  account_external_id: item.account_external_id,
  external_id: item.external_id,
  url: item.url,
  executed_at: item.posted_at,
  last_error: item.last_error,
  updated_at: item.updated_at,
})

export interface SettledEngagement {
  engagement: Engagement
  attempt: Attempt
  events: Settled['events']
  next: Settled['next']
}

/** Nobody but who asked is told of an engagement's end, so of the machine's events only the call for a person stays. */
export const settledEngagement = (engagement: Engagement, { item, attempt, events, next }: Settled): SettledEngagement => ({
  engagement: fromItem(engagement, item),
  attempt,
  next,
  events: events
    .filter(({ type }) => type === 'growth.approval.requested')
    .map(({ type }) => ({ type, data: { kind: 'engagement_review', engagement_id: engagement.id } })),
})
