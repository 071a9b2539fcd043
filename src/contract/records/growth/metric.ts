/** What a network counted of a post at one moment. */
import { Type as T } from '@sinclair/typebox'
import { nullable, Time } from '../../shapes.ts'
import { id } from '../fields.ts'
import { declare } from '../record.ts'
import { counted } from './item.ts'

export const metricRecord = declare(
  'item_metric',
  { title: 'MetricReading' },
  {
    id,
    item_id: { type: 'uuid', hidden: 'the caller has asked for it', fixed: true },
    at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    impressions: { type: 'integer', shown: counted.impressions, fixed: true },
    likes: { type: 'integer', shown: counted.likes, fixed: true },
    replies: { type: 'integer', shown: counted.replies, fixed: true },
    reposts: { type: 'integer', shown: counted.reposts, fixed: true },
    quotes: { type: 'integer', shown: counted.quotes, fixed: true },
    clicks: { type: 'integer', shown: counted.clicks, fixed: true },
    engagement_rate: {
      shown: nullable(T.Number({ description: 'Reactions per impression, 0 to 1.' })),
      from: 'view',
    },
  },
)
