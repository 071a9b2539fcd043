/**
 * The states of an engagement as it is executed. Engagements have no schedule, so only a person's
 * request sends one, and that person learns the result directly. The one event calls for a person
 * to check.
 */
import { contentOf, type Engagement } from '../drafting/engagement.ts'
import { engagementStates } from '../drafting/engagement-states.ts'
import { machineOf, type Transitions, unapproved } from './sendable.ts'

const silent = (record: Engagement) => ({ record, events: [] })

const machine = machineOf<Engagement>({
  sending: 'executing',
  sent: 'executed',
  unconfirmed: 'execute_unconfirmed',
})

export const engagement: Transitions<Engagement> = {
  ...engagementStates,
  ...machine,
  kind: 'engagement',
  contentOf,
  marksOf: () => null,
  textOf: ({ body }) => body,
  scheduleOf: () => null,
  networkOf: ({ network }) => network,
  isWaiting: ({ status }, origin) => origin === 'manual' && status === 'executing',
  // Doubts about it never end by themselves.
  isWatched: () => false,
  sent: (record, { externalId, url }, now) =>
    silent({
      ...record,
      status: 'executed',
      review: false,
      external_id: externalId,
      url,
      executed_at: now,
      last_error: null,
      restored_as_of: null,
      updated_at: now,
    }),
  failed: (record, reason, now) =>
    silent({ ...record, status: 'execute_failed', last_error: reason, updated_at: now }),
  returned: (record, reason, now) =>
    silent({
      ...record,
      ...(reason === 'approval_stale' ? unapproved : { status: 'approved' }),
      last_error: reason,
      updated_at: now,
    }),
  unsent: machine.sending,
  reviewEvent: ({ id }) => ({
    type: 'growth.approval.requested',
    data: { kind: 'engagement_review', engagement_id: id },
  }),
}
