/**
 * This process's place among the others: a lease that it renews, a session lock that frees when it dies, and the judgement
 * of who else is dead. Wrong guesses are harmless, because every transaction is fenced; they only cost time.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import type { ConnectionOptions, Db } from '#store/db'
import { holdLock, LEASE_MS, leave, peers, register, remove, renew } from '#store/placement'

const BEAT_MS = 1_000
/** A connection that breaks drops its lock for a moment; longer than this, the process is gone. */
const UNLOCKED_MS = 1_000
/** Without a renewal for this long, this process counts itself out before the others do. */
const SELF_FENCE_MS = LEASE_MS * 0.8

export interface PlacementDeps {
  db: Db
  options: ConnectionOptions
  clock: Clock
  log: Log
  url: string
  /** The place was lost: nothing that was owned is owned any more. A new incarnation follows. */
  onLost(): void
}

export class Placement {
  #incarnation = randomUUID() as string
  #lockKey = 0n
  #lock: AsyncDisposable | undefined
  #locking: Promise<void> | undefined
  #renewedAt = 0
  #timer: Disposable | undefined
  #stopped = false
  /** Since when each other process has been seen without its lock. */
  readonly #unlockedSince = new Map<string, number>()

  constructor(private readonly deps: PlacementDeps) {}

  get incarnation(): string {
    return this.#incarnation
  }

  /** False once the lease may have run out: no letter may begin. */
  get alive(): boolean {
    return !this.#stopped && this.deps.clock.monotonic() - this.#renewedAt < SELF_FENCE_MS
  }

  async start(): Promise<void> {
    await this.#join()
    this.#next()
  }

  /** Gives up everything in good order. */
  async stop(): Promise<void> {
    this.#halt()
    await leave(this.deps.db, this.#incarnation).catch((cause) => this.deps.log.warn({ err: cause }, 'could not leave in good order'))
    await this.#lock?.[Symbol.asyncDispose]()
  }

  /** Stops beating without a word, as a process that dies does. */
  async abandon(): Promise<void> {
    this.#halt()
    await this.#lock?.[Symbol.asyncDispose]()
  }

  #halt(): void {
    this.#stopped = true
    this.#timer?.[Symbol.dispose]()
  }

  async #join(): Promise<void> {
    this.#incarnation = randomUUID()
    this.#lockKey = randomBytes(8).readBigInt64BE()
    await this.#takeLock()
    const asked = this.deps.clock.monotonic()
    await register(this.deps.db, { incarnation: this.#incarnation, lockKey: this.#lockKey, url: this.deps.url })
    this.#renewedAt = asked
  }

  async #takeLock(): Promise<void> {
    await this.#lock?.[Symbol.asyncDispose]()
    this.#lock = undefined
    this.#lock = await holdLock(this.deps.options, this.#lockKey, () => this.#relock())
  }

  /** The database cut the session: the lock is taken again before the others count this process out. */
  #relock(): void {
    if (this.#stopped || this.#locking || !this.#lock) return
    this.#locking = this.#takeLock()
      .catch((cause) => this.deps.log.warn({ err: cause }, 'the session lock could not be taken again yet'))
      .finally(() => {
        this.#locking = undefined
      })
  }

  #next(): void {
    this.#timer = this.deps.clock.after(BEAT_MS, () => void this.#beat())
  }

  async #beat(): Promise<void> {
    try {
      const asked = this.deps.clock.monotonic()
      if (await renew(this.deps.db, this.#incarnation)) this.#renewedAt = asked
      else await this.#rejoin()
      if (!this.#lock) this.#relock()
      await this.#bury()
    } catch (cause) {
      this.deps.log.warn({ err: cause }, 'the lease could not be renewed')
    }
    if (!this.#stopped) this.#next()
  }

  async #rejoin(): Promise<void> {
    this.deps.log.warn({ incarnation: this.#incarnation }, 'this process was counted out; joining again')
    this.deps.onLost()
    await this.#join()
  }

  /** Removes processes whose lease has ended or whose lock has been free for too long. */
  async #bury(): Promise<void> {
    const now = this.deps.clock.monotonic()
    const others = await peers(this.deps.db, this.#incarnation)
    for (const known of this.#unlockedSince.keys())
      if (!others.some((peer) => peer.incarnation === known && peer.unlocked)) this.#unlockedSince.delete(known)
    const dead = others.filter((peer) => {
      if (peer.expired) return true
      if (!peer.unlocked) return false
      const since = this.#unlockedSince.get(peer.incarnation) ?? now
      this.#unlockedSince.set(peer.incarnation, since)
      return now - since >= UNLOCKED_MS
    })
    if (dead.length === 0) return
    this.deps.log.warn({ dead: dead.map((peer) => peer.incarnation) }, 'processes are gone; their tenants may be taken')
    await remove(
      this.deps.db,
      dead.map((peer) => peer.incarnation),
    )
  }
}
