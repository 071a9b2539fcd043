/** Processes whose time is the test's. */
import { type Actors, type ActorsOptions, actorsOn, type Store } from './actors.ts'
import { eventually } from './eventually.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'

export type Frozen = Actors & { clock: ManualClock }

/** Longer than the time between two beats, so that there is one in it. */
export const BEAT_MS = 1_000
/** The next beat's. */
export const IDLE_TIMERS = 1

/** A process that beats when it is told to, and never looks for due tenants unless the options say so. */
export const frozenOn = async (store: Store, options: ActorsOptions = {}): Promise<Frozen> => {
  const clock = manualClock()
  return Object.assign(await actorsOn(store, { clock, sweepMs: 0, ...options }), { clock })
}

/** One beat, to its end. */
export const beat = async ({ clock }: { clock: ManualClock }): Promise<void> => {
  await clock.advance(BEAT_MS)
  await eventually(
    () => clock.pending,
    (armed) => armed === IDLE_TIMERS,
  )
}

/** Opens the connections that its beats use. */
export const warm = (one: { clock: ManualClock }): Promise<void> => beat(one)

/** Time passes for whoever waits by this clock; slower where the database is slow, so that it can answer within the waits. */
export const passing = async <T>({ owner }: Pick<Store, 'owner'>, clock: ManualClock, waiting: Promise<T>): Promise<T> => {
  let isOver = false
  const over = () => {
    isOver = true
  }
  waiting.then(over, over)
  while (!isOver) {
    await clock.advance(100)
    await owner`select pg_sleep(0.01)`
  }
  return waiting
}
