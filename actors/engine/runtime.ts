/**
 * All tenants that are awake in this process: finds or wakes the actor for a letter, and lets idle
 * actors go.
 */
import { AppError } from '#kernel/errors'
import { withoutFields } from '#kernel/log'
import type { SecretKeys } from '#kernel/secret-keys'
import type { ConnectionOptions } from '#store/engine/db'
import {
  type ActorDeps,
  Fenced,
  type HoldWatch,
  newHoldWatch,
  newTrouble,
  type TroubleOptions,
} from './deps.ts'
import { DueTenants, WAKE_AT_ONCE } from './due-tenants.ts'
import type { AnyLane } from './lane.ts'
import type { Letter } from './letter.ts'
import type { Queued } from './mailbox.ts'
import { Ownerships } from './ownerships.ts'
import { Placement } from './placement.ts'
import { RecallEverywhere } from './recall-everywhere.ts'
import { TenantActor } from './tenant.ts'
import { Unwakeable } from './unwakeable.ts'

export interface RuntimeDeps extends Omit<ActorDeps, 'trouble' | 'lanes' | 'hold'> {
  options: ConnectionOptions
  url: string
  keys: SecretKeys
  idleMs: number
  /** How often to look for tenants with due work; 0 serves only tenants with requests. */
  sweepMs: number
  trouble?: TroubleOptions
}

/** If more tenants are due than can wake at once, this is how soon the next ones follow. */
const NEXT_WAKE_MS = 5
/** How long to wait for the answer to a send that is on the wire. */
const STOP_LANES_MS = 12_000

