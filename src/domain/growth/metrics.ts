import type { metricRecord } from '#contract/records/growth/metric'
import type { RowOf } from '#contract/records/record'

/** The metrics of an item at one moment. */
export type MetricSnapshot = Omit<RowOf<typeof metricRecord>, 'id'>

/**
 * A network's counts since the post went out. `clicks` includes those on links and on the account.
 */
export type Metrics = Omit<MetricSnapshot, 'item_id' | 'at'>

/** Without clicks, which not every network publishes. */
export const reactions = ({ likes, replies, reposts, quotes }: Metrics): number =>
  likes + replies + reposts + quotes

/** Reactions per impression, 0 to 1. Null without impressions. */
export const engagementRate = (metrics: Metrics): number | null =>
  metrics.impressions > 0 ? Math.min(1, reactions(metrics) / metrics.impressions) : null
