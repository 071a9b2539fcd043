/** The tenants of no living process that have due work. */
import { forgetNudges, wakeable } from '#store/engine/placement'
import type { ActorDeps, HoldWatch } from './deps.ts'
import type { Unwakeable } from './unwakeable.ts'

/** How many wake at once. */
export const WAKE_AT_ONCE = 16
/**
 * While everything is stopped, what is due is not done and adds up, and each look goes through all
 * of it: it rests this long after a look. Nudges are found by the same look, and wait as long.
 */
const REST_MS = 2_000

interface DueDeps extends Pick<ActorDeps, 'db' | 'clock' | 'kinds'> {
  hold: HoldWatch
  unwakeable: Unwakeable
}

export class DueTenants {
  #restsUntil = 0

  constructor(private readonly deps: DueDeps) {}

  /**
   * `due`: those that have waited longest, without those that cannot be woken. `nudged`: tenants of
   * this process whose work changed without a letter.
   */
  async look(self: string): Promise<{ due: string[]; nudged: string[] }> {
    const { db, clock, kinds, hold, unwakeable } = this.deps
    if (hold.isStopped && clock.monotonic() < this.#restsUntil) return { due: [], nudged: [] }
    const { since, everywhere } = hold
    const held = since ? { since, kinds: kinds.whileHeld } : undefined
    const stop = held ?? (everywhere ? 'paused' : undefined)
    const found = await wakeable(db, self, WAKE_AT_ONCE + unwakeable.count(), stop)
    if (found.nudged.length > 0) await forgetNudges(db, self, found.nudged)
    const due = found.due.filter((tenantId) => !unwakeable.has(tenantId)).slice(0, WAKE_AT_ONCE)
    this.#restsUntil = due.length === WAKE_AT_ONCE ? 0 : clock.monotonic() + REST_MS
    return { due, nudged: found.nudged }
  }
}
