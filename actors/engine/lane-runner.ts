/** Claims a tenant's due work for its lanes, runs them beside the mailbox, and settles their outcomes by letters. */
import type { LiveLanes } from '#decisions/deciding'
import { sleep } from '#kernel/clock'
import type { Effects, Ownership } from '#store/engine/letter'
import type { KeyedWork, Work } from '#store/engine/work'
import type { LaneStart } from './claim.ts'
import { Claimer } from './claimer.ts'
import { type ActorDeps, Fenced, GaveWay, RETRY_MS } from './deps.ts'
import { BUSY_MS, blameFor, inVainOf } from './failure.ts'
import { Faults, type Post } from './faults.ts'
import { type AnyLane, IN_VAIN_AFTER, type LaneContext } from './lane.ts'
import type { Looked } from './letter.ts'
import type { Priority } from './mailbox.ts'
import { type Finished, freeing, type LaneTrial, outcomeLetter, outcomeOf } from './outcome.ts'
import { Recovery } from './recovery.ts'

interface Live {
  work: KeyedWork
  controller: AbortController
  /** Past the point of no return. */
  committed: boolean
  /** Its effect has begun, and may be broken off. */
  begun: boolean
  /** Settled by a letter of this group or an earlier one: its key is free. */
  settled: boolean
  done: Promise<void>
}

const SETTLE_TRIES = 30

export class LaneRunner implements LiveLanes {
  readonly #live = new Map<string, Live>()
  readonly #claimer: Claimer
  readonly #recovery: Recovery
  readonly #faults: Faults
  #stopping = false
  /** Not even claimed work may begin. */
  #abandoned = false

