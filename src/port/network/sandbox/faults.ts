import { uniform } from '#kernel/random'

/**
 * How the sandbox misbehaves, like real networks. `500` and `429` answer without applying the post.
 * `slow` applies it after the caller's deadline. `applied502` and `drop` apply it at once, and
 * answer with an error or not at all.
 */
const NAMES = ['500', '429', 'slow', 'applied502', 'drop'] as const

type FaultName = (typeof NAMES)[number]

export interface SandboxFaults {
  /** The probability of each fault for each publish; at most 1 in total. */
  rates: Readonly<Record<FaultName, number>>
  /** Timelines miss posts younger than this. */
  lagMs: number
  /** The seed of the draws: an integer from 0 to 2^32 - 1. */
  seed: number
}

export interface Draw {
  fault: FaultName | 'none'
  /** For `slow`: how long after the deadline the post is applied, 1,000 to 3,000 ms. */
  lateMs: number
}

const MAX_SEED = 2 ** 32 - 1
const LATE_FROM_MS = 1_000
const LATE_SPAN_MS = 2_000
/** Tolerance for sums of decimal fractions, which can come out slightly too large. */
const ROUNDING = 1e-9

const KNOWN = `${NAMES.join(', ')}, lag and seed`

/**
 * The faults of successive publishes. Each call takes exactly one number of the seeded sequence, so
 * equal settings misbehave equally, call for call. The unit interval is divided among the faults in
 * a fixed order; the position within the share of `slow` sets its delay. A new process starts the
 * sequence again.
 */
export const drawsOf = ({ rates, seed }: SandboxFaults): (() => Draw) => {
  const next = uniform(seed)
  return () => {
    let rest = next()
    for (const fault of NAMES) {
      const rate = rates[fault]
      if (rest < rate)
        return { fault, lateMs: fault === 'slow' ? LATE_FROM_MS + (LATE_SPAN_MS * rest) / rate : 0 }
      rest -= rate
    }
    return { fault: 'none', lateMs: 0 }
  }
}

const invalid = (problem: string): never => {
  throw new Error(`SANDBOX_FAULTS: ${problem}`)
}

const isFault = (name: string): name is FaultName => NAMES.some((known) => known === name)

const rateFrom = (name: string, value: string): number => {
  const rate = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value) ? Number(value) : Number.NaN
  return rate >= 0 && rate <= 1
    ? rate
    : invalid(`${name} is a probability from 0 to 1, not "${value}"`)
}

const lagFrom = (value: string): number => {
  const [, amount, unit] =
    /^(\d+(?:\.\d+)?)(ms|s)$/.exec(value) ??
    invalid(`lag is a time such as 2s or 500ms, not "${value}"`)
  return Math.round(Number(amount) * (unit === 's' ? 1_000 : 1))
}

const seedFrom = (value: string): number =>
  /^\d{1,10}$/.test(value) && Number(value) <= MAX_SEED
    ? Number(value)
    : invalid(`seed is an integer from 0 to ${MAX_SEED}, not "${value}"`)

const settingsOf = (spec: string): Map<string, string> => {
  const settings = new Map<string, string>()
  for (const part of spec.split(/[,;]/)) {
    if (part.trim() === '') continue
    const [, name = '', value = ''] =
      /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(part) ??
      invalid(`"${part.trim()}" is not of the form name=value`)
    if (settings.has(name)) invalid(`${name} must not be given twice`)
    settings.set(name, value)
  }
  return settings
}

/**
 * Reads `500=0.05,429=0.03,slow=0.04,applied502=0.08,drop=0.05,lag=2s;seed=7`. Every part is
 * optional, in any order, separated by commas or semicolons. An empty text means no faults; the
 * default seed is 0. Throws an Error that says what is wrong.
 */
export const parseFaults = (spec: string): SandboxFaults => {
  const rates: Record<FaultName, number> = { 500: 0, 429: 0, slow: 0, applied502: 0, drop: 0 }
  let lagMs = 0
  let seed = 0
  for (const [name, value] of settingsOf(spec)) {
    if (name === 'lag') lagMs = lagFrom(value)
    else if (name === 'seed') seed = seedFrom(value)
    else if (isFault(name)) rates[name] = rateFrom(name, value)
    else invalid(`unknown name "${name}"; known are ${KNOWN}`)
  }
  const sum = Object.values(rates).reduce((total, rate) => total + rate, 0)
  if (sum > 1 + ROUNDING)
    invalid(`the probabilities add up to ${Number(sum.toFixed(6))}, more than 1`)
  return { rates, lagMs, seed }
}
