/**
 * Polls for due work when there may be some, and claims it, either in a letter of its own or
 * together with the outcome that freed its key.
 */
import type { Effects, Ownership } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { NextDue, nextDue } from '#store/engine/next-due'
import type { KeyedWork, Work } from '#store/engine/work'
import { Alarm } from './alarm.ts'
import { byTimer, type ClaimReply, type LaneStart } from './claim.ts'
import { type ClaimTrial, ClaimTrials } from './claim-trials.ts'
import { type ActorDeps, Fenced, type Hold, RETRY_MS } from './deps.ts'
import { isItsOwn, keptBusy } from './failure.ts'
import type { Faults, Post } from './faults.ts'
import type { Letter, Polled, Sequel, SequelResult } from './letter.ts'
import type { Priority } from './mailbox.ts'
import { beginWork } from './traced.ts'

/** The lanes that run here. */
interface Lanes {
  /** Work whose key is taken. */
  running(): KeyedWork[]
  /** Resolves when the work has been settled. */
  start(start: LaneStart): Promise<void>
}

export class Claimer {
  readonly #trials: ClaimTrials
  readonly #pumping = new Set<Priority>()
  #wanted: Priority | undefined
  /** Claims in progress, until their lanes have started. */
  readonly #claiming = new Set<Promise<void>>()
  readonly #alarm: Alarm
  /** No claim before this time, because the last one failed. */
  #pausedUntil = 0
  #stopping = false

  constructor(
    private readonly own: Ownership,
    private readonly deps: ActorDeps,
    private readonly post: Post,
    private readonly live: Lanes,
    private readonly faults: Faults,
  ) {
    this.#trials = new ClaimTrials(own, deps, () => live.running(), faults)
    this.#alarm = new Alarm(deps.clock, deps.kinds, () => this.pump('background'))
  }

