/**
 * Compares posts of one kind with all others by Welch's interval for the difference of two means,
 * which assumes neither equal sizes nor equal variances. Many comparisons find something by chance,
 * so the level is divided by their number (Bonferroni): the probability that any claim is chance is
 * at most 5 %.
 */
import { mean, studentQuantile, variance } from './student.ts'

/** Compared on a logarithmic scale, where variances are similar. A difference is then a factor. */
type Measure = 'engagement_rate' | 'impressions' | 'reactions'
const comparedMeasures = [
  'engagement_rate',
  'impressions',
  'reactions',
] as const satisfies Measure[]

/** A property that some posts have, such as `length: short`. */
export interface Feature {
  dimension: string
  value: string
}

export interface Observed {
  /** Null if the network does not count them. */
  impressions: number | null
  /** Of any kind; at most `impressions`. */
  reactions: number
  features: Feature[]
}

interface Side {
  n: number
  /** Not on the logarithmic scale: a rate from 0 to 1, or a count. */
  mean: number
}

export interface Interval {
  low: number
  high: number
}

export interface GroupComparison extends Feature {
  measure: Measure
  group: Side
  rest: Side
  /** Hedges' g: the difference in standard deviations, corrected for small samples. */
  effect_size: number
  /**
   * Of the difference, relative to the others' typical value: 0.5 is half as much again, -0.5 is
   * half.
   */
  interval: Interval
  /** Indexes of the counted observations that have the feature. */
  members: number[]
}

export interface Comparisons {
  /** Significant at 95 % over all comparisons together. */
  sure: GroupComparison[]
  /** Significant at 99 % alone, but not over all comparisons: worth a try. */
  likely: GroupComparison[]
  /** Every comparison, the strongest first, with its interval over all comparisons together. */
  all: GroupComparison[]
  /** The number of comparisons. */
  made: number
  /**
   * Posts on each side that would make the largest difference significant; null if there is none.
   */
  needed: number | null
}

/** On each side. With fewer the interval is wide, and one odd post moves it. */
export const LEAST_GROUP = 8
/**
 * Half of the 5 %. The other half covers the error of the t distribution on few and skewed numbers,
 * as seen in simulations.
 */
const LEVEL = 0.025
const ALONE = 0.01

/** The two-sided critical value of t at this probability. */
const criticalValue = (chance: number, freedom: number): number =>
  studentQuantile(1 - chance / 2, freedom)

interface Welch {
  difference: number
  error: number
  freedom: number
  effect: number
}

/** Undefined if nothing varies: an interval without width would claim too much. */
export const welch = (one: number[], other: number[]): Welch | undefined => {
  if (one.length < 2 || other.length < 2) return undefined
  const [m1, m2] = [mean(one), mean(other)]
  const [v1, v2] = [variance(one), variance(other)]
  const [e1, e2] = [v1 / one.length, v2 / other.length]
  if (!(e1 + e2 > 0)) return undefined
  const freedom = (e1 + e2) ** 2 / (e1 ** 2 / (one.length - 1) + e2 ** 2 / (other.length - 1))
  const within = one.length + other.length - 2
  const pooled = Math.sqrt(((one.length - 1) * v1 + (other.length - 1) * v2) / within)
  return {
    difference: m1 - m2,
    error: Math.sqrt(e1 + e2),
    freedom,
    effect: ((m1 - m2) / pooled) * (1 - 3 / (4 * within - 1)),
  }
}

/**
 * Null if the measure does not apply to the post. Reactions alone apply where nobody counts
 * impressions, so that only posts that are counted alike are compared.
 */
const valueIn = ({ impressions, reactions }: Observed, measure: Measure): number | null => {
  if (measure === 'reactions') return impressions === null ? reactions : null
  if (measure === 'impressions' || impressions === null) return impressions
  return impressions > 0 ? reactions / impressions : null
}

