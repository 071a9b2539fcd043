/** Looks for due work when there may be some, and claims it: by a letter of its own, or beside the outcome that freed its key. */
import { isUnavailable } from '#kernel/errors'
import { isTimedOut } from '#store/engine/db'
import type { Effects, Ownership } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { type ClaimLoad, type ClaimView, type KeyedWork, type NextDue, nextDue, type Work } from '#store/engine/work'
import { hasPlace as mayRunBeside } from '#store/engine/work-places'
import { Alarm } from './alarm.ts'
import { byTimer, type Claiming, type ClaimReply, claimAhead, claimFound, type LaneStart, type Manner } from './claim.ts'
import { type ActorDeps, Fenced, type Hold, RETRY_MS } from './deps.ts'
import { keptBusy, type Suspected } from './failure.ts'
import type { Faults, Post } from './faults.ts'
import type { AnyLane } from './lane.ts'
import type { Decision, Letter, Looked, Sequel, SequelResult } from './letter.ts'
import type { Priority } from './mailbox.ts'
import { Turns } from './turns.ts'

/** The lanes that run here. */
interface Lanes {
  /** Work whose key is taken. */
  running(): KeyedWork[]
  /** Resolves when it has been settled. */
  start(start: LaneStart): Promise<void>
}

/** A claim until its commit is known. */
interface Trial extends Suspected {
  /** The row that was found, before its lane was asked, which may fail. */
  found?: KeyedWork | undefined
  claimed?: KeyedWork | undefined
  manner: Manner
  /** For its sender. The letter may still be being decided. */
  over: boolean
}

export class Claimer {
  readonly #lanes: ReadonlyMap<string, AnyLane>
  readonly #loads: ClaimLoad[]
  readonly #claims: Pick<Claiming, 'owner' | 'lanes' | 'kinds' | 'suspects' | 'trouble' | 'hasPlace'>
  readonly #pumping = new Set<Priority>()
  #wanted: Priority | undefined
  /** Claimed by letters that have not committed: their keys are taken for the following letters. */
  readonly #claimed = new Set<KeyedWork>()
  /** Claims in progress, until their lanes have begun. */
  readonly #claiming = new Set<Promise<void>>()
  readonly #alarm: Alarm
  /** When the first row that the last look left out may be claimed again, in monotonic time: it may be over before that look is. */
  #excludedUntil = Number.POSITIVE_INFINITY
  /** No claim before this time, because the last one failed. */
  #pausedUntil = 0
  /** More was due than the last look found: groups of work take turns. */
  #isCrowded = false
  readonly #turns: Turns
  /** The last look failed, perhaps by what it loads. */
  #isBare = false
  #stopping = false

