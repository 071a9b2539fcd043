/** Ends a backup that would harm the database, or that nobody takes the bytes of. */
import { type Clock, sleep } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Pace } from './pace.ts'
import { inMib, requireFreeDisk } from './room.ts'

export interface BackupLimits {
  /** How much of the write-ahead log a backup may keep from removal. */
  mostHeldBytes: number
  /** The share of the database's disk that must stay free. */
  leastFree: number
  /** How often both are looked at. */
  everyMs: number
  /** How long a backup may go on without getting rid of a byte. */
  stalledMs: number
}

export interface Watched {
  pace: Pace
  clock: Clock
  limits: BackupLimits
  /** Of the embedded database: its data, and what a backup of its files holds back. */
  database?: { data: string; heldBytes(): Promise<number> } | undefined
  onHeld?: ((bytes: number) => void) | undefined
  /** Gives the backup up. */
  signal?: AbortSignal | undefined
}

/** How long the database may take to say what it holds back. */
const ANSWER_MS = 30_000

const STOPPED = new AppError('unavailable', 'the backup was given up, because the server stops')

/** The result of `step`, if it comes soon enough. */
const within = async <T>(clock: Clock, ms: number, step: Promise<T>): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const why = `the backup was given up: the database has not answered for ${ms / 1_000} s`
  using _timer = clock.after(ms, () => reject(new AppError('unavailable', why)))
  step.catch(() => {})
  return await Promise.race([step, late])
}

/** Closes what nobody waits for any more, if it is open. */
const close = async (late: unknown): Promise<void> => {
  await (late as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.()
}

/**
 * The result of `step`, unless the signal comes first; what `step` opens after that is closed. For
 * whatever comes before there is a watch: a database may take minutes to begin a backup.
 */
export const unlessStopped = async <T>(
  signal: AbortSignal | undefined,
  step: () => Promise<T>,
): Promise<T> => {
  if (!signal) return await step()
  if (signal.aborted) throw STOPPED
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(STOPPED)
  signal.addEventListener('abort', stop)
  const running = step()
  try {
    return await Promise.race([running, stopped])
  } catch (cause) {
    running.then(close).catch(() => {})
    throw cause
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

export class BackupWatch implements Disposable {
  readonly #given = Promise.withResolvers<never>()
  #reason: unknown
  #isOver = false

  constructor(private readonly watched: Watched) {
    this.#given.promise.catch(() => {})
    if (watched.signal?.aborted) this.#stop()
    watched.signal?.addEventListener('abort', this.#stop)
    void this.#look()
  }

  /** Throws if the backup has been given up. */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  readonly #stop = (): void => this.#giveUp(STOPPED)

  /** The result of `step`, unless the backup is given up before. */
  unless<T>(step: Promise<T>): Promise<T> {
    step.catch(() => {})
    return Promise.race([step, this.#given.promise])
  }

  #giveUp(reason: unknown): void {
    this.#reason ??= reason
    this.#given.reject(this.#reason)
  }

  async #look(): Promise<void> {
    const { clock, limits } = this.watched
    let [taken, since] = [0, clock.monotonic()]
    while (!this.#isOver && this.#reason === undefined) {
      try {
        await this.#lookAtDatabase()
      } catch (cause) {
        if (!this.#isOver) this.#giveUp(cause)
        return
      }
      const now = clock.monotonic()
      if (this.watched.pace.taken !== taken) [taken, since] = [this.watched.pace.taken, now]
      if (now - since > limits.stalledMs)
        this.#giveUp(
          new AppError(
            'unavailable',
            `the backup was given up: no byte of it was read and written for ${limits.stalledMs / 1_000} s`,
          ),
        )
      await sleep(clock, limits.everyMs)
    }
  }

  async #lookAtDatabase(): Promise<void> {
    const { clock, database, limits, onHeld } = this.watched
    if (!database) return
    const held = await within(clock, ANSWER_MS, database.heldBytes())
    onHeld?.(held)
    if (held > limits.mostHeldBytes)
      throw new AppError(
        'unavailable',
        `the backup was given up, and its slot dropped: it held back ${inMib(held)} of the write-ahead log, and may hold ${inMib(limits.mostHeldBytes)}; give it more MB a second, or a time with fewer writes`,
      )
    requireFreeDisk(database.data, limits.leastFree)
  }

  /** Stops looking. */
  [Symbol.dispose](): void {
    this.#isOver = true
    this.watched.signal?.removeEventListener('abort', this.#stop)
  }
}
