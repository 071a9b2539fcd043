/** The wording of comparisons: in full with numbers, and as notes that steer drafting. */
import { PER_POST } from '../metrics.ts'
import { type GroupComparison, LEAST_GROUP } from './statistics.ts'

type ClaimFacts = Pick<
  GroupComparison,
  'dimension' | 'value' | 'measure' | 'group' | 'rest' | 'interval'
>

const LONGEST_NAME = 60

const cut = (text: string): string =>
  text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME - 1)}…` : text
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The plural subject of a claim. `learnings` maps ids to notes. */
export const labelOf = (
  { dimension, value }: Pick<ClaimFacts, 'dimension' | 'value'>,
  learnings: ReadonlyMap<string, string>,
): string => {
  switch (dimension) {
    case 'number':
      return 'Posts with numbers'
    case 'question':
      return 'Question posts'
    case 'list':
      return 'List posts'
    case 'link':
      return 'Posts with a link'
    case 'emoji':
      return 'Posts with an emoji'
    case 'length':
      return `${capital(value)} posts`
    case 'product':
      return `Posts about ${cut(value)}`
    case 'format':
      return `${capital(value.replaceAll('-', ' '))} posts`
    case 'hook':
      return `Posts that open with ${value.replaceAll('-', ' ')}`
    case 'learning':
      return `Posts that follow the learning “${cut(learnings.get(value) ?? value)}”`
    case 'weekday':
      return `${value} posts`
    default:
      return value === 'night' || value === 'midday' ? `Posts at ${value}` : `Posts in the ${value}`
  }
}

const percent = (rate: number): string => `${(100 * rate).toFixed(1)}%`
const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
const times = (share: number): string => (1 + share).toFixed(2)

/**
 * The full sentence: both means, the number of posts on each side, and the interval of the
 * difference.
 */
export const wordingOf = (claim: ClaimFacts, label: string, sure: string): string => {
  const { measure, group, rest, interval } = claim
  const counts = `(${group.n} and ${rest.n} posts)`
  const span = `${sure} between ${times(interval.low)} and ${times(interval.high)} times as much`
  if (measure === 'engagement_rate')
    return `${label} had an engagement rate of ${percent(group.mean)}, other posts ${percent(rest.mean)} ${counts}: ${span}.`
  if (measure === 'reactions')
    return `${label} had ${group.mean.toFixed(1)}, other posts ${rest.mean.toFixed(1)} ${PER_POST} ${counts}: ${span}.`
  return `${label} were seen ${whole(group.mean)} times on average, other posts ${whole(rest.mean)} times ${counts}: ${span}.`
}

export const SURE = 'with 95% confidence over all comparisons made'
export const LIKELY = 'with 99% confidence if nothing else had been compared'

/** In words that drafting understands: only the first of them names a kind of post. */
export const noteOf = (
  { measure }: Pick<ClaimFacts, 'measure'>,
  label: string,
  kind: 'worked' | 'flopped' | 'hypothesis',
): string => {
  const gain = measure === 'engagement_rate' ? 'engagement' : measure
  if (kind === 'hypothesis') return `${label} may get more ${gain}`
  if (kind === 'worked') return `${label} get more ${gain}`
  return `${label} get ${measure === 'reactions' ? 'fewer' : 'less'} ${gain}`
}

/** Why there is no claim, and how much data one would take. */
export const notEnough = (
  items: number,
  { made, needed }: { made: number; needed: number | null },
): string => {
  if (items === 0) return 'Not enough data: no post has metrics yet.'
  if (made === 0)
    return `Not enough data: ${items} posts have metrics; a comparison needs ${LEAST_GROUP} posts of a kind and ${LEAST_GROUP} others.`
  if (needed === null) return `Not enough data: the ${items} posts with metrics do not differ.`
  return `Not enough data: in ${made} comparisons of ${items} posts, every difference could be chance. Confirming the largest one takes about ${needed} posts of the kind and ${needed} others.`
}
