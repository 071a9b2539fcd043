/** Ways of writing tried against each other: running → concluded. Items are divided over its arms as they are drafted. */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import { engagementRate, type Metrics } from '../metrics.ts'
import { type ArmComparison, compare, type Measured } from './comparison.ts'

export type ExperimentMetric = 'engagement_rate' | 'impressions' | 'likes' | 'replies' | 'reposts' | 'clicks'

/** The first arm of an experiment is its control. */
export interface Arm {
  name: string
  /** What its drafts are told to do; null: they are drafted as ever. */
  note: string | null
}

/** How many items an arm has; `measured`: posted, with numbers that say something of the experiment's metric. */
export interface Tally {
  arm: string
  items: number
  posted: number
  measured: number
}

export interface Experiment {
  id: string
  name: string
  hypothesis: string
  metric: ExperimentMetric
  arms: Arm[]
  status: 'running' | 'concluded'
  /** A person's verdict, in words. */
  result: string | null
  comparison: ArmComparison | null
  concluded_at: Date | null
  created_at: Date
  updated_at: Date
}

/** With the items that its arms have now, or had when it was concluded. */
export interface CountedExperiment extends Experiment {
  tally: Tally[]
}

/** So many are running at once: each one is counted whenever they are listed. */
export const MOST_RUNNING = 20

/**
 * From so many posts with numbers in every arm on an experiment is ready to be concluded, whatever they say: who stops as soon
 * as a difference shows finds one where there is none.
 */
export const READY_PER_ARM = 8

interface Wish {
  name: string
  hypothesis: string
  metric: ExperimentMetric
  arms?: { name: string; note?: string | undefined }[] | undefined
  /** How many are running already. */
  running: number
  now: Date
}

const invalid = (path: string, message: string): never => fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

/** Where none are named, the hypothesis is tried against drafts as they are ever made. */
const armsOf = ({ arms, hypothesis }: Pick<Wish, 'arms' | 'hypothesis'>): Arm[] => {
  if (!arms) return [control, { name: 'variant', note: hypothesis.trim() }]
  const named = arms.map(({ name, note = '' }) => ({ name: name.trim(), note: note.trim() || null }))
  if (new Set(named.map(({ name }) => name.toLowerCase())).size < named.length) invalid('arms', 'must have different names')
  return named
}
const control: Arm = { name: 'control', note: null }

export const newExperiment = (id: string, { running, now, ...wish }: Wish): Experiment => {
  if (running >= MOST_RUNNING) fail('conflict', `cannot add: ${running} experiments are running; conclude one first`)
  return {
    id,
    name: wish.name.trim(),
    hypothesis: wish.hypothesis.trim(),
    metric: wish.metric,
    arms: armsOf(wish),
    status: 'running',
    result: null,
    comparison: null,
    concluded_at: null,
    created_at: now,
    updated_at: now,
  }
}

/** Throws `conflict` once it is concluded: what belongs to it is over. */
export const requireRunning = ({ status }: Pick<Experiment, 'status'>, action: string): void => {
  if (status === 'concluded') fail('conflict', `cannot ${action}: the experiment is concluded`)
}

/** A posted item of an arm with the newest numbers that there are of it. */
export interface MeasuredItem extends Metrics {
  id: string
  arm: string
}

/** What the numbers of a post are in the experiment's metric; null where they say nothing of it. */
export const valueIn = (metric: ExperimentMetric, metrics: Metrics): number | null =>
  metric === 'engagement_rate' ? engagementRate(metrics) : metrics[metric]

const measuredOf = (metric: ExperimentMetric, items: readonly MeasuredItem[]): Measured[] =>
  items.flatMap((item) => {
    const value = valueIn(metric, item)
    return value === null ? [] : [{ id: item.id, arm: item.arm, value }]
  })

/** For good: the verdict is the person's, what the numbers say stands beside it. */
export const conclude = (
  experiment: CountedExperiment,
  { result, items, now }: { result: string; items: readonly MeasuredItem[]; now: Date },
): CountedExperiment => {
  requireRunning(experiment, 'conclude')
  const arms = experiment.arms.map(({ name }) => name)
  const comparison = compare(arms, measuredOf(experiment.metric, items))
  return { ...experiment, status: 'concluded', result: result.trim(), comparison, concluded_at: now, updated_at: now }
}

const none = { items: 0, posted: 0, measured: 0 }

/** Every arm with its counts, in the experiment's order. */
const countedArms = ({ arms, tally }: Pick<CountedExperiment, 'arms' | 'tally'>): (Arm & Omit<Tally, 'arm'>)[] =>
  arms.map((arm) => {
    const { items, posted, measured } = tally.find((one) => one.arm === arm.name) ?? none
    return { ...arm, items, posted, measured }
  })

export const isReady = (experiment: Pick<CountedExperiment, 'arms' | 'tally' | 'status'>): boolean =>
  experiment.status === 'running' && countedArms(experiment).every(({ measured }) => measured >= READY_PER_ARM)

/** An experiment as every surface shows it. */
export const experimentView = ({ tally, ...experiment }: CountedExperiment) => ({
  ...experiment,
  arms: countedArms({ ...experiment, tally }),
  ready_to_conclude: isReady({ ...experiment, tally }),
})

export interface Share {
  arm: Arm
  count: number
}

const drawn = (seed: string, name: string): string => createHash('sha256').update(`${seed}\n${name}`).digest('hex')

/**
 * Divides so many new items over the arms, so that with those there are already all have as many as can be. Where that leaves
 * a choice, and in which order the arms come, the seed decides: no arm is always the first.
 */
export const divide = ({ arms, tally, seed }: { arms: Arm[]; tally: Tally[]; seed: string }, total: number): Share[] => {
  const shares = arms
    .map((arm) => ({ arm, count: 0, had: tally.find((one) => one.arm === arm.name)?.items ?? 0, order: drawn(seed, arm.name) }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  for (let left = total; left > 0; left--) {
    const least = shares.reduce((best, one) => (one.had + one.count < best.had + best.count ? one : best))
    least.count++
  }
  return shares.filter(({ count }) => count > 0).map(({ arm, count }) => ({ arm, count }))
}