  /**
   * A letter has committed. Polls for due work if the letter may have made some due, unless a later
   * letter of the same group does.
   */
  committed(
    effects: Effects,
    polled: Polled | undefined,
    { now, priority }: { now: Date; priority: Priority },
  ): void {
    if (this.#stopping) return
    if (polled) this.#polled(polled, now, priority)
    if (this.#alarm.changed(effects, now)) this.#want(priority)
  }

  /** Something may have been committed that no letter of this process knows of. */
  forget(): void {
    this.#alarm.forget()
  }

  /**
   * Sends a letter that polls for due work, unless one is on its way or this process runs no lanes.
   */
  pump(priority: Priority): void {
    if (this.#stopping || this.deps.lanes.length === 0 || this.#pumping.has(priority)) return
    this.#pumping.add(priority)
    const trial: ClaimTrial = { over: false, manner: this.#trials.manner }
    const failed = (cause: unknown) => {
      this.#pumping.delete(priority)
      return this.#failed(trial, cause)
    }
    const claim = (hold?: Hold) =>
      this.post(this.#claimLetter(priority, trial, hold !== undefined)).then(
        ({ reply }) => this.#ended(trial, reply, hold),
        failed,
      )
    this.#inProgress(this.faults.claim(claim))
  }

  #inProgress(claiming: Promise<void>): void {
    this.#claiming.add(claiming)
    void claiming.finally(() => this.#claiming.delete(claiming))
  }

  /** Polls, unless failures have imposed a pause. */
  pumpUnlessPaused(): void {
    if (this.deps.clock.monotonic() >= this.#pausedUntil) this.pump('background')
  }

  /**
   * The claim that an outcome makes room for, in the outcome's own transaction. `plain`: the
   * outcome's row, if a claim may be decided before its changes are written.
   */
  beside(plain: Work | undefined): Sequel<ClaimReply> & { drop(cause: unknown): void } {
    const trial: ClaimTrial = { over: false, manner: { alone: false, careful: false } }
    return {
      // Work that failed before must not make the outcome fail.
      isWanted: (effects, now) =>
        !this.#stopping && !this.#trials.manner.alone && this.#alarm.mayBeDue(effects, now),
      ...(plain && this.#ahead(trial, plain)),
      decide: async (sql, gate) => {
        const claimedAt = this.deps.clock.monotonic()
        const { found } = await loadNow(sql, {
          found: this.#trials.poll(trial, { now: gate.now, paused: gate.paused }),
        })
        return this.#trials.decide(trial, found, { sql, gate, claimedAt })
      },
      ended: (result, now) => this.#besideEnded(trial, result, now),
      drop: (cause) => this.#dropped(trial, cause),
    }
  }

  halt(): void {
    this.#stopping = true
    this.#trials.halt()
    this.#alarm.stop()
  }

  /** Resolves when no claim is in progress. */
  async drained(): Promise<void> {
    await Promise.all(this.#claiming)
  }

  /**
   * The outcome has failed. If that happened while the claim was being decided, or because of the
   * claim, the outcome itself is not to blame.
   */
  #dropped(trial: ClaimTrial, cause: unknown): void {
    this.#trials.end(trial)
    if (trial.found && (trial.deciding || keptBusy(trial, this.deps.trouble)))
      this.#inProgress(
        Promise.resolve(this.faults.failed(trial.found, { ...trial, alone: false }, cause)),
      )
  }

  #besideEnded(trial: ClaimTrial, result: SequelResult<ClaimReply>, now: Date): void {
    // An earlier try may have claimed a row.
    if (typeof result === 'string') this.#trials.end(trial)
    if (result === 'not wanted') this.#alarm.freed(now)
    else if (result === 'not now') this.#want('background')
    else if ('cause' in result) {
      this.deps.log.error(
        { err: result.cause, workspace: this.own.tenantId },
        'a claim beside an outcome failed',
      )
      this.#inProgress(this.#failed(trial, result.cause))
    } else this.#ended(trial, result.decision.reply)
  }

  /** Polls in the outcome's gate, if a row is known to be due. */
  #ahead(trial: ClaimTrial, settling: Work): Pick<Sequel<ClaimReply>, 'load' | 'ahead'> {
    let claimedAt = 0
    return {
      load: () => {
        claimedAt = this.deps.clock.monotonic()
        return this.#alarm.isDue()
          ? { next: this.#trials.poll(trial, 'gate', settling) }
          : undefined
      },
      ahead: async (gate, loaded, { settled }) => {
        const next = loaded.next as NextDue | undefined
        if (!next || !settled?.includes(settling.id)) return undefined
        return this.#trials.decideAhead(trial, next, { gate, claimedAt })
      },
    }
  }

  #claimLetter(priority: Priority, trial: ClaimTrial, awaited: boolean): Letter<ClaimReply> {
    const { deps } = this
    const poll = () => this.#trials.poll(trial, 'gate')
    let claimedAt = 0
    const letter: Letter<ClaimReply, { found: ReturnType<typeof nextDue> }> = {
      name: 'claim',
      priority,
      // Work that failed before must not make the letters of others fail.
      alone: trial.manner.alone,
      awaited,
      provenance: byTimer,
      /** Computed when the letter's turn comes, from what is running then. */
      get load() {
        claimedAt = deps.clock.monotonic()
        return { found: poll() }
      },
      decide: async (sql, gate, _lanes, { found }) => {
        this.#pumping.delete(priority)
        return this.#trials.decide(trial, found, { sql, gate, claimedAt })
      },
    }
    return letter as unknown as Letter<ClaimReply>
  }

  #ended(trial: ClaimTrial, { start, put, decided }: ClaimReply, hold?: Hold): void {
    this.#trials.end(trial)
    const { tracer } = this.deps
    if (tracer && decided) beginWork(tracer, this.own, decided.work, decided.trace).end('decided')
    if (trial.manner.alone) this.faults.suspects.polled()
    if (!put) this.#decided(trial, start, hold)
    else this.faults.put(put)
    if (put) this.#want('background')
  }

  #decided(trial: ClaimTrial, start: LaneStart | undefined, hold?: Hold): void {
    this.#trials.decided(trial)
    if (trial.found) this.faults.decided(trial.found, trial.manner, start !== undefined)
    const running = start && this.live.start(start)
    if (running && this.faults.suspects.hasStalled(start.work.id)) hold?.(running)
  }

  async #failed(trial: ClaimTrial, cause: unknown): Promise<void> {
    this.#trials.end(trial)
    const { found, manner } = trial
    const counting = found && this.faults.failed(found, { ...trial, alone: manner.alone }, cause)
    if (cause instanceof Fenced) return
    if (!found && isItsOwn(cause)) this.#trials.pollFailed()
    const pause = counting ? 0 : RETRY_MS
    if (!this.#stopping) {
      this.#pausedUntil = this.deps.clock.monotonic() + pause
      this.#alarm.ringIn(pause)
    }
    await counting
  }

  #polled(polled: Polled, now: Date, priority: Priority): void {
    // It also covers the letters before it.
    this.#wanted = undefined
    this.#alarm.polled(polled, now)
    const wait = this.#trials.polled(polled)
    if (wait === Number.POSITIVE_INFINITY) this.#alarm.stop()
    else if (wait <= 0) this.#want(priority)
    else this.#alarm.ringIn(wait)
  }

  #want(priority: Priority): void {
    if (this.#wanted !== 'control') this.#wanted = priority
    queueMicrotask(() => {
      const wanted = this.#wanted
      this.#wanted = undefined
      if (wanted) this.pump(wanted)
    })
  }
}
