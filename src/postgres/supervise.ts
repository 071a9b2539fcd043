import { statfsSync } from 'node:fs'
import type { Log } from '#kernel/log'
import type { Postmaster } from './postmaster.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000
/** After this long without a failure, the next one counts as the first. */
const STEADY_MS = 60_000
/** A start after a crash may need two new files of the write-ahead log, of 16 MiB each. */
const ROOM_BYTES = 2 * 16 * 1024 ** 2
/** How often a full disk is checked: free space is noticed this soon. */
const ROOM_POLL_MS = 100

export interface Supervision {
  /** The folder whose disk the database writes to. */
  data: string
  restart(): Promise<Postmaster>
  log: Log
  /** The longest pause between two starts. */
  longestPauseMs?: number
}

/** Bytes that the database can still write; unknown counts as plenty. */
const roomIn = (folder: string): number => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/**
 * Watches a database. If it ends unasked, this says so and starts it again, for as long as it takes, with pauses that grow up to eight
 * seconds. On a full disk it starts as soon as there is room, or after the pause, because it may need none. Disposing ends the database.
 */
export const supervise = (first: Postmaster, { data, restart, log, longestPauseMs = LONGEST_PAUSE_MS }: Supervision): AsyncDisposable => {
  const stopping = Promise.withResolvers<void>()
  let current: Postmaster | undefined = first
  let disposed = false

  const pause = async (failures: number): Promise<void> => {
    const full = roomIn(data) < ROOM_BYTES
    if (full)
      log.fatal(
        { folder: data, free_bytes: roomIn(data) },
        'the disk of the embedded database is full: free some space, and it restarts by itself',
      )
    const until = performance.now() + (full ? longestPauseMs : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), longestPauseMs))
    for (let left = 1; left > 0 && !disposed && !(full && roomIn(data) >= ROOM_BYTES); left = until - performance.now())
      await Promise.race([Bun.sleep(Math.min(left, ROOM_POLL_MS)), stopping.promise])
  }

  const again = async (failures: number): Promise<void> => {
    await pause(failures)
    if (disposed) return
    try {
      current = await restart()
      log.warn('the embedded database has restarted')
    } catch (error) {
      log.error({ err: error, failures }, 'could not restart the embedded database; will retry')
    }
  }

  const watch = async (): Promise<void> => {
    for (let failures = 0; !disposed; ) {
      const since = performance.now()
      await Promise.race([current?.ended, stopping.promise])
      if (disposed) return
      if (current) {
        log.error('the embedded database died')
        // Its watcher may still run, or a Postgres that lost only its wrapper.
        await current.stop()
        current = undefined
      }
      failures = performance.now() - since > STEADY_MS ? 1 : failures + 1
      await again(failures)
    }
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
