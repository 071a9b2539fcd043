/**
 * What one thing costs in statements, counted where the client sends them. The costs that are
 * allowed are in test/data/round-trips/; UPDATE_ROUND_TRIPS=1 with
 * `npm test -- test/flow/round-trips` writes today's there.
 *
 * A cost has a term for each transaction, in order: `7c` is one of seven statements, `begin` and
 * `commit` included; `5r` one of five that was rolled back, because there was nothing to write. A
 * term without a letter counts reads outside of transactions.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ChangeHint } from '#decisions/app/hints'
import { type Clock, systemClock } from '#kernel/clock'
import type { StatementWatch } from '#store/engine/db'
import { letterOf } from '../actors/letters.ts'
import { type AppOptions, eventually, type TestApp, testApp } from '../app.ts'
import { heldDrafter } from '../model/held-drafter.ts'
import { freshDb } from './db.ts'
import { hearAll } from './heard-hints.ts'

interface Sent {
  pool: Parameters<StatementWatch>[0]
  text: string
}

/** The statements of one transaction, or those sent outside of any. */
type Term = Sent[]

export interface Cost {
  /** Such as `7c 5r`. */
  text: string
  /** The beginnings of the statements, a line each, with an empty line between terms. */
  shown: string
  /** The cost without its first transaction. */
  rest(): Cost
  /** The hints of all of it, and the statements. */
  hints: readonly ChangeHint[]
  texts: readonly string[]
}

export interface CountedApp extends AsyncDisposable {
  app: TestApp
  /** The cost of `run` and of everything that follows from it, until nothing runs or waits. */
  cost(run: () => Promise<unknown>): Promise<Cost>
  /** The cost of the work that is due in the workspace now. */
  costOfDue(tenantId: string): Promise<Cost>
  idle(): Promise<void>
}

/** A timer sooner than this belongs to the count in progress. */
const SOON_MS = 200
/**
 * Longer than the time between two beats of a process. A timer later than this would disturb
 * another count: it never fires.
 */
const LATE_MS = 3_000
/** Longer than any run of the tests. */
const NEVER = { everyMs: 3_600_000 }

/**
 * The clock stands still, so that a slow machine leaves no letter out of a group. `waiting`: timers
 * that are about to fire.
 */
const standingClock = (): Clock & { waiting: Set<unknown> } => {
  const waiting = new Set<unknown>()
  return {
    waiting,
    monotonic: () => 0,
    after(ms, wake) {
      if (ms > LATE_MS) return { [Symbol.dispose]() {} }
      const timer = systemClock.after(ms, () => {
        waiting.delete(timer)
        wake()
      })
      if (ms < SOON_MS) waiting.add(timer)
      return {
        [Symbol.dispose]() {
          waiting.delete(timer)
          timer[Symbol.dispose]()
        },
      }
    },
  }
}

const isEnd = (text: string): boolean => /^(commit|rollback)/.test(text)

const termsOf = (sent: Sent[]): Term[] => {
  const terms: Term[] = []
  for (const one of sent) {
    const last = terms.at(-1)
    const isOpen =
      last?.[0]?.pool === one.pool && !(one.pool === 'letters' && isEnd(last.at(-1)!.text))
    if (isOpen) last.push(one)
    else terms.push([one])
  }
  return terms
}

const textOf = (term: Term): string => {
  const end = term.at(-1)!.text
  return `${term.length}${end.startsWith('commit') ? 'c' : isEnd(end) ? 'r' : ''}`
}

const SCOPE = /^select \w\.\* from \(select set_config.*? offset 0\) scope cross join lateral \(/

const beginningOf = ({ text }: Sent): string =>
  text.replace(/\s+/g, ' ').trim().replace(SCOPE, '').slice(0, 90)

const costOf = (terms: Term[], heard: Pick<Cost, 'hints' | 'texts'>): Cost => ({
  ...heard,
  text: terms.map(textOf).join(' '),
  shown: terms.map((term) => term.map((one) => `  ${beginningOf(one)}`).join('\n')).join('\n\n'),
  rest: () => costOf(terms.slice(1), heard),
})

/** An app whose statements are counted while one thing happens at a time. */
export const countedApp = async (options: AppOptions = {}): Promise<CountedApp> => {
  await using stack = new AsyncDisposableStack()
  const database = options.database ?? stack.use(await freshDb()).options
  const sent: Sent[] = []
  const onStatement: StatementWatch = (pool, text) => void sent.push({ pool, text })
  const clock = standingClock()
  const held = heldDrafter()
  held.release()
  // Statements that a process repeats are not counted.
  const still = { sweepMs: 0, sweep: NEVER, erasure: { ...NEVER, rows: 1 } }
  const overrides = { drafter: held.drafter, clock, ...still, ...options.overrides }
  const app = stack.use(
    await testApp({ ...options, database: { ...database, onStatement }, overrides }),
  )
  const heard = hearAll(app)
  const idle = async () => {
    if (await eventually(() => app.workplace.runtime.idle && clock.waiting.size === 0, Boolean))
      return
    throw new Error('something runs or waits without end')
  }
  const cost = async (run: () => Promise<unknown>): Promise<Cost> => {
    await idle()
    // A letter that changed nothing is over before the database has rolled it back. Until then its
    // workspace is locked, so the next letter would leave the shared transaction.
    await app.owner`select from actor for no key update`
    sent.length = 0
    heard.length = 0
    await run()
    await idle()
    const texts = sent.map(({ text }) => text)
    return costOf(termsOf([...sent]), { hints: [...heard], texts })
  }
  const wake = letterOf<void>(() => ({ reply: undefined, polled: { next: 0, dueIn: 0 } }))
  const owned = stack.move()
  return {
    app,
    cost,
    idle,
    costOfDue: async (tenantId) =>
      (await cost(() => app.workplace.world.ask(tenantId, wake))).rest(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Section = 'reads' | 'commands' | 'work'

const fileOf = (section: Section): URL =>
  new URL(`../../data/round-trips/${section}.json`, import.meta.url)

/** The cost that is allowed, by name. */
const read = (section: Section): Record<string, string> =>
  JSON.parse(readFileSync(fileOf(section), 'utf8'))

const set = (section: Section, name: string, cost: string): void => {
  const costs = Object.entries({ ...read(section), [name]: cost }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  writeFileSync(fileOf(section), `${JSON.stringify(Object.fromEntries(costs), null, 2)}\n`)
}

/** The names in a section of the table. */
export const namesOf = (section: Section): string[] => Object.keys(read(section))

/** Throws if the cost is not the one in the table, neither more nor less. */
export const expectCost = (section: Section, name: string, { text, shown }: Cost): void => {
  const allowed = read(section)[name]
  if (allowed === text) return
  if (process.env.UPDATE_ROUND_TRIPS) set(section, name, text)
  else throw new Error(`${name}: allowed ${allowed ?? 'nothing'}, counted ${text}\n${shown}`)
}
