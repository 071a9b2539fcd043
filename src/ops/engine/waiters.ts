/** Requests of this process that wait for something to happen. */
import { FairLimit } from '#kernel/fair-limit'
import type { Principal } from '#store/engine/principal'

/**
 * Each asks the database four times a second. A party is a credential. One that gives up its place
 * is answered with what there is.
 */
const LIMITS = { name: 'agent_waiting', share: 20, perWorkspace: 60, total: 200, retryAfter: 5 }
const EVERY_MS = 250

interface Waiting {
  tenantId: string
  caller: Principal
  waitMs: number
}

export interface Poller {
  /**
   * Looks again and again until `isReady`, or until the time is over. Throws
   * `rate_limited:agent_waiting` if too many wait.
   */
  until<T>(look: () => Promise<T>, isReady: (seen: T) => boolean, at: Waiting): Promise<T>
}

export const createPoller = (): Poller => {
  const slots = new FairLimit(LIMITS)
  return {
    async until(look, isReady, { tenantId, caller, waitMs }) {
      const until = performance.now() + waitMs
      let seen = await look()
      if (waitMs === 0 || isReady(seen)) return seen
      const ended = Promise.withResolvers<void>()
      let isOver = false
      const giveUp = () => {
        isOver = true
        ended.resolve()
      }
      const release = slots.take({ party: caller.id, workspace: tenantId, giveUp })
      try {
        while (!isOver && !isReady(seen)) {
          const left = until - performance.now()
          await Promise.race([Bun.sleep(Math.max(0, Math.min(EVERY_MS, left))), ended.promise])
          seen = await look()
          isOver ||= left <= EVERY_MS
        }
        return seen
      } finally {
        release()
      }
    },
  }
}
