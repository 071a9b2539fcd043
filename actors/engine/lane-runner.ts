/** Claims a tenant's due work for its lanes, runs them beside the mailbox, and settles their outcomes by letters. */
import type { LiveLanes } from '#decisions/deciding'
import { sleep } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { Gate, Ownership, Provenance } from '#store/engine/letter'
import { type KeyedWork, LONGEST_NAP_MS, runningElsewhere, type Work } from '#store/engine/work'
import { type ClaimReply, claimNext, type LaneStart } from './claim.ts'
import { claimBackoff } from './claim-backoff.ts'
import { type ActorDeps, Fenced } from './deps.ts'
import type { AnyLane, LaneContext } from './lane.ts'
import type { Decision, Letter } from './letter.ts'
import type { Priority } from './mailbox.ts'
import { type Finished, freeing, type LaneTrial, orphanLetter, outcomeLetter, outcomeOf } from './outcome.ts'

type Post = <R>(letter: Letter<R>) => Promise<{ reply: R }>

interface Live {
  work: KeyedWork
  controller: AbortController
  /** Past the point of no return. */
  committed: boolean
  /** Settled by a letter of this group or an earlier one: its key is free. */
  settled: boolean
  done: Promise<void>
}

const byTimer: Provenance = { principal: { kind: 'system', id: 'timer' }, surface: 'timer' }

const SETTLE_TRIES = 30
const RETRY_MS = 1_000

/** The backoff after so many failures in a row. */
const backoffAfter = (failures: number): number => Math.min(LONGEST_NAP_MS, RETRY_MS * 2 ** (failures - 1))

export class LaneRunner implements LiveLanes {
  readonly #live = new Map<string, Live>()
  readonly #lanes: Map<string, AnyLane>
  readonly #pumping = new Set<Priority>()
  #wanted: Priority | undefined
  /** Claimed by letters of a group that has not committed: their keys are taken for the following letters. */
  readonly #claimed = new Set<KeyedWork>()
  /** Claims in progress, until their lanes have begun. */
  readonly #claiming = new Set<Promise<void>>()
  readonly #backoff
  #timer: Disposable | undefined
  #recoveryTimer: Disposable | undefined
  #recovering = false
  /** Something failed during a recovery, which may have read too early. */
  #recoverAgain = false
  #failedRecoveries = 0
  /** No claim before this time, because the last one failed. */
  #pausedUntil = 0
  #stopping = false
  /** Not even claimed work may begin. */
  #abandoned = false

  constructor(
    private readonly own: Ownership,
    private readonly deps: ActorDeps,
    private readonly post: Post,
  ) {
    this.#lanes = new Map(deps.lanes.map((lane) => [lane.kind, lane]))
    this.#backoff = claimBackoff(deps.clock, backoffAfter)
  }

  get idle(): boolean {
    return this.#live.size === 0
  }

