import type { Log } from '#kernel/log'
import type { Postmaster } from './postmaster.ts'

const RESTARTS = 5
const FIRST_PAUSE_MS = 250
/** After so long without a failure the next one counts as the first. */
const STEADY_MS = 60_000

/**
 * Watches a database: when it ends unasked, says so and starts it again, up to five times in a row with growing pauses.
 * Disposing ends it.
 */
export const supervise = (first: Postmaster, restart: () => Promise<Postmaster>, log: Log): AsyncDisposable => {
  const stopping = Promise.withResolvers<void>()
  let current: Postmaster | undefined = first
  let disposed = false

  const again = async (failures: number): Promise<void> => {
    await Promise.race([Bun.sleep(FIRST_PAUSE_MS * 2 ** (failures - 1)), stopping.promise])
    if (disposed) return
    try {
      current = await restart()
      log.warn('the embedded database runs again')
    } catch (error) {
      log.error({ err: error }, 'the embedded database could not be started again')
    }
  }

  const watch = async (): Promise<void> => {
    for (let failures = 0; failures < RESTARTS && !disposed; ) {
      const since = performance.now()
      await Promise.race([current?.ended, stopping.promise])
      if (disposed) return
      if (current) {
        log.error('the embedded database died')
        // Its watcher may still be there, or a Postgres that lost only its wrapper.
        await current.stop()
        current = undefined
      }
      failures = performance.now() - since > STEADY_MS ? 1 : failures + 1
      await again(failures)
    }
    if (!disposed) log.fatal('the embedded database stays down: see the messages before, then start the server again')
  }

  const watching = watch()
  return {
    async [Symbol.asyncDispose]() {
      disposed = true
      stopping.resolve()
      await watching
      await current?.stop()
    },
  }
}
