/**
 * Histories as data: what people, processes, the network and time do, one step after the other.
 * What each does is in actions.ts.
 */
import { MINUTE } from '#test/domain/records'

/**
 * What really becomes of a request, and how it looks from here; nothing is answered where
 * `answersInMs` is null.
 */
export interface Fate {
  appliesInMs: number | null
  answersInMs: number | null
  answer:
    | 'posted'
    | 'refused'
    | 'rate_limited'
    | 'unreachable'
    | 'disconnected'
    | 'unknown'
    | 'server_error'
}

export const fates: Record<string, Fate> = {
  posted: { appliesInMs: 0, answersInMs: 300, answer: 'posted' },
  'posted slowly': { appliesInMs: 6_000, answersInMs: 9_000, answer: 'posted' },
  refused: { appliesInMs: null, answersInMs: 200, answer: 'refused' },
  'rate limited': { appliesInMs: null, answersInMs: 100, answer: 'rate_limited' },
  unreachable: { appliesInMs: null, answersInMs: 50, answer: 'unreachable' },
  disconnected: { appliesInMs: null, answersInMs: 100, answer: 'disconnected' },
  '5xx, posted': { appliesInMs: 0, answersInMs: 400, answer: 'server_error' },
  '5xx, posted late': { appliesInMs: 45_000, answersInMs: 400, answer: 'server_error' },
  '5xx, not posted': { appliesInMs: null, answersInMs: 400, answer: 'server_error' },
  'dropped, posted': { appliesInMs: 0, answersInMs: null, answer: 'unknown' },
  'dropped, posted late': { appliesInMs: 15_000, answersInMs: null, answer: 'unknown' },
  'dropped, not posted': { appliesInMs: null, answersInMs: null, answer: 'unknown' },
}

/**
 * So long after the request that only a late look finds it; comes seldom, for the time that it
 * takes.
 */
const veryLate: Record<string, Fate> = {
  'dropped, posted very late': { appliesInMs: 45 * MINUTE, answersInMs: null, answer: 'unknown' },
}

/**
 * What a network that promises nothing makes of a request that it answers with an error: applied
 * later than any promise would have it.
 */
export const BROKEN_PROMISE: Fate = { ...fates['5xx, posted late']!, appliesInMs: 3 * MINUTE }

/**
 * The promise of a network that gives one, in milliseconds: what it answers with an error is
 * applied and shows by then.
 */
export const APPLIES_WITHIN_MS = 90_000

export const fateNamed = (name: string): Fate => (fates[name] ?? veryLate[name])!

/**
 * What a read of the timeline shows: posts younger than `lagMs` are missing, texts are cut at
 * `cutAt` characters.
 */
export interface View {
  fails: 'no' | 'incomplete' | 'error'
  lagMs: number
  cutAt: number | null
}

export const CLEAR: View = { fails: 'no', lagMs: 0, cutAt: null }

/** What a network that refuses for the moment asks us to wait. */
export const RETRY_AFTER_MS = 20_000

/** Cut here, a text can be told from the others, or not. */
export const [TELLING, AMBIGUOUS] = [60, 44]

/**
 * One step as data, so that a history can be printed and run again. `rush`: the next one follows
 * before this one has had effect.
 */
export interface Step {
  do: string
  rush?: true
  [argument: string]: unknown
}

/** A stream of numbers in [0, 1). */
export type Next = () => number

/** How often a kind of step comes, and with what. */
export interface Maker {
  weight: number
  make(next: Next): object
}

export const among = <T>(all: readonly T[], next: Next): T => all[Math.floor(next() * all.length)]!

const [usual, seldom] = [Object.keys(fates), Object.keys(veryLate)]
export const someFate = (next: Next): string => among(next() < 0.02 ? seldom : usual, next)

/** What goes wrong with the next transactions, of so many at most. */
export const failures = (most: number, next: Next) =>
  Array.from({ length: 1 + Math.floor(next() * most) }, () =>
    among(['before', 'after', 'beside', 'no', 'no'] as const, next),
  )

const RUSH = 0.08

const stepFrom = (makers: [string, Maker][], total: number, next: Next): Step => {
  let left = next() * total
  for (const [name, { weight, make }] of makers) {
    left -= weight
    if (left < 0)
      return { do: name, ...make(next), ...(next() < RUSH ? { rush: true as const } : {}) }
  }
  return { do: 'resume' }
}

/**
 * Gives histories of up to so many steps, and a few more, decided by the numbers alone. `ways`:
 * several steps that come in one go.
 */
export const histories = (
  makers: Record<string, Maker>,
  ways: { share: number; make(next: Next): Step[] },
) => {
  const named = Object.entries(makers)
  const total = named.reduce((sum, [, { weight }]) => sum + weight, 0)
  return (next: Next, longest: number): Step[] => {
    const steps: Step[] = []
    const length = 1 + Math.floor(next() * longest)
    while (steps.length < length)
      steps.push(...(next() < ways.share ? ways.make(next) : [stepFrom(named, total, next)]))
    return steps
  }
}
