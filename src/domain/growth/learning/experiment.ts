/**
 * Experiments that try ways of writing against each other: running → concluded. Drafted items are
 * divided over the arms.
 */
import { createHash } from 'node:crypto'
import { experimentMetrics, experimentRecord } from '#contract/records/growth/experiment'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'
import {
  basisOf,
  commonBasis,
  isCounted,
  type Metrics,
  type PostingNetwork,
  refuseUncounted,
  valueOfMetric,
} from '../metrics.ts'
import { nextCall, refuseNaming } from '../way-on.ts'
import { compare, type Measured } from './comparison.ts'

export type Experiment = RowOf<typeof experimentRecord>
type ExperimentMetric = Experiment['metric']
/** Without a note, the drafter writes as usual. */
type Arm = Experiment['arms'][number]
/** The items of an arm. `measured`: posted, with a value for the experiment's metric. */
type Tally = NonNullable<Experiment['tally']>[number]

/** With the arms' items: current ones, or those at conclusion. */
export interface CountedExperiment extends Experiment {
  tally: Tally[]
}

/** Bounded because lists count each running one. */
export const MOST_RUNNING = 20

/**
 * An experiment is ready to conclude from this many measured posts in every arm, whatever they
 * show: stopping as soon as a difference appears finds differences that do not exist.
 */
export const READY_PER_ARM = 8

interface ExperimentInput {
  name: string
  hypothesis: string
  metric: ExperimentMetric
  arms?: { name: string; note?: string | undefined }[] | undefined
  /** The number of running experiments. */
  running: number
  now: Date
}

const invalid = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

/** Without arms, the hypothesis is tried against drafts as usual. */
const armsOf = ({ arms, hypothesis }: Pick<ExperimentInput, 'arms' | 'hypothesis'>): Arm[] => {
  if (!arms) return [control, { name: 'variant', note: hypothesis.trim() }]
  const named = arms.map(({ name, note = '' }) => ({
    name: name.trim(),
    note: note.trim() || null,
  }))
  if (new Set(named.map(({ name }) => name.toLowerCase())).size < named.length)
    invalid('arms', 'must have different names')
  return named
}
const control: Arm = { name: 'control', note: null }

/**
 * The metric that is asked for. By default the rate or, where the network counts no impressions,
 * reactions per post. Throws `invalid_input` if nobody would count it.
 */
export const metricOn = (
  network: PostingNetwork,
  metric: ExperimentMetric | undefined,
): ExperimentMetric => {
  if (metric === undefined)
    return isCounted('engagement_rate', network) ? 'engagement_rate' : 'reactions'
  refuseUncounted(metric, { network, path: 'metric', choices: experimentMetrics })
  return metric
}

export const newExperiment = (
  id: string,
  { running, now, ...input }: ExperimentInput,
): Experiment => {
  if (running >= MOST_RUNNING)
    refuseNaming(
      'limit_reached',
      `cannot add: ${running} experiments are running; conclude one first`,
      'growth.experiments.list',
    )
  return {
    ...experimentRecord.blank,
    id,
    name: input.name.trim(),
    hypothesis: input.hypothesis.trim(),
    metric: input.metric,
    arms: armsOf(input),
    status: 'running',
    created_at: now,
    updated_at: now,
  }
}

/** Throws `conflict` if the experiment is concluded. */
export const requireRunning = ({ status }: Pick<Experiment, 'status'>, action: string): void => {
  if (status === 'concluded')
    fail('conflict', `cannot ${action}: the experiment is concluded`, {
      reason: 'wrong_state',
      details: [nextCall('growth.experiments.list')],
    })
}

/** A posted item of an arm with its latest metrics. */
export interface MeasuredItem extends Metrics {
  id: string
  arm: string
}

const measuredOf = (metric: ExperimentMetric, items: readonly MeasuredItem[]): Measured[] =>
  items.flatMap((item) => {
    const value = valueOfMetric(metric, item)
    return value === null ? [] : [{ id: item.id, arm: item.arm, value }]
  })

/**
 * Compares the posts that are counted like most of them: those of another network would differ for
 * reasons that have nothing to do with the arms.
 */
const compareAlike = (
  { arms, metric }: CountedExperiment,
  items: readonly MeasuredItem[],
): NonNullable<Experiment['comparison']> => {
  const basis = commonBasis(items.filter((item) => valueOfMetric(metric, item) !== null))
  const alike = items.filter((item) => basisOf(item) === basis)
  const names = arms.map(({ name }) => name)
  const comparison = compare(names, measuredOf(metric, alike))
  const others = items.length - alike.length
  return others === 0
    ? comparison
    : {
        ...comparison,
        note: `${others} posts are left out, since their network counts impressions and that of most posts does not, or the other way round.`,
      }
}

/** Final. The verdict is the person's; the comparison is stored beside it. Throws `conflict`. */
export const conclude = (
  experiment: CountedExperiment,
  { result, items, now }: { result: string; items: readonly MeasuredItem[]; now: Date },
): CountedExperiment => {
  requireRunning(experiment, 'conclude')
  return {
    ...experiment,
    status: 'concluded',
    result: result.trim(),
    comparison: compareAlike(experiment, items),
    concluded_at: now,
    updated_at: now,
  }
}

const none = { items: 0, posted: 0, measured: 0 }

/** Every arm with its counts, in the experiment's order. */
const countedArms = ({
  arms,
  tally,
}: Pick<CountedExperiment, 'arms' | 'tally'>): (Arm & Omit<Tally, 'arm'>)[] =>
  arms.map((arm) => {
    const { items, posted, measured } = tally.find((one) => one.arm === arm.name) ?? none
    return { ...arm, items, posted, measured }
  })

export const isReady = (
  experiment: Pick<CountedExperiment, 'arms' | 'tally' | 'status'>,
): boolean =>
  experiment.status === 'running' &&
  countedArms(experiment).every(({ measured }) => measured >= READY_PER_ARM)

const view = viewOf(experimentRecord)

export const experimentView = (experiment: CountedExperiment) => ({
  ...view(experiment),
  arms: countedArms(experiment),
  ready_to_conclude: isReady(experiment),
})

export interface ArmShare {
  arm: Arm
  count: number
}

const drawOf = (seed: string, name: string): string =>
  createHash('sha256').update(`${seed}\n${name}`).digest('hex')

/**
 * Divides `total` new items over the arms so that, with the existing ones, all arms are as equal as
 * possible. The seed decides ties and the order, so no arm is always first.
 */
export const divide = (
  { arms, tally, seed }: { arms: Arm[]; tally: Tally[]; seed: string },
  total: number,
): ArmShare[] => {
  const shares = arms
    .map((arm) => ({
      arm,
      count: 0,
      had: tally.find((one) => one.arm === arm.name)?.items ?? 0,
      order: drawOf(seed, arm.name),
    }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  for (let left = total; left > 0; left--) {
    const least = shares.reduce((best, one) =>
      one.had + one.count < best.had + best.count ? one : best,
    )
    least.count++
  }
  return shares.filter(({ count }) => count > 0).map(({ arm, count }) => ({ arm, count }))
}

/** The arms' shares of `count` posts that follow the first `from`. */
export const partOf = (shares: ArmShare[], from: number, count: number): ArmShare[] => {
  let before = 0
  return shares.flatMap(({ arm, count: whole }) => {
    const [begin, end] = [Math.max(from, before), Math.min(from + count, before + whole)]
    before += whole
    return end > begin ? [{ arm, count: end - begin }] : []
  })
}
