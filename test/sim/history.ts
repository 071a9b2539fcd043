/** Histories as data: what people, processes, the network and time do, one step after the other. */
import { bodies } from '#test/domain/posting-commands'
import { HOUR, MINUTE } from '#test/domain/records'

/** What really becomes of a request, and how it looks from here; nothing is answered where `answersInMs` is null. */
export interface Fate {
  appliesInMs: number | null
  answersInMs: number | null
  answer: 'posted' | 'refused' | 'rate_limited' | 'unreachable' | 'disconnected' | 'unknown'
}

export const fates: Record<string, Fate> = {
  posted: { appliesInMs: 0, answersInMs: 300, answer: 'posted' },
  'posted slowly': { appliesInMs: 6_000, answersInMs: 9_000, answer: 'posted' },
  refused: { appliesInMs: null, answersInMs: 200, answer: 'refused' },
  'rate limited': { appliesInMs: null, answersInMs: 100, answer: 'rate_limited' },
  unreachable: { appliesInMs: null, answersInMs: 50, answer: 'unreachable' },
  disconnected: { appliesInMs: null, answersInMs: 100, answer: 'disconnected' },
  'answer lost, posted': { appliesInMs: 0, answersInMs: 400, answer: 'unknown' },
  'no answer, posted': { appliesInMs: 0, answersInMs: null, answer: 'unknown' },
  'no answer, posted late': { appliesInMs: 15_000, answersInMs: null, answer: 'unknown' },
  'no answer, posted very late': { appliesInMs: 2 * HOUR, answersInMs: null, answer: 'unknown' },
  'answer lost, not posted': { appliesInMs: null, answersInMs: 400, answer: 'unknown' },
  'no answer, not posted': { appliesInMs: null, answersInMs: null, answer: 'unknown' },
}

/** What a read of the timeline shows: posts younger than `lagMs` are missing, texts are cut at `cutAt` characters. */
export interface View {
  fails: 'no' | 'incomplete' | 'error'
  lagMs: number
  cutAt: number | null
}

export const CLEAR: View = { fails: 'no', lagMs: 0, cutAt: null }

export type Step =
  | { do: 'approve'; item: number; body?: string }
  | { do: 'reject' | 'unschedule' | 'post' | 'mark posted'; item: number }
  | { do: 'schedule'; item: number; inMs: number; onMissed: 'post' | 'skip' }
  | { do: 'edit'; item: number; body?: string; account?: string }
  | { do: 'pause' | 'resume' | 'disconnect' | 'crash' | 'takeover' | 'stop' }
  | { do: 'connect' | 'default' | 'post by hand'; account: string }
  /** The lane that has waited longest before its send, or that of the former owner, goes on. */
  | { do: 'send'; fate: string; which: 'first' | 'last' }
  | { do: 'wait'; ms: number }
  | { do: 'see'; view: View }
  | { do: 'break database'; letters: ('before' | 'after')[] }

type Next = () => number
const among = <T>(all: readonly T[], next: Next): T => all[Math.floor(next() * all.length)]!

const accounts = ['one', 'two']
const item = (next: Next) => Math.floor(next() * bodies.length)
const [TELLING, AMBIGUOUS] = [60, 44]

/** Every kind of step, the number saying how often it comes; those that carry items forward come more often. */
const makers: [number, (next: Next) => Step][] = [
  [5, (next) => ({ do: 'approve', item: item(next), ...(next() < 0.3 ? { body: among(bodies, next) } : {}) })],
  [5, (next) => ({ do: 'post', item: item(next) })],
  [
    5,
    (next) => ({
      do: 'schedule',
      item: item(next),
      inMs: among([-30_000, 0, 3_000, 10 * MINUTE], next),
      onMissed: among(['post', 'skip'], next),
    }),
  ],
  [12, (next) => ({ do: 'send', fate: among(Object.keys(fates), next), which: next() < 0.8 ? 'first' : 'last' })],
  [10, (next) => ({ do: 'wait', ms: among([100, 1_000, 5_000, 11_000, 11_000, 20_000, 40_000, 70_000], next) })],
  [0.3, (next) => ({ do: 'wait', ms: among([11 * MINUTE, HOUR, 2 * HOUR], next) })],
  [1, (next) => ({ do: 'reject', item: item(next) })],
  [1, (next) => ({ do: 'unschedule', item: item(next) })],
  [1, (next) => ({ do: 'mark posted', item: item(next) })],
  [1, (next) => ({ do: 'edit', item: item(next), ...(next() < 0.7 ? { body: 'Nobody approved this.' } : { account: 'two' }) })],
  [1.5, () => ({ do: 'pause' })],
  [2, () => ({ do: 'resume' })],
  [0.8, () => ({ do: 'disconnect' })],
  [1.5, (next) => ({ do: 'connect', account: among(accounts, next) })],
  [0.7, (next) => ({ do: 'default', account: among(accounts, next) })],
  [1.5, () => ({ do: 'crash' })],
  [1.5, () => ({ do: 'takeover' })],
  [0.7, () => ({ do: 'stop' })],
  [0.5, (next) => ({ do: 'post by hand', account: among(accounts, next) })],
  [1, (next) => ({ do: 'see', view: viewOf(next) })],
  [
    1,
    (next) => ({
      do: 'break database',
      letters: Array.from({ length: 1 + Math.floor(next() * 3) }, () => among(['before', 'after'], next)),
    }),
  ],
]

const viewOf = (next: Next): View => ({
  fails: among(['no', 'no', 'no', 'incomplete', 'error'], next),
  lagMs: among([0, 0, 2_000, 40_000], next),
  cutAt: among([null, null, TELLING, AMBIGUOUS], next),
})

const total = makers.reduce((sum, [weight]) => sum + weight, 0)

const step = (next: Next): Step => {
  let at = next() * total
  for (const [weight, make] of makers) {
    at -= weight
    if (at < 0) return make(next)
  }
  return { do: 'resume' }
}

/** The common way of one item in one go, so that histories get far enough for items to get in each other's way. */
const wholeWay = (next: Next): Step[] => {
  const of = item(next)
  const onMissed = 'post'
  const asked: Step = next() < 0.5 ? { do: 'post', item: of } : { do: 'schedule', item: of, inMs: 0, onMissed }
  return [{ do: 'approve', item: of }, asked, { do: 'send', fate: among(Object.keys(fates), next), which: 'first' }]
}

const WHOLE = 0.2

/** A history of up to `longest` steps, and a few more, decided by the numbers alone. */
export const historyFrom = (next: Next, longest: number): Step[] => {
  const steps: Step[] = []
  const length = 1 + Math.floor(next() * longest)
  while (steps.length < length) steps.push(...(next() < WHOLE ? wholeWay(next) : [step(next)]))
  return steps
}
