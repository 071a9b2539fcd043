/**
 * Compares the arms of an experiment with its control: means, difference, effect size and
 * confidence.
 */
import type { experimentRecord } from '#contract/records/growth/experiment'
import type { RowOf } from '#contract/records/record'
import { type Interval, welch } from './statistics.ts'
import { mean, studentQuantile, variance } from './student.ts'

/** A post of an arm with its measured value. */
export interface Measured {
  id: string
  arm: string
  value: number
}

export type ArmComparison = NonNullable<RowOf<typeof experimentRecord>['comparison']>
type ArmResult = ArmComparison['arms'][number]
/** An arm against the control. */
type Difference = ArmComparison['against_control'][number]

export const comparisonLimits = {
  /** With fewer, an interval says more about single posts than about arms. */
  leastPerArm: 8,
  evidence: 100,
  needed: 10_000,
} as const
const CONFIDENCE = 0.95
/** (1.96 + 0.84) squared: a power of 80 %. */
const POWER = 7.849

interface Sample {
  arm: string
  values: number[]
  ids: string[]
}

/** `arms` are names, the control first. `measured` is newest first. */
export const compare = (arms: readonly string[], measured: readonly Measured[]): ArmComparison => {
  const samples = arms.map((arm): Sample => {
    const own = measured.filter((one) => one.arm === arm)
    return { arm, values: own.map(({ value }) => value), ids: own.map(({ id }) => id) }
  })
  const [control, ...others] = samples
  return {
    arms: samples.map(resultOf),
    against_control: control ? others.map((one) => differenceOf(one, control)) : [],
  }
}

const resultOf = ({ arm, values, ids }: Sample): ArmResult => ({
  arm,
  n: values.length,
  mean: values.length > 0 ? mean(values) : null,
  sd: values.length > 1 ? Math.sqrt(variance(values)) : null,
  item_ids: ids.slice(0, comparisonLimits.evidence),
})

const differenceOf = ({ arm, values }: Sample, control: Sample): Difference => {
  const [n, m] = [values.length, control.values.length]
  if (Math.min(n, m) < comparisonLimits.leastPerArm) {
    const note = `Not enough data: ${arm} has ${n} and ${control.arm} has ${m} posts with metrics; each needs ${comparisonLimits.leastPerArm}.`
    return {
      arm,
      reading: 'not_enough_data',
      difference: null,
      interval: null,
      effect_size: null,
      needed_per_arm: comparisonLimits.leastPerArm,
      note,
    }
  }
  const difference = mean(values) - mean(control.values)
  const found = welch(values, control.values)
  if (!found) {
    const note = `All posts of ${arm} have the same value, and so have all of ${control.arm}: without variation there is nothing to compare.`
    return {
      arm,
      reading: 'unclear',
      difference,
      interval: null,
      effect_size: null,
      needed_per_arm: null,
      note,
    }
  }
  const reach = studentQuantile((1 + CONFIDENCE) / 2, found.freedom) * found.error
  const interval = { low: difference - reach, high: difference + reach }
  const reading = readingOf(interval)
  const needed_per_arm = reading === 'unclear' ? neededFor(found.effect) : null
  const note = noteOf({ arm, control: control.arm, reading, needed_per_arm })
  return { arm, reading, difference, interval, effect_size: found.effect, needed_per_arm, note }
}

const readingOf = ({ low, high }: Interval): Difference['reading'] => {
  if (low > 0) return 'higher'
  return high < 0 ? 'lower' : 'unclear'
}

type Noted = { control: string } & Pick<Difference, 'arm' | 'reading' | 'needed_per_arm'>

const noteOf = ({ arm, control, reading, needed_per_arm: needed }: Noted): string => {
  if (reading !== 'unclear')
    return `${arm} is ${reading} than ${control}: the 95% interval of the difference excludes zero.`
  const more =
    needed === null
      ? ''
      : ` Confirming a difference of this size takes about ${needed} posts per arm.`
  return `${arm} and ${control} do not differ clearly: the 95% interval of the difference includes zero.${more}`
}

const neededFor = (effect: number): number | null => {
  if (effect === 0) return null
  const needed = Math.ceil((2 * POWER) / effect ** 2)
  return needed <= comparisonLimits.needed ? Math.max(comparisonLimits.leastPerArm, needed) : null
}