  ids(): string[] {
    return [...this.#live.keys()]
  }

  recall(choose: (work: KeyedWork) => boolean): KeyedWork[] {
    const chosen = [...this.#live.values()].filter((live) => !live.committed && !live.controller.signal.aborted && choose(live.work))
    for (const live of chosen) live.controller.abort(new Error('recalled'))
    return chosen.map((live) => live.work)
  }

  /** Looks for due work after the commit, unless a later letter of the same group does. */
  want(priority: Priority): void {
    if (this.#wanted !== 'control') this.#wanted = priority
    queueMicrotask(() => {
      const wanted = this.#wanted
      this.#wanted = undefined
      if (wanted) this.pump(wanted)
    })
  }

  /** A letter of this group has just looked for due work, which covers the letters before it. */
  claimsChecked(): void {
    this.#wanted = undefined
  }

  /** Claims the next due work by a letter, unless one is in progress or this process runs no lanes. */
  pump(priority: Priority): void {
    if (this.#stopping || this.#lanes.size === 0 || this.#pumping.has(priority)) return
    this.#pumping.add(priority)
    let taken: string | undefined
    let claimed: KeyedWork | undefined
    const trial: LaneTrial = { over: false }
    const forget = () => claimed && this.#claimed.delete(claimed)
    const end = () => {
      trial.over = true
      forget()
    }
    const claiming = this.post<ClaimReply>({
      name: 'claim',
      priority,
      provenance: byTimer,
      decide: async (sql, gate) => {
        this.#pumping.delete(priority)
        forget()
        const decision = await this.#claim(sql, gate, (workId) => {
          taken = workId
        })
        claimed = decision.reply.start?.work
        if (claimed && !trial.over) this.#claimed.add(claimed)
        return { ...decision, due: 'checked' }
      },
    }).then(
      ({ reply }) => {
        end()
        if (taken) this.#backoff.claimed(taken)
        this.#afterClaim(reply, priority)
      },
      (cause) => {
        end()
        this.#pumping.delete(priority)
        this.#claimFailed(cause, taken)
      },
    )
    this.#claiming.add(claiming)
    void claiming.finally(() => this.#claiming.delete(claiming))
  }

  /** Settles each row that a dead process or a failed letter left running, by the rule of its kind. */
  recover(): void {
    if (this.#recovering) this.#recoverAgain = true
    if (this.#recovering || this.#stopping) return
    this.#recovering = true
    this.#recoverAll()
      .catch((cause) => {
        this.#recoverAgain = !(cause instanceof Fenced)
      })
      .then(() => {
        this.#recovering = false
        this.#failedRecoveries = this.#recoverAgain ? this.#failedRecoveries + 1 : 0
        if (this.#stopping) return
        if (this.#recoverAgain) this.#recoverLater(backoffAfter(this.#failedRecoveries))
        this.#recoverAgain = false
        if (this.deps.clock.monotonic() >= this.#pausedUntil) this.pump('background')
      })
  }

  /** Has a timer of its own, because every claim resets the one for due work. */
  #recoverLater(ms: number): void {
    this.#recoveryTimer?.[Symbol.dispose]()
    this.#recoveryTimer = this.deps.clock.after(ms, () => this.recover())
  }

  async #recoverAll(): Promise<void> {
    const { reply } = await this.post<Work[]>({
      name: 'recover',
      priority: 'control',
      provenance: byTimer,
      decide: async (sql) => ({ reply: await runningElsewhere(sql, this.ids()) }),
    })
    for (const work of reply) await this.#recoverOne(work)
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
    await Promise.all(this.#claiming)
    await Promise.all([...this.#live.values()].map((live) => live.done))
  }

  abandon(): void {
    this.#abandoned = true
    this.#halt()
    for (const live of this.#live.values()) live.controller.abort(new Error('tenant lost'))
  }

  #halt(): void {
    this.#stopping = true
    this.#timer?.[Symbol.dispose]()
    this.#recoveryTimer?.[Symbol.dispose]()
  }

  #arm(ms: number, wake: () => void): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = this.deps.clock.after(ms, wake)
  }

  async #claim(sql: Sql, gate: Gate, onTaken: (workId: string) => void): Promise<Decision<ClaimReply>> {
    if (this.#stopping) return { reply: { next: undefined } }
    const running = [...this.#live.values()]
      .filter((live) => !live.settled)
      .map(({ work }) => work)
      .concat(...this.#claimed)
    const { own, deps } = this
    return claimNext(
      { sql, gate, owner: own.owner, clock: deps.clock, lanes: this.#lanes, kinds: deps.kinds, running, backoff: this.#backoff },
      onTaken,
    )
  }

  #afterClaim({ start, next }: ClaimReply, priority: Priority): void {
    if (this.#abandoned) return
    if (start) this.#start(start)
    if (next === undefined || this.#stopping) return
    if (start && next <= 0) this.pump(priority)
    else this.#arm(Math.min(next, LONGEST_NAP_MS), () => this.pump('background'))
  }

  #claimFailed(cause: unknown, workId: string | undefined): void {
    if (cause instanceof Fenced || this.#stopping) return
    const isItsOwn = workId !== undefined && !(cause instanceof AppError && cause.code === 'unavailable')
    if (isItsOwn) this.#backoff.failed(workId)
    const pause = isItsOwn ? 0 : RETRY_MS
    this.#pausedUntil = this.deps.clock.monotonic() + pause
    this.#arm(pause, () => this.pump('background'))
  }

  #start(start: LaneStart): void {
    const live: Live = { work: start.work, controller: new AbortController(), committed: false, settled: false, done: Promise.resolve() }
    if (this.#stopping) live.controller.abort(new Error('stopping'))
    this.#live.set(start.work.id, live)
    live.done = this.#run(start, live)
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
    }
    const watch = { ...this.deps, abort: (reason: Error) => live.controller.abort(reason) }
    const outcome = await outcomeOf(lane, { work, job }, context, watch)
    const isSettled = outcome !== undefined && (await this.#settle(lane, { work, job, outcome }, live))
    // Work it gave back may have been claimed in the same group that settled it, and may be running by now.
    if (this.#live.get(work.id) === live) this.#live.delete(work.id)
    if (!isSettled) this.recover()
  }

  /**
   * Settles the outcome, through outages of the database. False: rows may be left for `orphaned`. Either the outcome could not be written,
   * or a lost commit both wrote it and claimed the work again, which no letter in between could see.
   */
  async #settle(lane: AnyLane, finished: Finished, live: Live): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const trial: LaneTrial = { over: false }
      try {
        const settling = this.post(freeing(outcomeLetter(lane, finished), live, trial))
        // The next claim follows at once, so that it can share the commit.
        this.pump('background')
        await settling
        return tries === 1
      } catch (cause) {
        trial.over = true
        live.settled = false
        if (cause instanceof Fenced) return true
        if (tries >= SETTLE_TRIES) return false
        await sleep(this.deps.clock, Math.min(RETRY_MS, 50 * 2 ** tries))
      }
    }
  }

  async #recoverOne(work: Work): Promise<void> {
    const lane = this.#lanes.get(work.kind)
    if (!lane) return
    await this.post(orphanLetter(lane, work, () => this.#live.has(work.id))).catch((cause) => {
      if (cause instanceof Fenced) throw cause
      this.#recoverAgain = true
      this.deps.log.error(
        { err: cause, kind: work.kind, ref: work.ref_id, tenant: this.own.tenantId },
        'orphaned work could not be settled',
      )
    })
  }
}
