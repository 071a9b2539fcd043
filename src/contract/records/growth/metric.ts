/** What a network counted for a post at one moment. */
import { Type as T } from '@sinclair/typebox'
import { nullable, Time } from '../../shapes.ts'
import { id } from '../fields.ts'
import { declare } from '../record.ts'
import { metricCounts } from './item.ts'

export const metricRecord = declare(
  'item_metric',
  { title: 'MetricReading' },
  {
    id,
    item_id: { type: 'uuid', hidden: 'the caller has asked for it', fixed: true },
    at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    impressions: { type: 'integer', shown: metricCounts.impressions, fixed: true },
    likes: { type: 'integer', shown: metricCounts.likes, fixed: true },
    replies: { type: 'integer', shown: metricCounts.replies, fixed: true },
    reposts: { type: 'integer', shown: metricCounts.reposts, fixed: true },
    quotes: { type: 'integer', shown: metricCounts.quotes, fixed: true },
    clicks: { type: 'integer', shown: metricCounts.clicks, fixed: true },
    engagement_rate: {
      shown: nullable(
        T.Number({ description: 'Reactions per impression, 0 to 1. Null without impressions.' }),
      ),
      from: 'view',
    },
  },
)
