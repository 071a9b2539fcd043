/** Tries to claim a row of due work, each from its poll until its commit is known. */
import type { Ownership } from '#store/engine/letter'
import { type ClaimLoad, type ClaimView, type NextDue, nextDue } from '#store/engine/next-due'
import type { KeyedWork, Work } from '#store/engine/work'
import { hasPlace } from '#store/engine/work-places'
import { type ClaimContext, type ClaimReply, claimAhead, claimFound, type Manner } from './claim.ts'
import type { ActorDeps } from './deps.ts'
import type { Suspected } from './failure.ts'
import type { Faults } from './faults.ts'
import type { Decision, Polled } from './letter.ts'
import { Rotation } from './rotation.ts'

/** A claim until its commit is known. */
export interface ClaimTrial extends Suspected {
  /** The row that was found, before its lane was asked, which may fail. */
  found?: KeyedWork | undefined
  claimed?: KeyedWork | undefined
  manner: Manner
  /** For its sender. The letter may still be being decided. */
  over: boolean
}

type Found = Pick<ClaimContext, 'gate' | 'claimedAt'>

export class ClaimTrials {
  readonly #loads: ClaimLoad[]
  readonly #claims: Omit<ClaimContext, 'gate' | 'claimedAt' | 'manner'>
  /** Claimed by letters that have not committed: their keys are taken for the following letters. */
  readonly #claimed = new Set<KeyedWork>()
  /**
   * When the first row that the last poll left out may be claimed again, in monotonic time: it may
   * be over before that poll is.
   */
  #excludedUntil = Number.POSITIVE_INFINITY
  /** More was due than the last poll found: groups of work take turns. */
  #isCrowded = false
  readonly #rotation: Rotation
  /** The last poll failed, perhaps by what it loads. */
  #isBare = false
  #stopping = false

  constructor(
    own: Ownership,
    private readonly deps: Pick<ActorDeps, 'clock' | 'lanes' | 'kinds' | 'trouble'>,
    /** Work that runs here, whose key is taken. */
    private readonly running: () => KeyedWork[],
    private readonly faults: Pick<Faults, 'suspects' | 'manner'>,
  ) {
    const { lanes, kinds, trouble } = deps
    this.#loads = lanes.flatMap(({ kind, claimLoad }) =>
      claimLoad ? [{ kind, ...claimLoad }] : [],
    )
    this.#claims = {
      owner: own.owner,
      lanes: new Map(lanes.map((lane) => [lane.kind, lane])),
      kinds,
      suspects: faults.suspects,
      trouble,
      hasPlace: (work) => hasPlace({ kinds, running: this.#running() }, work),
    }
    this.#rotation = new Rotation(kinds.rotation)
  }

  /** What must be claimed now must not share a transaction. */
  get manner(): Manner {
    const manner = this.faults.manner
    return { ...manner, alone: manner.alone || this.#isBare }
  }

  /** Nothing is claimed any more. */
  halt(): void {
    this.#stopping = true
  }

  /**
   * `settling`: a row that the poll's own transaction settles. What an earlier try of the same
   * claim took is free again.
   */
  poll(trial: ClaimTrial, at: ClaimView['at'], settling?: Work): ReturnType<typeof nextDue> {
    this.end(trial, trial.over)
    trial.found = undefined
    trial.deciding = false
    trial.took = 0
    const wait = this.faults.suspects.until()
    this.#excludedUntil =
      wait === undefined ? Number.POSITIVE_INFINITY : this.deps.clock.monotonic() + wait
    // Work that runs here is excluded even if it was queued again, perhaps under another key: it
    // must not run twice at once.
    const running = this.#running().filter(({ id }) => id !== settling?.id)
    const excluded = this.faults.suspects.ids()
    const loads = trial.manner.alone && this.#isBare ? [] : this.#loads
    const rotation = this.#isCrowded ? this.#rotation.order : undefined
    return nextDue({
      kinds: this.deps.kinds,
      at,
      running,
      excluded,
      rotation,
      loads,
      settling: settling?.ref_id ?? null,
    })
  }

  #running(): KeyedWork[] {
    return [...this.running(), ...this.#claimed]
  }

  /** Decides the claim of what the trial's poll has found. */
  decide(
    trial: ClaimTrial,
    next: NextDue,
    found: Found & Pick<Parameters<typeof claimFound>[0], 'sql'>,
  ): Promise<Decision<ClaimReply>> {
    return this.#decide(trial, next, () =>
      claimFound({ ...this.#claims, manner: trial.manner, ...found }, next),
    )
  }

  /**
   * The same before the changes of the letter that made room are written; undefined if its lane
   * must see them.
   */
  decideAhead(
    trial: ClaimTrial,
    next: NextDue,
    found: Found,
  ): Promise<Decision<ClaimReply> | undefined> {
    return this.#decide(trial, next, () =>
      claimAhead({ ...this.#claims, manner: trial.manner, ...found }, next),
    )
  }

  async #decide<D extends Decision<ClaimReply> | undefined>(
    trial: ClaimTrial,
    { work }: NextDue,
    claim: () => Promise<D>,
  ) {
    if (this.#stopping) return { reply: {} }
    trial.found = work
    if (work) this.#rotation.had(work.lane)
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

  /** A poll has failed for reasons of its own: the next one loads nothing. */
  pollFailed(): void {
    this.#isBare = true
  }

  /** The trial's poll has not failed. */
  decided({ manner }: ClaimTrial): void {
    this.#isBare &&= !manner.alone
  }

  /** A poll has committed. Returns in how many milliseconds another one is worth it. */
  polled({ next, dueIn }: Polled): number {
    this.#isCrowded = dueIn !== undefined && dueIn <= 0
    return Math.min(
      next ?? Number.POSITIVE_INFINITY,
      this.#excludedUntil - this.deps.clock.monotonic(),
    )
  }
}