  constructor(
    private readonly own: Ownership,
    private readonly deps: ActorDeps,
    private readonly post: Post,
  ) {
    const running = () => [...this.#live.values()].filter(({ settled }) => !settled).map(({ work }) => work)
    this.#faults = new Faults(own, deps, post)
    this.#claimer = new Claimer(own, deps, post, { running, start: (start) => this.#start(start) }, this.#faults)
    this.#recovery = new Recovery({ own, deps, post, faults: this.#faults, claimer: this.#claimer, ids: () => this.ids() })
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
    const chosen = [...this.#live.values()].filter((live) => !live.committed && !live.controller.signal.aborted && choose(live.work))
    for (const live of chosen) live.controller.abort(new Error('recalled'))
    return chosen.map((live) => live.work)
  }

  /** A letter has committed: looks for due work if it may have made some due. */
  committed(effects: Effects, looked: Looked | undefined, letter: { now: Date; priority: Priority }): void {
    this.#claimer.committed(effects, looked, letter)
  }

  /** Looks for due work that no letter has told of. */
  look(): void {
    this.#claimer.forget()
    this.#claimer.pumpUnlessPaused()
  }

  /** `inherited`: from a process that has died. */
  activate(inherited: boolean): void {
    if (inherited) this.#faults.beCareful()
    this.recover()
  }

  /** Settles each row that a dead process or a failed letter left running, by the rule of its kind. */
  recover(): void {
    this.#recovery.recover()
  }

  /** Stops the lanes before their point of no return, and waits until all are settled, for at most `ms`. */
  async stop(ms: number): Promise<void> {
    this.#halt()
    for (const live of this.#live.values()) if (!live.committed) live.controller.abort(new Error('stopping'))
    const late = Promise.withResolvers<void>()
    using _timer = this.deps.clock.after(ms, late.resolve)
    await Promise.race([this.#ended(), late.promise])
  }

  /** A claim that commits while the actor stops still starts its lane, which settles the work as stopped. */
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
    this.#live.set(start.work.id, live)
    live.done = this.#run(start, live)
    await live.done
  }

  async #run({ work, lane, job, claimedAt }: LaneStart, live: Live): Promise<void> {
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
    const outcome = await outcomeOf(lane, { work, job }, context, watch)
    const busy = this.#busyIn(work, since)
    const isSettled = outcome !== undefined && (await this.#settle(lane, { work, job, outcome, failures: 0, ...busy }, live))
    // Work it gave back may have been claimed in the same group that settled it, and may be running by now.
    if (this.#live.get(work.id) === live) this.#live.delete(work.id)
    if (!isSettled) this.recover()
  }

  /**
   * Whether the process was kept busy while the row ran. If that happens again in its next run, it is the row's own fault. The next run may be
   * far away, so the first time is counted, too, unless the process is young: a process that starts is busy by itself.
   */
  #busyIn(work: Work, since: number): Pick<Finished, 'busy'> {
    if (this.deps.trouble.loop.busyIn(since) < BUSY_MS) return {}
    this.#faults.suspects.stalled(work)
    return this.#owed(work)
  }

  #owed(work: Work): Required<Pick<Finished, 'busy'>> {
    const { trouble } = this.deps
    return { busy: { failed: this.#faults.suspects.owes(work) || (trouble.calmIn() === 0 ? 1 : 0) } }
  }

  /**
   * Settles the outcome, through outages of the database. False: rows may be left for `orphaned`. Either the outcome could not be written,
   * or a lost commit both wrote it and claimed the work again, which no letter in between could see.
   */
  async #settle(lane: AnyLane, first: Finished, live: Live): Promise<boolean> {
    let finished = first
    for (let tries = 1; ; tries++) {
      const trial: LaneTrial = { over: false }
      // Only once: a look that fails in the gate must not keep the outcome from being written.
      const claim = this.#claimer.beside(tries === 1 && lane.isPlain?.(finished) ? finished.work : undefined)
      try {
        const { reply: goesOn } = await this.post(freeing(outcomeLetter(this.deps.kinds, lane, finished), live, { trial, claim }))
        this.#faults.settled(finished, goesOn)
        return tries === 1
      } catch (cause) {
        trial.over = true
        claim.drop(cause)
        live.settled = false
        const hasStalled = this.#faults.stalled(finished.work, trial)
        if (cause instanceof Fenced) return true
        const { failures } = finished
        finished = { ...finished, failures: failures + (await this.#faultOf(cause, { trial, failures, hasStalled })) }
        if (hasStalled) finished = { ...finished, ...this.#owed(finished.work) }
        const isInVain = finished.failures > IN_VAIN_AFTER || this.#hasFailedTooOften(finished.work)
        if (isInVain) this.#inVain(finished.work, cause)
        if (isInVain || tries >= SETTLE_TRIES) return false
        if (hasStalled) await this.#faults.mark(finished.work)
        await sleep(this.deps.clock, Math.min(RETRY_MS, 50 * 2 ** tries))
      }
    }
  }

  /** What the failure of an outcome's letter adds to its failures. One that kept everybody waiting twice, alone, has one more try left. */
  async #faultOf(
    cause: unknown,
    { trial, failures, hasStalled }: { trial: LaneTrial; failures: number; hasStalled: boolean },
  ): Promise<number> {
    const blame = hasStalled ? 'perhaps' : blameFor(cause, trial)
    if (blame === 'sure') return 1
    // The connection was lost while the database goes on.
    if (blame === 'hardly' && !(cause instanceof GaveWay)) return (await this.#faults.isHeard()) ? 1 : 0
    return blame === 'perhaps' ? Math.max(1, IN_VAIN_AFTER - 1 - failures + (failures > 0 ? 1 : 0)) : 0
  }

  #hasFailedTooOften(work: Work): boolean {
    const owed = this.#faults.suspects.owes(work)
    return owed > 0 && work.failures + owed >= inVainOf(this.deps.kinds, work).most
  }

  /** As many failures as its kind allows are counted before the row is settled as an orphan: its record ends, by what is known, or the row rests. */
  #inVain(work: Work, cause: unknown): void {
    this.deps.log.error({ err: cause, kind: work.kind, ref: work.ref_id, workspace: this.own.tenantId }, 'an outcome could not be settled')
    this.#faults.suspects.owe(work.id, inVainOf(this.deps.kinds, work).most)
  }
}
