/** How a comparison is said: in full with its numbers, and as a note that steers drafting. */
import { type GroupComparison, LEAST_GROUP } from './statistics.ts'

type Said = Pick<GroupComparison, 'dimension' | 'value' | 'measure' | 'group' | 'rest' | 'interval'>

const LONGEST_NAME = 60

const cut = (text: string): string => (text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME - 1)}…` : text)
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `learnings`: notes by id. */
export const labelOf = ({ dimension, value }: Pick<Said, 'dimension' | 'value'>, learnings: ReadonlyMap<string, string>): string => {
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
      return `Posts made with the learning “${cut(learnings.get(value) ?? value)}”`
    case 'weekday':
      return `Posts of ${value}s`
    default:
      return `Posts of the ${value}`
  }
}

const percent = (rate: number): string => `${(100 * rate).toFixed(1)} %`
const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
const times = (share: number): string => (1 + share).toFixed(2)

/** In full: both means, how many posts each is of, and the interval of the difference. */
export const wordingOf = (claim: Said, label: string, sure: string): string => {
  const { measure, group, rest, interval } = claim
  const counts = `(${group.n} and ${rest.n} posts)`
  const span = `${sure} between ${times(interval.low)} and ${times(interval.high)} times as much`
  if (measure === 'engagement_rate')
    return `${label} had an engagement of ${percent(group.mean)}, the others ${percent(rest.mean)} ${counts}: ${span}.`
  return `${label} were seen ${whole(group.mean)} times on average, the others ${whole(rest.mean)} times ${counts}: ${span}.`
}

export const SURE = 'with 95 % confidence over all comparisons made'
export const LIKELY = 'with 99 % confidence if nothing else had been compared'

/** In the words that drafting understands: the kind of post first, and nothing after it that is one too. */
export const noteOf = ({ measure }: Pick<Said, 'measure'>, label: string, kind: 'worked' | 'flopped' | 'hypothesis'): string => {
  const gain = measure === 'impressions' ? 'impressions' : 'engagement'
  if (kind === 'hypothesis') return `${label} may get more ${gain}`
  return `${label} get ${kind === 'worked' ? 'more' : 'less'} ${gain}`
}

/** Why nothing is claimed, with what there is and what it takes. */
export const notEnough = (items: number, { made, needed }: { made: number; needed: number | null }): string => {
  if (items === 0) return 'Not enough data: no post has been counted yet.'
  if (made === 0)
    return `Not enough data: ${items} posts were counted; a comparison takes ${LEAST_GROUP} posts of a kind and ${LEAST_GROUP} others.`
  if (needed === null) return `Not enough data: the ${items} posts counted do not differ.`
  return `Not enough data: among ${items} posts and ${made} comparisons no difference is larger than chance explains; the largest one would be told from it with about ${needed} posts of the kind and ${needed} others.`
}
