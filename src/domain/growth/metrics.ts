import type { CountName } from '#contract/records/growth/item'
import type { metricRecord } from '#contract/records/growth/metric'
import type { RowOf } from '#contract/records/record'
import { refuseField } from '#kernel/errors'

/** The metrics of an item at one moment. */
export type MetricSnapshot = Omit<RowOf<typeof metricRecord>, 'id'>

/**
 * A network's counts since the post went out. `clicks` includes those on links and on the account.
 * Null, never 0, is what the network does not count.
 */
export type Metrics = Omit<MetricSnapshot, 'item_id' | 'at'>

/** Without clicks, which not every network publishes. */
export const reactions = ({ likes, replies, reposts, quotes }: Metrics): number =>
  likes + replies + reposts + quotes

/** Reactions per impression, 0 to 1. Null without impressions. */
export const engagementRate = (metrics: Metrics): number | null =>
  metrics.impressions !== null && metrics.impressions > 0
    ? Math.min(1, reactions(metrics) / metrics.impressions)
    : null

/**
 * Whether posts are compared by their rate, or by their reactions alone because their network
 * counts no impressions. Posts of one basis are never summed or compared with those of the other:
 * reactions depend on how many people saw a post, which only one of the networks tells.
 */
export type Basis = 'impressions' | 'posts'

export const basisOf = ({ impressions }: Pick<Metrics, 'impressions'>): Basis =>
  impressions === null ? 'posts' : 'impressions'

/** The basis of most of the posts; of as many each, impressions. */
export const commonBasis = (all: readonly Pick<Metrics, 'impressions'>[]): Basis => {
  const uncounted = all.filter((one) => basisOf(one) === 'posts').length
  return 2 * uncounted > all.length ? 'posts' : 'impressions'
}

/** How a post did among those of its basis: its rate, or its reactions. Null if nobody saw it. */
export const performanceOf = (metrics: Metrics): number | null =>
  basisOf(metrics) === 'posts' ? reactions(metrics) : engagementRate(metrics)

/** Why there is no rate, in the words of every surface. */
export const PER_POST = 'reactions per post, since the network counts no impressions'

/** What experiments compare, and what rules wait for. */
export type PostMetric = CountName | 'engagement_rate' | 'reactions'

/** Null if the post has none, or its network does not count it. */
export const valueOfMetric = (metric: PostMetric, metrics: Metrics): number | null => {
  if (metric === 'engagement_rate') return engagementRate(metrics)
  return metric === 'reactions' ? reactions(metrics) : metrics[metric]
}

/** The network on which new items are posted. */
export interface PostingNetwork {
  name: string
  counts: readonly CountName[]
}

/** The count that a metric needs besides reactions. */
const needOf = (metric: PostMetric): PostMetric =>
  metric === 'engagement_rate' ? 'impressions' : metric

export const isCounted = (metric: PostMetric, { counts }: PostingNetwork): boolean =>
  metric === 'reactions' || counts.some((name) => name === needOf(metric))

/** Throws `invalid_input` if the network does not count the metric. `choices`: all metrics. */
export const refuseUncounted = (
  metric: PostMetric,
  {
    network,
    path,
    choices,
  }: { network: PostingNetwork; path: string; choices: readonly PostMetric[] },
): void => {
  if (isCounted(metric, network)) return
  const counted = choices.filter((one) => isCounted(one, network)).join(', ')
  refuseField(
    path,
    `cannot be ${metric}: ${network.name} counts no ${needOf(metric)}. Choose one of ${counted}`,
  )
}
