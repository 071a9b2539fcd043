import { statfsSync } from 'node:fs'
import type { Log } from '#kernel/log'
import type { Postmaster } from './postmaster.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000
/** After this long without a failure, the next one counts as the first. */
const STEADY_MS = 60_000
/** A start after a crash may need two new files of the write-ahead log, 16 MiB each. */
const ROOM_BYTES = 2 * 16 * 1024 ** 2
/** How often a full disk is checked, and so how soon free space is noticed. */
const ROOM_POLL_MS = 100

export interface Supervision {
  /** The folder whose disk the database writes to. */
  data: string
  restart(): Promise<Postmaster>
  log: Log
  /** The longest pause between two starts. */
  longestPauseMs?: number
}

/** How many bytes the database can still write. If that is unknown, it counts as plenty. */
const roomIn = (folder: string): number => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

class Supervisor implements AsyncDisposable {
  readonly #stopping = Promise.withResolvers<void>()
  readonly #watching: Promise<void>
  #current: Postmaster | undefined
  #stopped = false

  constructor(
    first: Postmaster,
    private readonly options: Required<Supervision>,
  ) {
    this.#current = first
    this.#watching = this.#watch()
  }

  async #watch(): Promise<void> {
    for (let failures = 0; !this.#stopped; ) {
      const since = performance.now()
      await Promise.race([this.#current?.ended, this.#stopping.promise])
      if (this.#stopped) return
      if (this.#current) {
        this.options.log.error('the embedded database died')
        // Its watcher may still be running, or a Postgres that lost only its wrapper.
        await this.#current.stop()
        this.#current = undefined
      }
      failures = performance.now() - since > STEADY_MS ? 1 : failures + 1
      await this.#pause(failures)
      if (!this.#stopped) await this.#restart(failures)
    }
  }

  async #pause(failures: number): Promise<void> {
    const { data, log, longestPauseMs } = this.options
    const full = roomIn(data) < ROOM_BYTES
    if (full)
      log.fatal(
        { folder: data, free_bytes: roomIn(data) },
        'the disk of the embedded database is full: free some space, and it restarts by itself',
      )
    const until =
      performance.now() +
      (full ? longestPauseMs : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), longestPauseMs))
    for (
      let left = 1;
      left > 0 && !this.#stopped && !(full && roomIn(data) >= ROOM_BYTES);
      left = until - performance.now()
    )
      await Promise.race([Bun.sleep(Math.min(left, ROOM_POLL_MS)), this.#stopping.promise])
  }

  async #restart(failures: number): Promise<void> {
    const { restart, log } = this.options
    try {
      this.#current = await restart()
      log.warn('the embedded database has restarted')
    } catch (error) {
      log.error({ err: error, failures }, 'could not restart the embedded database; will retry')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#stopping.resolve()
    await this.#watching
    await this.#current?.stop()
  }
}

/**
 * Watches a database. If it ends unasked, logs that and starts it again, for as long as it takes,
 * with pauses that grow up to eight seconds. On a full disk it starts as soon as there is room, or
 * after the pause, because it may need none. Disposing ends the database.
 */
export const supervise = (
  first: Postmaster,
  { longestPauseMs = LONGEST_PAUSE_MS, ...supervision }: Supervision,
): AsyncDisposable => new Supervisor(first, { ...supervision, longestPauseMs })