  constructor(
    private readonly own: Ownership,
    private readonly deps: ActorDeps,
    private readonly post: Post,
    private readonly live: Lanes,
    private readonly faults: Faults,
  ) {
    this.#lanes = new Map(deps.lanes.map((lane) => [lane.kind, lane]))
    this.#loads = deps.lanes.flatMap(({ kind, claimLoad }) => (claimLoad ? [{ kind, ...claimLoad }] : []))
    const hasPlace = (work: KeyedWork) => mayRunBeside({ kinds: deps.kinds, running: this.#running() }, work)
    this.#claims = {
      owner: own.owner,
      lanes: this.#lanes,
      kinds: deps.kinds,
      suspects: faults.suspects,
      trouble: deps.trouble,
      hasPlace,
    }
    this.#turns = new Turns(deps.kinds.turns)
    this.#alarm = new Alarm(deps.clock, deps.kinds, () => this.pump('background'))
  }

  /** A letter has committed. Looks for due work if it may have made some due, unless a later letter of the same group does. */
  committed(effects: Effects, looked: Looked | undefined, { now, priority }: { now: Date; priority: Priority }): void {
    if (this.#stopping) return
    if (looked) this.#looked(looked, now, priority)
    if (this.#alarm.changed(effects, now)) this.#want(priority)
  }

  /** Something may have been committed that no letter of this process knows of. */
  forget(): void {
    this.#alarm.forget()
  }

  /** What must be claimed now must not share a transaction. */
  get #manner(): Manner {
    const manner = this.faults.manner
    return { ...manner, alone: manner.alone || this.#isBare }
  }

  /** Looks for due work by a letter, unless one is on its way or this process runs no lanes. */
  pump(priority: Priority): void {
    if (this.#stopping || this.#lanes.size === 0 || this.#pumping.has(priority)) return
    this.#pumping.add(priority)
    const trial: Trial = { over: false, manner: this.#manner }
    const failed = (cause: unknown) => {
      this.#pumping.delete(priority)
      return this.#failed(trial, cause)
    }
    const claim = (hold?: Hold) =>
      this.post(this.#claimLetter(priority, trial, hold !== undefined)).then(({ reply }) => this.#ended(trial, reply, hold), failed)
    this.#inProgress(this.faults.claim(claim))
  }

  #inProgress(claiming: Promise<void>): void {
    this.#claiming.add(claiming)
    void claiming.finally(() => this.#claiming.delete(claiming))
  }

  /** After a pause that failures have brought about. */
  pumpUnlessPaused(): void {
    if (this.deps.clock.monotonic() >= this.#pausedUntil) this.pump('background')
  }

  /**
   * The claim that an outcome makes room for, in the outcome's own transaction. `plain`: the outcome's row, if a claim may be decided ahead of
   * its changes.
   */
  beside(plain: Work | undefined): Sequel<ClaimReply> & { drop(cause: unknown): void } {
    const trial: Trial = { over: false, manner: { alone: false, careful: false } }
    return {
      // Work that failed before must not fail the outcome.
      isWanted: (effects, now) => !this.#stopping && !this.#manner.alone && this.#alarm.mayBeDue(effects, now),
      ...(plain && this.#ahead(trial, plain)),
      decide: async (sql, gate) => {
        const claimedAt = this.deps.clock.monotonic()
        const { found } = await loadNow(sql, { found: this.#look(trial, { now: gate.now, paused: gate.paused }) })
        return this.#decide(trial, found, () => claimFound({ ...this.#claims, manner: trial.manner, sql, gate, claimedAt }, found))
      },
      ended: (result, now) => this.#besideEnded(trial, result, now),
      drop: (cause) => this.#dropped(trial, cause),
    }
  }

  halt(): void {
    this.#stopping = true
    this.#alarm.stop()
  }

  /** Until no claim is in progress. */
  async drained(): Promise<void> {
    await Promise.all(this.#claiming)
  }

  /** The outcome has failed. If that came while the claim was decided, or by it, the outcome has nothing to do with it. */
  #dropped(trial: Trial, cause: unknown): void {
    this.#end(trial)
    if (trial.found && (trial.deciding || keptBusy(trial, this.deps.trouble)))
      this.#inProgress(Promise.resolve(this.faults.failed(trial.found, { ...trial, alone: false }, cause)))
  }

  #besideEnded(trial: Trial, result: SequelResult<ClaimReply>, now: Date): void {
    // An earlier try may have claimed.
    if (typeof result === 'string') this.#end(trial)
    if (result === 'not wanted') this.#alarm.freed(now)
    else if (result === 'not now') this.#want('background')
    else if ('cause' in result) {
      this.deps.log.error({ err: result.cause, workspace: this.own.tenantId }, 'a claim beside an outcome failed')
      this.#inProgress(this.#failed(trial, result.cause))
    } else this.#ended(trial, result.decision.reply)
  }

  /** Looks in the outcome's gate, if a row is known to be due. */
  #ahead(trial: Trial, settling: Work): Pick<Sequel<ClaimReply>, 'load' | 'ahead'> {
    let claimedAt = 0
    return {
      load: () => {
        claimedAt = this.deps.clock.monotonic()
        return this.#alarm.isDue() ? { next: this.#look(trial, 'gate', settling) } : undefined
      },
      ahead: async (gate, loaded, { settled }) => {
        const next = loaded.next as NextDue | undefined
        if (!next || !settled?.includes(settling.id)) return undefined
        return this.#decide(trial, next, () => claimAhead({ ...this.#claims, manner: trial.manner, gate, claimedAt }, next))
      },
    }
  }

  #claimLetter(priority: Priority, trial: Trial, awaited: boolean): Letter<ClaimReply> {
    const { deps } = this
    const look = () => this.#look(trial, 'gate')
    let claimedAt = 0
    const letter: Letter<ClaimReply, { found: ReturnType<typeof nextDue> }> = {
      name: 'claim',
      priority,
      // Work that failed before must not fail the letters of others.
      alone: trial.manner.alone,
      awaited,
      provenance: byTimer,
      /** Made when the letter's turn has come, of what runs then. */
      get load() {
        claimedAt = deps.clock.monotonic()
        return { found: look() }
      },
      decide: async (sql, gate, _lanes, { found }) => {
        this.#pumping.delete(priority)
        return this.#decide(trial, found, () => claimFound({ ...this.#claims, manner: trial.manner, sql, gate, claimedAt }, found))
      },
    }
    return letter as unknown as Letter<ClaimReply>
  }

  /** `settling`: a row that the look's own transaction settles. What an earlier try of the same claim took is free again. */
  #look(trial: Trial, at: ClaimView['at'], settling?: Work): ReturnType<typeof nextDue> {
    this.#end(trial, trial.over)
    trial.found = undefined
    trial.deciding = false
    trial.took = 0
    const wait = this.faults.suspects.until()
    this.#excludedUntil = wait === undefined ? Number.POSITIVE_INFINITY : this.deps.clock.monotonic() + wait
    // Work that runs here is excluded even if it was queued again, perhaps under another key: it must not run twice at once.
    const running = this.#running().filter(({ id }) => id !== settling?.id)
    const excluded = this.faults.suspects.ids()
    const loads = trial.manner.alone && this.#isBare ? [] : this.#loads
    const turns = this.#isCrowded ? this.#turns.order : undefined
    return nextDue({ kinds: this.deps.kinds, at, running, excluded, turns, loads, settling: settling?.ref_id ?? null })
  }

  #running(): KeyedWork[] {
    return [...this.live.running(), ...this.#claimed]
  }

  async #decide<D extends Decision<ClaimReply> | undefined>(trial: Trial, found: NextDue, claim: () => Promise<D>) {
    if (this.#stopping) return { reply: {} }
    trial.found = found.work
    if (found.work) this.#turns.had(found.work.lane)
    trial.since = performance.now()
    trial.deciding = true
    const decision = await claim()
    trial.deciding = false
    trial.took = performance.now() - trial.since
    trial.claimed = decision?.reply.start?.work
    if (trial.claimed && !trial.over) this.#claimed.add(trial.claimed)
    return decision
  }

  #end(trial: Trial, isOver = true): void {
    trial.over = isOver
    if (trial.claimed) this.#claimed.delete(trial.claimed)
  }

  #ended(trial: Trial, { start, put }: ClaimReply, hold?: Hold): void {
    this.#end(trial)
    if (trial.manner.alone) this.faults.suspects.looked()
    if (!put) this.#decided(trial, start, hold)
    else this.faults.put(put)
    if (put) this.#want('background')
  }

  #decided(trial: Trial, start: LaneStart | undefined, hold?: Hold): void {
    this.#isBare &&= !trial.manner.alone
    if (trial.found) this.faults.decided(trial.found, trial.manner, start !== undefined)
    const running = start && this.live.start(start)
    if (running && this.faults.suspects.hasStalled(start.work.id)) hold?.(running)
  }

  async #failed(trial: Trial, cause: unknown): Promise<void> {
    this.#end(trial)
    const { found, manner } = trial
    const counting = found && this.faults.failed(found, { ...trial, alone: manner.alone }, cause)
    if (cause instanceof Fenced) return
    if (!found) this.#isBare ||= !isUnavailable(cause) || isTimedOut(cause)
    const pause = counting ? 0 : RETRY_MS
    if (!this.#stopping) {
      this.#pausedUntil = this.deps.clock.monotonic() + pause
      this.#alarm.ringIn(pause)
    }
    await counting
  }

  #looked({ next, rest }: Looked, now: Date, priority: Priority): void {
    // It covers the letters before it.
    this.#wanted = undefined
    this.#alarm.looked({ rest }, now)
    this.#isCrowded = rest !== undefined && rest <= 0
    const wait = Math.min(next ?? Number.POSITIVE_INFINITY, this.#excludedUntil - this.deps.clock.monotonic())
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
