/**
 * A model of the sandbox's readers. It gives the same numbers for the same post at the same age,
 * and they only grow. The readers of each account have their own taste, derived from the account's
 * id, so that there is something real to learn about a workspace's posts.
 */
import { createHash } from 'node:crypto'
import type { CountName } from '#contract/records/growth/item'

export interface SandboxRead {
  accountId: string
  postId: string
  text: string
  ageMs: number
}

const HOUR_MS = 3_600_000
/** A post gets no more readers after this. */
const GROWTH_MS = 168 * HOUR_MS
/** Two thirds of all readers come within this time. */
const PACE_MS = 16 * HOUR_MS

/** 0 to 1, the same for the same words. */
const drawOf = (...words: string[]): number =>
  createHash('sha256').update(words.join('\n')).digest().readUInt32BE() / 2 ** 32

/** Normally distributed, from two draws. */
const normalOf = (...words: string[]): number =>
  Math.sqrt(-2 * Math.log(1 - drawOf(...words, 'radius'))) *
  Math.cos(2 * Math.PI * drawOf(...words, 'angle'))

const LINK = /https?:\/\/\S+|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app)\b/i
const SHORT = 140

/** Properties of a post that readers may like or dislike. */
const shapes: Record<string, (text: string, first: string) => boolean> = {
  number: (_, first) => /\d/.test(first),
  question: (text) => /\?\s*$/.test(text),
  short: (text) => text.length < SHORT,
  list: (text) => (text.match(/^\s*(?:[-•*→]|\d+[.)])\s+\S/gm) ?? []).length >= 2,
  story: (_, first) => /^(?:I|We|My|Our|Last|In \d{4})\b/.test(first),
  stance: (_, first) => /^(?:Most|Nobody|Everyone|Never|Stop|Unpopular)\b/i.test(first),
}

/**
 * Multiplies the engagement of an account's posts of one shape: by 0.45 to 0.7, or by 1.4 to 2.2.
 */
const tasteFor = (accountId: string, shape: string): number =>
  Math.exp(
    (drawOf(accountId, shape, 'side') < 0.5 ? -1 : 1) *
      (0.35 + 0.45 * drawOf(accountId, shape, 'taste')),
  )

const appeal = ({ accountId, text }: SandboxRead): number => {
  const first = text.trimStart().split('\n', 1)[0] ?? ''
  return Object.entries(shapes).reduce(
    (all, [shape, has]) => (has(text, first) ? all * tasteFor(accountId, shape) : all),
    1,
  )
}

/** The share of all its readers that a post has had at this age. */
const readerShare = (ageMs: number): number => {
  const shareAt = (ms: number): number => 1 - Math.exp(-ms / PACE_MS)
  return shareAt(Math.min(Math.max(0, ageMs), GROWTH_MS)) / shareAt(GROWTH_MS)
}

/**
 * For an account whose readers have no taste: the number of readers, and the share of them that
 * reacts.
 */
const readersOf = (accountId: string): number => 300 + 1_700 * drawOf(accountId, 'readers')
const REACTING = 0.035
const MOST_REACTING = 0.4
const NOISE = { impressions: 0.25, reactions: 0.2 }
/** Shares of all reactions. */
const shares = { likes: 0.72, replies: 0.12, reposts: 0.12, quotes: 0.04 }
const CLICKING = { link: 0.02, profile: 0.003 }

/** A post's metrics at its age. */
export const sandboxMetrics = (read: SandboxRead): Record<CountName, number> => {
  const { accountId, postId, text, ageMs } = read
  const liked = appeal(read)
  const seen =
    readersOf(accountId) *
    liked ** 0.5 *
    Math.exp(NOISE.impressions * normalOf(postId, 'impressions'))
  const rate = Math.min(
    MOST_REACTING,
    REACTING * liked * Math.exp(NOISE.reactions * normalOf(postId, 'reactions')),
  )
  const clicking =
    (LINK.test(text) ? CLICKING.link : CLICKING.profile) * (0.5 + drawOf(postId, 'clicks'))
  const share = readerShare(ageMs)
  const count = (whole: number): number => Math.floor(whole * share)
  const reactions = seen * rate
  return {
    impressions: count(seen),
    likes: count(reactions * shares.likes),
    replies: count(reactions * shares.replies),
    reposts: count(reactions * shares.reposts),
    quotes: count(reactions * shares.quotes),
    clicks: count(seen * clicking),
  }
}