export class Runtime implements AsyncDisposable {
  readonly #actors = new Map<string, Promise<TenantActor>>()
  readonly #awake = new Map<string, TenantActor>()
  readonly #unwakeable: Unwakeable
  readonly #placement: Placement
  readonly #ownerships: Ownerships
  readonly #trouble
  readonly hold: HoldWatch = newHoldWatch(() => {
    this.#recall.look()
    // Nobody needs to look for what waits until all are resumed.
    if (this.hold.everywhere === null) for (const actor of this.#awake.values()) actor.poll()
  })
  readonly #recall: RecallEverywhere
  readonly #dueTenants: DueTenants
  #lanes: readonly AnyLane[] = []
  #sweep: Disposable | undefined
  #isStarted = false
  #stopped = false

  constructor(private readonly deps: RuntimeDeps) {
    this.#trouble = newTrouble(deps.clock, deps.trouble)
    this.#placement = new Placement({
      ...deps,
      onLost: () => this.#forgetAll(),
      onBeat: (beat) => {
        this.hold.read(beat)
        this.#recall.look()
      },
    })
    this.#recall = new RecallEverywhere({
      ...deps,
      hold: this.hold,
      incarnation: () => this.#placement.incarnation,
      awake: () => this.#awake.values(),
    })
    this.#unwakeable = new Unwakeable(deps)
    const { hold } = this
    this.#dueTenants = new DueTenants({ ...deps, hold, unwakeable: this.#unwakeable })
    this.#ownerships = new Ownerships(deps, this.#placement)
  }

  /** `lanes`: the handlers of due work. */
  async start(lanes: readonly AnyLane[]): Promise<this> {
    this.#lanes = lanes
    await this.#placement.start()
    this.#isStarted = true
    this.#nextSweep()
    return this
  }

  /** The number of tenants in memory. */
  get awake(): number {
    return this.#awake.size
  }

  /** The letters that wait in all mailboxes. */
  queued(): Queued {
    const sum = { control: 0, interactive: 0, background: 0, oldest: Number.POSITIVE_INFINITY }
    for (const actor of this.#awake.values()) actor.addQueued(sum)
    return sum
  }

  /** Whether nothing is running or waiting in any tenant. Work that is due later does not count. */
  get idle(): boolean {
    return [...this.#awake.values()].every((actor) => actor.idleFor(0))
  }

  /**
   * The database's clock, in epoch milliseconds. It follows a step of that clock half a second
   * later.
   */
  now(): number {
    return this.#placement.now()
  }

  /** This process's id among the others. It changes when others declare this one dead. */
  get incarnation(): string {
    return this.#placement.incarnation
  }

  /**
   * False while this process cannot be sure what it owns, and once it stops: other processes may
   * serve its tenants now or soon.
   */
  get serving(): boolean {
    return !this.#stopped && this.#placement.alive
  }

  /** Whether all letters of the tenant run here, as far as this process knows. */
  owns(tenantId: string): boolean {
    return this.serving && this.#awake.has(tenantId)
  }

  /**
   * Takes a tenant that no process owns. Throws `OwnedElsewhere`, or `unavailable` if this process
   * cannot serve it.
   */
  async wake(tenantId: string): Promise<void> {
    this.#refuseWhenDown()
    await this.#actor(tenantId)
  }

  /** Publishes a new address for the other processes. */
  movedTo(url: string): Promise<void> {
    return this.#placement.movedTo(url)
  }

  /**
   * Runs a letter in the tenant's mailbox and returns its reply. If the tenant or the lease was
   * lost meanwhile, the letter is sent again.
   */
  async ask<R>(tenantId: string, letter: Letter<R>): Promise<R> {
    for (let tries = 0; ; tries++) {
      this.#refuseWhenDown()
      try {
        const actor = await this.#actor(tenantId)
        return await actor.ask(letter)
      } catch (cause) {
        if (!(cause instanceof Fenced)) throw cause
        if (tries >= 2)
          throw new AppError(
            'unavailable',
            'the workspace is moving between processes, try again',
            { cause },
          )
      }
    }
  }

  /**
   * Stops in an orderly way: letters finish, lanes reach a safe point, and every tenant is
   * released.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#sweep?.[Symbol.dispose]()
    await Promise.all([...this.#awake.values()].map((actor) => actor.stop(STOP_LANES_MS)))
    this.#trouble[Symbol.dispose]()
    if (this.#isStarted) await this.#placement.stop()
  }

  /** Stops at once and silently, like a process that is killed. */
  async abandon(): Promise<void> {
    this.#stopped = true
    this.#sweep?.[Symbol.dispose]()
    this.#forgetAll()
    this.#trouble[Symbol.dispose]()
    await this.#placement.abandon()
  }

  #refuseWhenDown(): void {
    if (this.#stopped) throw new AppError('unavailable', 'the server is stopping, try again')
    if (!this.#placement.alive)
      throw new AppError('unavailable', 'the database is not reachable, try again')
  }

  async #actor(tenantId: string): Promise<TenantActor> {
    const known = this.#actors.get(tenantId)
    if (known) return known
    // The actor belongs to nobody's request.
    const waking = withoutFields(() => this.#activate(tenantId))
    this.#actors.set(tenantId, waking)
    waking.catch(() => {
      if (this.#actors.get(tenantId) === waking) this.#actors.delete(tenantId)
    })
    return waking
  }

  async #activate(tenantId: string): Promise<TenantActor> {
    const owner = this.#placement.incarnation
    const { epoch, former } = await this.#ownerships.claim(tenantId, owner)
    const deps = { ...this.deps, lanes: this.#lanes, trouble: this.#trouble, hold: this.hold }
    const actor: TenantActor = new TenantActor({ tenantId, owner, epoch }, deps, () =>
      this.#forget(actor),
    )
    // The lease may have been lost during the claim.
    if (owner !== this.#placement.incarnation || this.#stopped) throw new Fenced()
    this.#awake.set(tenantId, actor)
    // This process still remembers what it did before it lost its lease.
    actor.activate(former !== null && !this.#placement.wasOwn(former))
    return actor
  }

  #forget(actor: TenantActor): void {
    const { tenantId } = actor.own
    if (this.#awake.get(tenantId) !== actor) return
    this.#actors.delete(tenantId)
    this.#awake.delete(tenantId)
    this.deps.followers?.left(tenantId)
  }

  #forgetAll(): void {
    const actors = [...this.#awake.values()]
    for (const actor of actors) actor.abandon()
    this.#awake.clear()
    this.#actors.clear()
    for (const { own } of actors) this.deps.followers?.left(own.tenantId)
  }

  #nextSweep(ms = this.deps.sweepMs): void {
    if (this.deps.sweepMs === 0 || this.#stopped) return
    this.#sweep = this.deps.clock.after(ms, () => void this.#sweepOnce())
  }

  /** Wakes tenants with due work, and lets go of tenants that nobody uses. */
  async #sweepOnce(): Promise<void> {
    try {
      this.#passivate()
      const { due, nudged } = await this.#dueTenants.look(this.#placement.incarnation)
      for (const tenantId of nudged) this.#awake.get(tenantId)?.poll()
      const woken = await Promise.all(due.map((tenantId) => this.#wake(tenantId)))
      const isMore = due.length === WAKE_AT_ONCE && woken.includes(true)
      this.#nextSweep(isMore ? NEXT_WAKE_MS : undefined)
    } catch (cause) {
      this.deps.log.warn({ err: cause }, 'the sweep failed')
      this.#nextSweep()
    }
  }

  async #wake(tenantId: string): Promise<boolean> {
    try {
      await this.#actor(tenantId)
      return true
    } catch (cause) {
      this.#unwakeable.failed(tenantId, cause)
      return false
    }
  }

  #isFollowed({ own }: TenantActor): boolean {
    return this.deps.followers?.isFollowed(own.tenantId) ?? false
  }

  #passivate(): void {
    for (const actor of this.#awake.values()) {
      if (!actor.idleFor(this.deps.idleMs) || this.#isFollowed(actor)) continue
      actor.abandon()
      this.#forget(actor)
      this.#ownerships.giveUp(actor.own)
    }
    this.#ownerships.release((tenantId) => this.#actors.has(tenantId))
  }
}
