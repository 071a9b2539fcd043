/**
 * The states of an engagement as it is executed. Engagements have no schedule, so only a person's
 * request sends one, and that person learns the result directly. The one event calls for a person
 * to check.
 */
import { contentOf, type Engagement, engagementState } from '../drafting/engagement.ts'
import { type Transitions, unapproved } from './sendable.ts'

const silent = (record: Engagement) => ({ record, events: [] })

export const engagement: Transitions<Engagement> = {
  kind: 'engagement',
  noun: 'engagement',
  waysOn: 'once it is in review, approve it if it is there, or reject it if not',
  stateOf: engagementState,
  contentOf,
  textOf: ({ body }) => body,
  scheduleOf: () => null,
  networkOf: ({ network }) => network,
  isWaiting: ({ status }, origin) => origin === 'manual' && status === 'executing',
  isUnconfirmed: ({ status }) => status === 'execute_unconfirmed',
  isSent: ({ status }) => status === 'executed',
  isSending: ({ status }) => status === 'executing',
  // Its doubts never end by themselves.
  isWatched: () => false,
  sending: (record, now) => ({ ...record, status: 'executing', updated_at: now }),
  sent: (record, { externalId, url }, now) =>
    silent({
      ...record,
      ...{
        status: 'executed',
        review: false,
        external_id: externalId,
        url,
        executed_at: now,
        last_error: null,
        updated_at: now,
      },
    }),
  failed: (record, reason, now) =>
    silent({ ...record, status: 'execute_failed', last_error: reason, updated_at: now }),
  returned: (record, reason, now) =>
    silent({
      ...record,
      ...(reason === 'approval_stale' ? unapproved : { status: 'approved' }),
      ...{ last_error: reason, updated_at: now },
    }),
  unsent: (record, now) => ({ ...record, status: 'executing', updated_at: now }),
  notApplied: (record, error, now) => ({
    ...record,
    status: 'approved',
    last_error: error,
    updated_at: now,
  }),
  takenBack: (record, now) => ({ ...record, status: 'approved', updated_at: now }),
  unconfirmed: (record, { review, error }, now) => ({
    ...record,
    ...{ status: 'execute_unconfirmed', review, last_error: error, updated_at: now },
  }),
  reviewEvent: ({ id }) => ({
    type: 'growth.approval.requested',
    data: { kind: 'engagement_review', engagement_id: id },
  }),
}
