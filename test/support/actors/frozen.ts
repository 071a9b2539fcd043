/** Processes whose clock stands still until a test moves it. */
import { eventually } from '../eventually.ts'
import { type Actors, type ActorsOptions, actorsOn, type Store } from './actors.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'

export type Frozen = Actors & { clock: ManualClock }

/** Longer than the time between two beats, so that exactly one falls within it. */
export const BEAT_MS = 1_000
/** The timer of the next beat. */
export const IDLE_TIMERS = 1

/**
 * A process that beats only when the test says so, and does not look for due tenants unless
 * `options` ask for it.
 */
export const frozenOn = async (store: Store, options: ActorsOptions = {}): Promise<Frozen> => {
  const clock = manualClock()
  return Object.assign(await actorsOn(store, { clock, sweepMs: 0, ...options }), { clock })
}

/** One beat, until it is done. */
export const beat = async ({ clock }: { clock: ManualClock }): Promise<void> => {
  await clock.advance(BEAT_MS)
  await eventually(
    () => clock.pending,
    (armed) => armed === IDLE_TIMERS,
  )
}

/** Opens the connections that its beats use. */
export const warm = (one: { clock: ManualClock }): Promise<void> => beat(one)

/** Moves the clock until `waiting` settles, but no faster than the database can answer. */
export const passing = async <T>(
  { owner }: Pick<Store, 'owner'>,
  clock: ManualClock,
  waiting: Promise<T>,
): Promise<T> => {
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
