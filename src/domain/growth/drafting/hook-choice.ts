/**
 * Chooses openings by Thompson sampling: prefer what worked, and keep trying the rest. Each
 * opening's engagement, relative to the workspace's mean, is drawn from a normal distribution that
 * is wide while little is known. The draw becomes the opening's weight. The seed is the batch's, so
 * a batch can be repeated and explained.
 */
import { createHash } from 'node:crypto'
import type { Basis } from '../metrics.ts'
import { type HookKey, hookNamed, postHooks } from './hooks.ts'

/**
 * The mean engagement rate of an opening over its measured posts; over those whose network counts
 * no impressions, their mean number of reactions.
 */
export interface HookResult {
  hook: string
  basis: Basis
  posts: number
  mean: number
}

export interface HookChance {
  hook: HookKey
  /** How much more often than usual to use it; around 1. */
  weight: number
}

/** A mean over fewer measured posts is not worth showing. */
export const LEAST_MEASURED = 5

/** Weight of the prior, in average posts. */
const PRIOR_POSTS = 2
/** Standard deviation among posts of one opening, in means of the workspace. */
const SPREAD = 0.6
/** Twice the mean gives about six times the weight. */
const STRENGTH = 2
const LEAST_WEIGHT = 0.1
const MOST_WEIGHT = 10

const WHOLE = 2 ** 32

/** A standard normal number determined by seed and opening (Box and Muller). */
const normalOf = (seed: string, hook: HookKey): number => {
  const digest = createHash('sha256').update(`${seed}\n${hook}`).digest()
  const [first, second] = [
    (digest.readUInt32BE(0) + 1) / (WHOLE + 1),
    digest.readUInt32BE(4) / WHOLE,
  ]
  return Math.sqrt(-2 * Math.log(first)) * Math.cos(2 * Math.PI * second)
}

const even = (): HookChance[] => postHooks.map((hook) => ({ hook, weight: 1 }))

/** How often an opening was measured, and the sum of that, in means of all posts of the basis. */
interface Known {
  posts: number
  relative: number
}

/** Undefined while nothing was measured or nobody reacted. */
const knownOf = (results: readonly HookResult[], basis: Basis): Known[] | undefined => {
  const byHook = new Map(
    results.filter((one) => one.basis === basis).map((one) => [hookNamed(one.hook), one]),
  )
  const known = postHooks.map((hook) => byHook.get(hook) ?? { posts: 0, mean: 0 })
  const posts = known.reduce((sum, one) => sum + one.posts, 0)
  const usual = known.reduce((sum, one) => sum + one.posts * one.mean, 0) / Math.max(1, posts)
  if (usual <= 0) return undefined
  return known.map(({ posts: count, mean }) => ({ posts: count, relative: (count * mean) / usual }))
}

/**
 * A weight for each post opening; 1 for all while nothing was measured or nobody reacted. Posts are
 * measured against the mean of those of their basis, so that no rate meets a number of reactions.
 */
export const hookChances = (results: readonly HookResult[], seed: string): HookChance[] => {
  const known = [knownOf(results, 'impressions'), knownOf(results, 'posts')].filter(
    (one) => one !== undefined,
  )
  if (known.length === 0) return even()
  return postHooks.map((hook, index) => {
    const count = known.reduce((sum, one) => sum + one[index]!.posts, 0)
    const relative = known.reduce((sum, one) => sum + one[index]!.relative, 0)
    const expected = (PRIOR_POSTS + relative) / (PRIOR_POSTS + count)
    const drawn = expected + (SPREAD / Math.sqrt(PRIOR_POSTS + count)) * normalOf(seed, hook)
    return {
      hook,
      weight: Math.min(MOST_WEIGHT, Math.max(LEAST_WEIGHT, Math.exp(STRENGTH * (drawn - 1)))),
    }
  })
}

const PREFERRED = 1.25
const MOST_PREFERRED = 8

/** The openings that a model should prefer, best first; none while all weigh the same. */
export const preferredHooks = (chances: readonly HookChance[]): HookKey[] =>
  chances
    .filter(({ weight }) => weight >= PREFERRED)
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, MOST_PREFERRED)
    .map(({ hook }) => hook)