/** Half a reaction is added so that posts without any stay on the scale. */
const toScale = ({ impressions, reactions }: Observed, measure: Measure): number => {
  if (impressions === null) return Math.log(reactions + 0.5)
  return measure === 'impressions'
    ? Math.log1p(impressions)
    : Math.log((reactions + 0.5) / (impressions + 1))
}

interface Split extends Feature {
  members: Set<number>
}

/**
 * The features to compare. Of two that divide the posts alike, such as yes and no, only the first.
 */
const splitsOf = (observed: Observed[]): Split[] => {
  const splits = new Map<string, Split>()
  for (const [index, { features }] of observed.entries())
    for (const { dimension, value } of features) {
      const name = `${dimension}\n${value}`
      const split = splits.get(name) ?? { dimension, value, members: new Set() }
      split.members.add(index)
      splits.set(name, split)
    }
  const seen = new Set<string>()
  return [...splits.values()].filter(({ members }) => {
    const marks = observed.map((_, index) => (members.has(index) ? 1 : 0))
    const same = [marks.join(''), marks.map((mark) => 1 - mark).join('')]
    const isNew = !same.some((one) => seen.has(one))
    for (const one of same) seen.add(one)
    return isNew
  })
}

interface Tested extends Welch {
  comparison: Omit<GroupComparison, 'interval'>
}

const test = (observed: Observed[], split: Split, measure: Measure): Tested[] => {
  const counted = [...observed.keys()].filter(
    (index) => valueIn(observed[index]!, measure) !== null,
  )
  const members = counted.filter((index) => split.members.has(index))
  const others = counted.filter((index) => !split.members.has(index))
  if (Math.min(members.length, others.length) < LEAST_GROUP) return []
  const raw = (indexes: number[]): number[] =>
    indexes.map((index) => valueIn(observed[index]!, measure)!)
  const on = (indexes: number[]): number[] =>
    indexes.map((index) => toScale(observed[index]!, measure))
  const found = welch(on(members), on(others))
  if (!found) return []
  const side = (indexes: number[]): Side => ({ n: indexes.length, mean: mean(raw(indexes)) })
  const { dimension, value } = split
  const comparison = {
    dimension,
    value,
    measure,
    group: side(members),
    rest: side(others),
    effect_size: found.effect,
    members,
  }
  return [{ ...found, comparison }]
}

const withInterval = (
  { comparison, difference, error, freedom }: Tested,
  chance: number,
): GroupComparison => {
  const reach = criticalValue(chance, freedom) * error
  return {
    ...comparison,
    interval: { low: Math.expm1(difference - reach), high: Math.expm1(difference + reach) },
  }
}

const excludesZero = ({ low, high }: Interval): boolean => low > 0 || high < 0

const strongest = (one: GroupComparison, other: GroupComparison): number =>
  Math.abs(other.effect_size) - Math.abs(one.effect_size)

/** Compares every feature by every measure. The same posts give the same claims. */
export const compareAll = (observed: Observed[]): Comparisons => {
  const tested = splitsOf(observed).flatMap((split) =>
    comparedMeasures.flatMap((measure) => test(observed, split, measure)),
  )
  const chance = LEVEL / Math.max(1, tested.length)
  const sure: GroupComparison[] = []
  const likely: GroupComparison[] = []
  const all: GroupComparison[] = []
  for (const one of tested) {
    const together = withInterval(one, chance)
    const alone = withInterval(one, ALONE)
    all.push(together)
    if (excludesZero(together.interval)) sure.push(together)
    else if (excludesZero(alone.interval)) likely.push(alone)
  }
  const largest = Math.max(0, ...tested.map(({ effect }) => Math.abs(effect)))
  const needed = largest > 0 ? Math.ceil(2 * (criticalValue(chance, 60) / largest) ** 2) : null
  return {
    sure: sure.toSorted(strongest),
    likely: likely.toSorted(strongest),
    all: all.toSorted(strongest),
    made: tested.length,
    needed,
  }
}
