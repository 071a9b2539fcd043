/** What a network counts of a post, and what is made of it. */

/** Counted since the post went out. `clicks`: on links and on the account. */
export interface Metrics {
  impressions: number
  likes: number
  replies: number
  reposts: number
  quotes: number
  clicks: number
}

/** The numbers of an item at a moment. */
export interface MetricSnapshot extends Metrics {
  item_id: string
  at: Date
}

/** Reactions of any kind, clicks left out: those are not public everywhere. */
export const reactions = ({ likes, replies, reposts, quotes }: Metrics): number => likes + replies + reposts + quotes

/** Reactions per impression, 0 to 1; null where nobody has seen the post. */
export const engagementRate = (metrics: Metrics): number | null =>
  metrics.impressions > 0 ? Math.min(1, reactions(metrics) / metrics.impressions) : null
