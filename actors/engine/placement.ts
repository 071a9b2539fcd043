/**
 * This process's place among the others: a lease that it renews, a session lock that is released
 * when it dies, and the judgement of which others are dead. Wrong guesses are harmless, because
 * every transaction is fenced; they only cost time.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import type { SecretKeys } from '#kernel/secret-keys'
import type { ConnectionOptions, Db } from '#store/engine/db'
import {
  type Beat,
  type HeldLock,
  holdLock,
  isRegistered,
  NODE_LEASE_MS,
  peers,
  register,
  removeNodes,
  renew,
  updateNode,
} from '#store/engine/nodes'
import { leave } from '#store/engine/placement'

/**
 * A beat notices a death, which is believed after `UNLOCKED_MS`: less than two seconds in total.
 */
const BEAT_MS = 500
/**
 * A broken connection loses its lock for a moment. If it takes longer than this, the process is
 * gone.
 */
const UNLOCKED_MS = 1_000
/** Without a renewal for this long, this process gives itself up before the others do. */
const SELF_FENCE_MS = NODE_LEASE_MS * 0.8
/** How many of its own earlier incarnations a process remembers. */
const FORMER = 100

const DECLARED = 'other processes declared this one dead'
/** No other process needs to act for this: a lease ends by itself. */
const LATE =
  'this process did not renew its lease in time, because it was stopped or busy or the database did not answer'

export interface PlacementDeps {
  db: Db
  options: ConnectionOptions
  clock: Clock
  log: Log
  url: string
  keys: SecretKeys
  /** The lease was lost, so this process owns nothing any more. A new incarnation follows. */
  onLost(): void
  /** The lease was renewed. */
  onBeat(beat: Beat): void
}

export class Placement {
  #incarnation = randomUUID() as string
  /** Its last incarnations, each of which lost its lease. */
  readonly #former: string[] = []
  #lock: HeldLock | undefined
  #relocking: Promise<void> | undefined
  #beating: Promise<void> | undefined
  #renewedAt = 0
  /** The database's clock at the moment of that renewal. */
  #databaseAt = 0
  #timer: Disposable | undefined
  #stopped = false
  /**
   * When each other process was first seen without its lock, or with a lease dated before the clock
   * stepped back.
   */
  readonly #suspectSince = new Map<string, number>()

  #url: string

  constructor(private readonly deps: PlacementDeps) {
    this.#url = deps.url
  }

  get incarnation(): string {
    return this.#incarnation
  }

  wasOwn(incarnation: string): boolean {
    return this.#former.includes(incarnation)
  }

  /** False once the lease may have run out: no letter may begin. */
  get alive(): boolean {
    return !this.#stopped && this.deps.clock.monotonic() - this.#renewedAt < SELF_FENCE_MS
  }

  /**
   * The database's clock, from the last beat, in epoch milliseconds. It is the same for all
   * processes, whatever their own clocks say.
   */
  now(): number {
    return this.#databaseAt + this.deps.clock.monotonic() - this.#renewedAt
  }

  async start(): Promise<void> {
    await this.#join()
    this.#next()
  }

