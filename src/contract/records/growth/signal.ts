/** A post of somebody else that is worth a response. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { NetworkPost, othersPostFields, PossibleAction } from './engagement.ts'

export const signalStatuses = ['open', 'dismissed', 'engaged', 'expired'] as const

export const signalRecord = declare(
  'signal',
  { title: 'Signal' },
  {
    id,
    target_id: {
      type: 'uuid',
      shown: nullable({
        ...Id,
        description: 'Null: the post came because it addresses an account of yours.',
      }),
      fixed: true,
    },
    status: { type: 'text', shown: oneOf(signalStatuses) },
    // Set when the signal is found, so that lists keep their order.
    score: {
      type: 'integer',
      shown: T.Integer({ description: 'From 0 to 100: how worthwhile a response is.' }),
      fixed: true,
    },
    reasons: { type: 'jsonb', shown: T.Array(T.String()), fixed: true },
    post: { shown: NetworkPost, from: 'view' },
    ...othersPostFields,
    posted_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    actions: {
      shown: T.Array(PossibleAction),
      from: 'view',
    },
    engagement_id: { type: 'uuid', shown: nullable(Id) },
    expires_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    ...times,
  },
)
