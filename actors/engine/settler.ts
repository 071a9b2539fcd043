/**
 * Settles the outcomes of lanes, despite outages of the database and failures of the outcomes
 * themselves.
 */
import { sleep } from '#kernel/clock'
import type { Ownership } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Claimer } from './claimer.ts'
import { type ActorDeps, Fenced, GaveWay, RETRY_MS } from './deps.ts'
import { BUSY_MS, blameFor, inVainOf } from './failure.ts'
import type { Faults, Post } from './faults.ts'
import { type AnyLane, IN_VAIN_AFTER } from './lane.ts'
import { type Finished, freeing, type LaneTrial, outcomeLetter } from './outcome.ts'

const SETTLE_TRIES = 30

interface SettlerParts {
  own: Ownership
  deps: ActorDeps
  post: Post
  faults: Faults
  claimer: Pick<Claimer, 'beside'>
}

export class Settler {
  constructor(private readonly parts: SettlerParts) {}

  /**
   * Whether the process was kept busy while the row ran. If that happens again in the row's next
   * run, it is the row's own fault. The next run may be far away, so the first time is counted too,
   * unless the process is young: a starting process is busy anyway.
   */
  busyIn(work: Work, since: number): Pick<Finished, 'busy'> {
    if (this.parts.deps.trouble.loop.busyIn(since) < BUSY_MS) return {}
    this.parts.faults.suspects.stalled(work)
    return this.#owed(work)
  }

  #owed(work: Work): Required<Pick<Finished, 'busy'>> {
    const { trouble } = this.parts.deps
    return {
      busy: { failed: this.parts.faults.suspects.owes(work) || (trouble.calmIn() === 0 ? 1 : 0) },
    }
  }

  /**
   * Settles the outcome, despite outages of the database. False if rows may be left for `orphaned`:
   * either the outcome could not be written, or a lost commit both wrote it and claimed the work
   * again, which no letter in between could see.
   */
  async settle(lane: AnyLane, first: Finished, live: { settled: boolean }): Promise<boolean> {
    let finished = first
    for (let tries = 1; ; tries++) {
      const trial: LaneTrial = { over: false }
      // Only with the first try: a poll that fails in the gate must not keep the outcome from being
      // written.
      const claim = this.parts.claimer.beside(
        tries === 1 && lane.isPlain?.(finished) ? finished.work : undefined,
      )
      try {
        const { reply: goesOn } = await this.parts.post(
          freeing(outcomeLetter(this.parts.deps.kinds, lane, finished), live, { trial, claim }),
        )
        this.parts.faults.settled(finished, goesOn)
        return tries === 1
      } catch (cause) {
        trial.over = true
        claim.drop(cause)
        live.settled = false
        const hasStalled = this.parts.faults.stalled(finished.work, trial)
        if (cause instanceof Fenced) return true
        const { failures } = finished
        finished = {
          ...finished,
          failures: failures + (await this.#faultOf(cause, { trial, failures, hasStalled })),
        }
        if (hasStalled) finished = { ...finished, ...this.#owed(finished.work) }
        const isInVain = finished.failures > IN_VAIN_AFTER || this.#hasFailedTooOften(finished.work)
        if (isInVain) this.#inVain(finished.work, cause)
        if (isInVain || tries >= SETTLE_TRIES) return false
        if (hasStalled) await this.parts.faults.mark(finished.work)
        await sleep(this.parts.deps.clock, Math.min(RETRY_MS, 50 * 2 ** tries))
      }
    }
  }

  /**
   * How many failures this one of an outcome's letter counts as. If the letter has kept everybody
   * waiting twice while alone, it has one more try.
   */
  async #faultOf(
    cause: unknown,
    { trial, failures, hasStalled }: { trial: LaneTrial; failures: number; hasStalled: boolean },
  ): Promise<number> {
    const blame = hasStalled ? 'perhaps' : blameFor(cause, trial)
    if (blame === 'sure') return 1
    // The connection was lost, but the database is still working.
    if (blame === 'hardly' && !(cause instanceof GaveWay))
      return (await this.parts.faults.isHeard()) ? 1 : 0
    return blame === 'perhaps'
      ? Math.max(1, IN_VAIN_AFTER - 1 - failures + (failures > 0 ? 1 : 0))
      : 0
  }

  #hasFailedTooOften(work: Work): boolean {
    const owed = this.parts.faults.suspects.owes(work)
    return owed > 0 && work.failures + owed >= inVainOf(this.parts.deps.kinds, work).most
  }

  /**
   * Counts as many failures as its kind allows before the row is settled as an orphan. Then its
   * record ends as far as is known, or the row rests.
   */
  #inVain(work: Work, cause: unknown): void {
    this.parts.deps.log.error(
      { err: cause, kind: work.kind, ref: work.ref_id, workspace: this.parts.own.tenantId },
      'an outcome could not be settled',
    )
    this.parts.faults.suspects.owe(work.id, inVainOf(this.parts.deps.kinds, work).most)
  }
}
