/**
 * Runs the lanes of a tenant: claims its due work for them, runs them beside the mailbox, and
 * settles their outcomes by letters.
 */
import type { LiveLanes } from '#decisions/deciding'
import type { Effects, Ownership } from '#store/engine/letter'
import type { KeyedWork } from '#store/engine/work'
import type { LaneStart } from './claim.ts'
import { Claimer } from './claimer.ts'
import type { ActorDeps } from './deps.ts'
import { Faults, type Post } from './faults.ts'
import type { LaneContext } from './lane.ts'
import type { Polled } from './letter.ts'
import type { Priority } from './mailbox.ts'
import { outcomeOf } from './outcome.ts'
import { Recovery } from './recovery.ts'
import { Settler } from './settler.ts'
import { beginWork, outcomeWord } from './traced.ts'

interface Live {
  work: KeyedWork
  controller: AbortController
  /** Whether it has passed the point of no return. */
  committed: boolean
  /** Whether its effect has begun, though it may still be broken off. */
  begun: boolean
  /** Whether a letter of this group or an earlier one settled it, so that its key is free. */
  settled: boolean
  done: Promise<void>
}

const isUnattended = ({ origin }: KeyedWork): boolean => origin === 'automatic'

export class LaneRunner implements LiveLanes {
  readonly #live = new Map<string, Live>()
  readonly #claimer: Claimer
  readonly #settler: Settler
  readonly #recovery: Recovery
  readonly #faults: Faults
  #stopping = false
  /** Whether to start nothing any more, not even claimed work. */
  #abandoned = false

  constructor(
    private readonly own: Ownership,
    private readonly deps: ActorDeps,
    post: Post,
  ) {
    const running = () =>
      [...this.#live.values()].filter(({ settled }) => !settled).map(({ work }) => work)
    this.#faults = new Faults(own, deps, post)
    this.#claimer = new Claimer(
      own,
      deps,
      post,
      { running, start: (start) => this.#start(start) },
      this.#faults,
    )
    const parts = { own, deps, post, faults: this.#faults, claimer: this.#claimer }
    this.#settler = new Settler(parts)
    this.#recovery = new Recovery({ ...parts, ids: () => this.ids() })
  }

  get idle(): boolean {
    return this.#live.size === 0
  }

  ids(): string[] {
    return [...this.#live.keys()]
  }

  hasBegun(id: string): boolean {
    const { committed = false, begun = false } = this.#live.get(id) ?? {}
    return committed || begun
  }

  recall(choose: (work: KeyedWork) => boolean): KeyedWork[] {
    const chosen = [...this.#live.values()].filter(
      (live) => !live.committed && !live.controller.signal.aborted && choose(live.work),
    )
    for (const live of chosen) live.controller.abort(new Error('recalled'))
    return chosen.map((live) => live.work)
  }

  /**
   * Every workspace is paused. A claim in progress may not know it yet: its lane is recalled as it
   * starts. Resolves when all that was recalled is settled.
   */
  async recallUnattended(): Promise<void> {
    this.recall(isUnattended)
    await this.#claimer.drained()
    const recalled = () =>
      [...this.#live.values()].filter(({ work, committed }) => isUnattended(work) && !committed)
    while (this.deps.hold.everywhere && recalled().length > 0)
      await Promise.all(recalled().map(({ done }) => done))
  }

  /** A letter has committed. Polls for due work if the letter may have made some due. */
  committed(
    effects: Effects,
    polled: Polled | undefined,
    letter: { now: Date; priority: Priority },
  ): void {
    this.#claimer.committed(effects, polled, letter)
  }

  /** Polls for due work that no letter has announced. */
  poll(): void {
    this.#claimer.forget()
    this.#claimer.pumpUnlessPaused()
  }

  /** `inherited`: whether the tenant comes from a process that has died. */
  activate(inherited: boolean): void {
    if (inherited) this.#faults.beCareful()
    this.recover()
  }

  /**
   * Settles each row that a dead process or a failed letter left running, by the rule of its kind.
   */
  recover(): void {
    this.#recovery.recover()
  }

  /**
   * Stops the lanes that have not passed their point of no return, and waits until all are settled,
   * for at most `ms`.
   */
  async stop(ms: number): Promise<void> {
    this.#halt()
    for (const live of this.#live.values())
      if (!live.committed) live.controller.abort(new Error('stopping'))
    const late = Promise.withResolvers<void>()
    using _timer = this.deps.clock.after(ms, late.resolve)
    await Promise.race([this.#ended(), late.promise])
  }

  /**
   * A claim that commits while the actor stops still starts its lane, which settles the work as
   * stopped.
   */
  async #ended(): Promise<void> {
    await this.#claimer.drained()
    while (this.#live.size > 0) await Promise.all([...this.#live.values()].map((live) => live.done))
  }

  abandon(): void {
    this.#abandoned = true
    this.#halt()
    for (const live of this.#live.values()) live.controller.abort(new Error('tenant lost'))
  }

  #halt(): void {
    this.#stopping = true
    this.#claimer.halt()
    this.#recovery.halt()
  }

  async #start(start: LaneStart): Promise<void> {
    if (this.#abandoned) return
    const live: Live = {
      work: start.work,
      controller: new AbortController(),
      committed: false,
      begun: false,
      settled: false,
      done: Promise.resolve(),
    }
    if (this.#stopping) live.controller.abort(new Error('stopping'))
    else if (this.deps.hold.everywhere && isUnattended(start.work))
      live.controller.abort(new Error('recalled'))
    this.#live.set(start.work.id, live)
    const { meter } = this.deps
    meter?.work(start.work.kind, 'claimed')
    live.done = this.#run(start, live)
    try {
      await live.done
    } finally {
      meter?.work(start.work.kind, 'ended')
    }
  }

  async #run({ trace: workTrace, ...start }: LaneStart, live: Live): Promise<void> {
    const { work, lane, job, claimedAt } = start
    const { tracer } = this.deps
    const span = tracer && workTrace && beginWork(tracer, this.own, work, workTrace)
    const trace = span?.context
    const context: LaneContext = {
      tenantId: this.own.tenantId,
      signal: live.controller.signal,
      elapsed: () => this.deps.clock.monotonic() - claimedAt,
      commit: () => {
        if (live.controller.signal.aborted) return false
        live.committed = true
        return true
      },
      begin: () => {
        live.begun = !live.controller.signal.aborted
        return live.begun
      },
    }
    const watch = { ...this.deps, abort: (reason: Error) => live.controller.abort(reason) }
    const since = performance.now()
    const outcome = await outcomeOf(lane, { work, job, trace }, context, watch)
    const busy = this.#settler.busyIn(work, since)
    const isSettled =
      outcome !== undefined &&
      (await this.#settler.settle(lane, { work, job, outcome, failures: 0, trace, ...busy }, live))
    if (!this.#abandoned) span?.end(isSettled ? outcomeWord(outcome) : 'unsettled')
    // If work was given back, the same group may have claimed it again right after settling it, and
    // it may be running by now.
    if (this.#live.get(work.id) === live) this.#live.delete(work.id)
    if (!isSettled) this.recover()
  }
}
