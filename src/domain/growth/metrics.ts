/**
 * A network's counts since the post went out. `clicks` includes those on links and on the account.
 */
export interface Metrics {
  impressions: number
  likes: number
  replies: number
  reposts: number
  quotes: number
  clicks: number
}

/** The metrics of an item at one moment. */
export interface MetricSnapshot extends Metrics {
  item_id: string
  at: Date
}

/** Without clicks, which not every network publishes. */
export const reactions = ({ likes, replies, reposts, quotes }: Metrics): number =>
  likes + replies + reposts + quotes

/** Reactions per impression, 0 to 1. Null without impressions. */
export const engagementRate = (metrics: Metrics): number | null =>
  metrics.impressions > 0 ? Math.min(1, reactions(metrics) / metrics.impressions) : null
