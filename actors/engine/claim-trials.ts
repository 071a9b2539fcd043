/** Tries to claim rows of due work. A trial lasts from its poll until its commit is known. */
import type { Gate, Ownership } from '#store/engine/letter'
import { type ClaimLoad, type ClaimView, type NextDue, nextDue } from '#store/engine/next-due'
import type { KeyedWork, Work } from '#store/engine/work'
import { hasPlace } from '#store/engine/work-places'
import { type ClaimContext, type ClaimReply, claimAhead, claimFound, type Manner } from './claim.ts'
import type { ActorDeps } from './deps.ts'
import type { Suspected } from './failure.ts'
import type { Faults } from './faults.ts'
import { LaneOrder } from './lane-order.ts'
import type { Decision, Polled } from './letter.ts'

/** A claim until its commit is known. */
export interface ClaimTrial extends Suspected {
  /** The row that was found, set before its lane is asked, which may fail. */
  found?: KeyedWork | undefined
  claimed?: KeyedWork | undefined
  manner: Manner
  /** Since when the deployment was held, as its poll believed. */
  heldSince?: Date | null
  /** The same of the pause of all workspaces. */
  pausedEverywhere?: Date | null
  /**
   * The trial is over for the sender of its letter, though the letter may still be being decided.
   */
  over: boolean
}

type Found = Pick<ClaimContext, 'gate' | 'claimedAt'>

/** Whether the poll knew as well as the gate what stops the whole deployment. */
const isSameStop = (gate: Gate, trial: ClaimTrial): boolean =>
  gate.heldSince?.getTime() === trial.heldSince?.getTime() &&
  gate.pausedEverywhere?.getTime() === trial.pausedEverywhere?.getTime()

export class ClaimTrials {
  readonly #loads: ClaimLoad[]
  readonly #claims: Omit<ClaimContext, 'gate' | 'claimedAt' | 'manner'>
  /**
   * Rows claimed by letters that have not committed. Their keys are taken for the letters after
   * them.
   */
  readonly #claimed = new Set<KeyedWork>()
  /**
   * In monotonic time: when the first row that the last poll excluded may be claimed again. This
   * may be before that poll has finished.
   */
  #excludedUntil = Number.POSITIVE_INFINITY
  /** More rows were due than the last poll found, so groups of work take turns. */
  #isCrowded = false
  readonly #laneOrder: LaneOrder
  /** The last poll failed, perhaps because of what it loads. */
  #isBare = false
  #stopping = false

  constructor(
    own: Ownership,
    private readonly deps: Pick<
      ActorDeps,
      'clock' | 'lanes' | 'kinds' | 'trouble' | 'hold' | 'tracer'
    >,
    /** Work that runs here; its keys are taken. */
    private readonly running: () => KeyedWork[],
    private readonly faults: Pick<Faults, 'suspects' | 'manner'>,
  ) {
    const { lanes, kinds, trouble, tracer } = deps
    this.#loads = lanes.flatMap(({ kind, claimLoad }) =>
      claimLoad ? [{ kind, ...claimLoad }] : [],
    )
    this.#claims = {
      own,
      tracer,
      lanes: new Map(lanes.map((lane) => [lane.kind, lane])),
      kinds,
      suspects: faults.suspects,
      trouble,
      hasPlace: (work) => hasPlace({ kinds, running: this.#running() }, work),
    }
    this.#laneOrder = new LaneOrder(kinds.laneOrder)
  }

  /** How to claim now. After a failed poll, a claim shares its transaction with no other letter. */
  get manner(): Manner {
    const manner = this.faults.manner
    return { ...manner, alone: manner.alone || this.#isBare }
  }

  /** From now on nothing is claimed. */
  halt(): void {
    this.#stopping = true
  }

  /**
   * `settling`: a row that the poll's own transaction settles. Whatever an earlier try of the same
   * claim took is free again.
   */
  poll(trial: ClaimTrial, at: ClaimView['at'], settling?: Work): ReturnType<typeof nextDue> {
    this.end(trial, trial.over)
    trial.found = undefined
    trial.heldSince = this.deps.hold.since
    trial.pausedEverywhere = this.deps.hold.everywhere
    trial.deciding = false
    trial.took = 0
    const wait = this.faults.suspects.until()
    this.#excludedUntil =
      wait === undefined ? Number.POSITIVE_INFINITY : this.deps.clock.monotonic() + wait
    // Work that runs here is excluded even if it was queued again, perhaps under another key: it
    // must not run twice at the same time.
    const running = this.#running().filter(({ id }) => id !== settling?.id)
    const excluded = this.faults.suspects.ids()
    const loads = trial.manner.alone && this.#isBare ? [] : this.#loads
    const laneOrder = this.#isCrowded ? this.#laneOrder.lanes : undefined
    return nextDue({
      kinds: this.deps.kinds,
      at,
      heldSince: trial.heldSince,
      pausedEverywhere: trial.pausedEverywhere,
      running,
      excluded,
      laneOrder,
      loads,
      settling: settling?.ref_id ?? null,
    })
  }

  #running(): KeyedWork[] {
    return [...this.running(), ...this.#claimed]
  }

  /** Decides the claim of the row that the trial's poll found. */
  decide(
    trial: ClaimTrial,
    next: NextDue,
    found: Found & Pick<Parameters<typeof claimFound>[0], 'sql'>,
  ): Promise<Decision<ClaimReply>> {
    return this.#decide(trial, next, found.gate, () =>
      claimFound({ ...this.#claims, manner: trial.manner, ...found }, next),
    )
  }

  /**
   * The same, before the changes of the letter that made room are written. Undefined if its lane
   * must see those changes.
   */
  decideAhead(
    trial: ClaimTrial,
    next: NextDue,
    found: Found,
  ): Promise<Decision<ClaimReply> | undefined> {
    return this.#decide(trial, next, found.gate, () =>
      claimAhead({ ...this.#claims, manner: trial.manner, ...found }, next),
    )
  }

  async #decide<D extends Decision<ClaimReply> | undefined>(
    trial: ClaimTrial,
    { work }: NextDue,
    gate: Gate,
    claim: () => Promise<D>,
  ) {
    if (this.#stopping) return { reply: {} }
    if (!isSameStop(gate, trial)) {
      this.deps.hold.saw(gate)
      return { reply: {}, polled: { next: 0, dueIn: 0 } }
    }
    trial.found = work
    if (work) this.#laneOrder.had(work.lane)
    trial.since = performance.now()
    trial.deciding = true
    const decision = await claim()
    trial.deciding = false
    trial.took = performance.now() - trial.since
    trial.claimed = decision?.reply.start?.work
    if (trial.claimed && !trial.over) this.#claimed.add(trial.claimed)
    return decision
  }

  end(trial: ClaimTrial, isOver = true): void {
    trial.over = isOver
    if (trial.claimed) this.#claimed.delete(trial.claimed)
  }

  /** A poll has failed by its own fault, so the next one loads nothing. */
  pollFailed(): void {
    this.#isBare = true
  }

  /** The trial's poll did not fail. */
  decided({ manner }: ClaimTrial): void {
    this.#isBare &&= !manner.alone
  }

  /** A poll has committed. Returns the milliseconds after which another one is worthwhile. */
  polled({ next, dueIn }: Polled): number {
    this.#isCrowded = dueIn !== undefined && dueIn <= 0
    return Math.min(
      next ?? Number.POSITIVE_INFINITY,
      this.#excludedUntil - this.deps.clock.monotonic(),
    )
  }
}
