/** Requests of this process that wait for something to happen. */
import { fail } from '#kernel/errors'
import type { Principal } from '#store/engine/principal'

/** Each asks the database four times a second. */
const MOST = 200
const MOST_OF_CALLER = 20
const EVERY_MS = 250
const RETRY_AFTER = 5

export interface Waiters {
  /** Looks again and again until `isReady`, or until the time is over. Throws `rate_limited:agent_waiting` if too many wait. */
  until<T>(look: () => Promise<T>, isReady: (seen: T) => boolean, at: { caller: Principal; waitMs: number }): Promise<T>
}

export const createWaiters = (): Waiters => {
  const byCaller = new Map<string, number>()
  let all = 0
  const enter = (id: string) => {
    const own = byCaller.get(id) ?? 0
    if (all >= MOST || own >= MOST_OF_CALLER) fail('rate_limited', 'agent_waiting', { retryAfter: RETRY_AFTER })
    all++
    byCaller.set(id, own + 1)
  }
  const leave = (id: string) => {
    all--
    const own = byCaller.get(id)! - 1
    if (own === 0) byCaller.delete(id)
    else byCaller.set(id, own)
  }
  const waiting = async <T>(look: () => Promise<T>, isReady: (seen: T) => boolean, until: number): Promise<T> => {
    for (;;) {
      const left = until - performance.now()
      await Bun.sleep(Math.max(0, Math.min(EVERY_MS, left)))
      const seen = await look()
      if (isReady(seen) || left <= EVERY_MS) return seen
    }
  }
  return {
    async until(look, isReady, { caller, waitMs }) {
      const until = performance.now() + waitMs
      const seen = await look()
      if (waitMs === 0 || isReady(seen)) return seen
      enter(caller.id)
      try {
        return await waiting(look, isReady, until)
      } finally {
        leave(caller.id)
      }
    },
  }
}
