/** Overrides of a plan's numbers and features, as an operator types them. Pure. */
import {
  agentLimitKeys,
  capKeys,
  features,
  type LimitKey,
  type PlanFeature,
  type PlanOverrides,
  quotaKeys,
  stockKeys,
} from '#contract/limits'
import { fail } from '#kernel/errors'
import { nearest } from '#kernel/nearest'
import { rateKeys } from './rates.ts'
import { readCounter, tiers } from './read-budget.ts'

const rates: LimitKey[] = rateKeys.flatMap((key) => [key, `credential_${key}` as const])
const limitKeys: LimitKey[] = [
  ...quotaKeys,
  ...capKeys,
  ...agentLimitKeys,
  ...stockKeys,
  ...tiers.map(readCounter),
  ...rates,
]
const featureKeys = features.map((feature) => `feature:${feature}` as const)

export const overrideNames: string[] = [...limitKeys, ...featureKeys]

/** Counters are 32-bit integers; one just below its limit must still be able to grow. */
const LARGEST = 1_000_000_000
const NUMBER = /^\d{1,10}$/
const DEFAULT = 'default'

const numberOf = (name: string, value: string): number => {
  // A rate of 0 would lock everybody out and leave no time to give in Retry-After.
  const least = rates.some((key) => key === name) ? 1 : 0
  if (value === '-1' && agentLimitKeys.some((key) => key === name)) return -1
  if (NUMBER.test(value) && Number(value) >= least && Number(value) <= LARGEST) return Number(value)
  return fail(
    'invalid_input',
    `--override ${name} takes a whole number from ${least} to ${LARGEST}, or ${DEFAULT}: ${value}`,
  )
}

const switchOf = (name: string, value: string): boolean =>
  value === 'on' || value === 'off'
    ? value === 'on'
    : fail('invalid_input', `--override ${name} takes on, off or ${DEFAULT}: ${value}`)

const unknown = (name: string): never => {
  const near = featureKeys.find((key) => key === `feature:${name}`) ?? nearest(name, overrideNames)
  return fail(
    'invalid_input',
    `--override ${name}: no such limit or feature; ${near ? `did you mean ${near}?` : `there are ${overrideNames.join(', ')}`}`,
  )
}

/**
 * Applies `entries` such as `posts=100`, `reads_payg=500000` and `feature:rules=on`. The value
 * `default` removes an override. Throws `invalid_input`.
 */
export const withOverrides = (before: PlanOverrides, entries: readonly string[]): PlanOverrides => {
  const { features: switched = {}, ...numbers } = before
  const next = {
    numbers: new Map(Object.entries(numbers)),
    features: new Map(Object.entries(switched)),
  }
  for (const entry of entries) {
    const [name = '', value = ''] = entry.split(/=(.*)/s)
    const feature = features.find((one) => name === `feature:${one}`)
    if (feature) put(next.features, feature, value === DEFAULT ? undefined : switchOf(name, value))
    else if (limitKeys.some((key) => key === name))
      put(next.numbers, name, value === DEFAULT ? undefined : numberOf(name, value))
    else unknown(name)
  }
  const own = Object.fromEntries(next.features) as Partial<Record<PlanFeature, boolean>>
  return {
    ...Object.fromEntries(next.numbers),
    ...(next.features.size > 0 ? { features: own } : {}),
  }
}

const put = <V>(into: Map<string, V>, name: string, value: V | undefined): void => {
  if (value === undefined) into.delete(name)
  else into.set(name, value)
}