  async movedTo(url: string): Promise<void> {
    this.#url = url
    await updateNode(this.deps.db, { incarnation: this.#incarnation, url })
  }

  /** Leaves in an orderly way. */
  async stop(): Promise<void> {
    this.#halt()
    // Both end with their current statement; until then they could still take a lock or a lease.
    await Promise.all([this.#beating, this.#relocking])
    await leave(this.deps.db, this.#incarnation).catch((cause) =>
      this.deps.log.warn({ err: cause }, 'could not release the tenants of this process'),
    )
    await this.#lock?.[Symbol.asyncDispose]()
  }

  /** Stops beating silently, like a process that dies. */
  async abandon(): Promise<void> {
    this.#halt()
    await this.#lock?.[Symbol.asyncDispose]()
  }

  #halt(): void {
    this.#stopped = true
    this.#timer?.[Symbol.dispose]()
  }

  async #join(): Promise<void> {
    this.#former.push(this.#incarnation)
    if (this.#former.length > FORMER) this.#former.shift()
    this.#incarnation = randomUUID()
    const lock = await this.#takeLock()
    if (this.#stopped) return
    const asked = this.deps.clock.monotonic()
    const { known, newest, login } = this.deps.keys
    const beat = await register(this.deps.db, {
      incarnation: this.#incarnation,
      lockKey: lock.key,
      url: this.#url,
      keys: {
        known: known.map(({ fingerprint }) => fingerprint),
        newest: newest.fingerprint,
        login,
      },
    })
    this.#beaten(asked, beat)
  }

  /**
   * A lock with a new key each time, so that it never waits for an old session of ours that the
   * database has not dropped yet.
   */
  async #takeLock(): Promise<HeldLock> {
    const before = this.#lock
    this.#lock = undefined
    // Undefined until the lock is held: its session may end first.
    let held: HeldLock | undefined
    const lock = await holdLock(this.deps.options, () => held && this.#lockLost(held))
    held = lock
    this.#lock = lock
    await before?.[Symbol.asyncDispose]()
    if (this.#stopped) await lock[Symbol.asyncDispose]()
    return lock
  }

  /**
   * The database ended the session: takes another lock before other processes declare this one
   * dead.
   */
  #lockLost(lock: HeldLock): void {
    if (this.#lock !== lock) return
    this.#lock = undefined
    this.#relock()
  }

  #relock(): void {
    if (this.#stopped || this.#relocking) return
    this.#relocking = this.#takeLock()
      .then((lock) =>
        updateNode(this.deps.db, { incarnation: this.#incarnation, lockKey: lock.key }),
      )
      .catch((cause) =>
        this.deps.log.warn({ err: cause }, 'could not take the session lock again; will retry'),
      )
      .finally(() => {
        this.#relocking = undefined
      })
  }

  #next(): void {
    this.#timer = this.deps.clock.after(BEAT_MS, () => {
      this.#beating = this.#beat()
    })
  }

  async #beat(): Promise<void> {
    try {
      const asked = this.deps.clock.monotonic()
      const { fingerprint } = this.deps.keys.newest
      const beat = await renew(this.deps.db, this.#incarnation, fingerprint)
      if (beat) this.#beaten(asked, beat)
      else await this.#rejoin()
      if (!this.#lock) this.#relock()
      if (!this.#stopped) await this.#bury()
    } catch (cause) {
      this.deps.log.warn({ err: cause }, 'the lease could not be renewed')
    }
    if (!this.#stopped) this.#next()
  }

  #beaten(asked: number, beat: Beat): void {
    // The key was rotated while this process was not there. Its lease ends without another beat.
    if (this.deps.keys.read(beat.secretKeys).length > 0) {
      this.#halt()
      return
    }
    this.#renewedAt = asked
    this.#databaseAt = beat.now
    this.deps.onBeat(beat)
  }

  async #rejoin(): Promise<void> {
    if (this.#stopped) return
    const unrenewedMs = Math.round(this.deps.clock.monotonic() - this.#renewedAt)
    const isLate = await isRegistered(this.deps.db, this.#incarnation)
    this.deps.log.warn(
      { incarnation: this.#incarnation, unrenewedMs },
      `${isLate ? LATE : DECLARED}; joining again`,
    )
    this.deps.onLost()
    await this.#relocking
    await this.#join()
  }

  /**
   * Removes processes whose lease has ended, whose lease is dated before the clock stepped back, or
   * whose lock has been free for too long.
   */
  async #bury(): Promise<void> {
    const now = this.deps.clock.monotonic()
    const others = await peers(this.deps.db, this.#incarnation)
    const suspects = others.filter((peer) => peer.unlocked || peer.ahead)
    for (const known of this.#suspectSince.keys())
      if (!suspects.some(({ incarnation }) => incarnation === known))
        this.#suspectSince.delete(known)
    const dead = others.filter((peer) => {
      if (peer.expired) return true
      if (!suspects.includes(peer)) return false
      const since = this.#suspectSince.get(peer.incarnation) ?? now
      this.#suspectSince.set(peer.incarnation, since)
      return now - since >= (peer.unlocked ? UNLOCKED_MS : NODE_LEASE_MS)
    })
    if (dead.length === 0) return
    this.deps.log.warn(
      { dead: dead.map((peer) => peer.incarnation) },
      'processes have died; their tenants can be taken',
    )
    await removeNodes(
      this.deps.db,
      dead.map((peer) => peer.incarnation),
    )
  }
}
