/**
 * Of one workspace: which rows of work fail, how their claims are made after that, and the letters
 * that count failures in rows.
 */
import { isTimedOut } from '#store/engine/db'
import type { Ownership } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { byTimer, chargeOf, type Manner, markLetter, type Put } from './claim.ts'
import { type ActorDeps, Fenced, type Hold } from './deps.ts'
import {
  blameFor,
  countLetter,
  isConvicted,
  KeptBusy,
  keptBusy,
  logFailed,
  type Suspected,
} from './failure.ts'
import type { Letter } from './letter.ts'
import type { Finished } from './outcome.ts'
import type { Suspects } from './suspects.ts'

export type Post = <R>(letter: Letter<R>) => Promise<{ reply: R }>

/**
 * Claims that are made carefully after the death of a process: those that can have shared its last
 * transaction.
 */
const CAREFUL_CLAIMS = 16

export class Faults {
  readonly suspects: Suspects
  #careful = 0

  constructor(
    private readonly own: Ownership,
    private readonly deps: ActorDeps,
    private readonly post: Post,
  ) {
    this.suspects = deps.trouble.suspects(own.tenantId)
  }

  /** The process that owned the workspace before has died, perhaps by a claim. */
  beCareful(): void {
    this.#careful = CAREFUL_CLAIMS
  }

  /** How to claim now. */
  get manner(): Manner {
    const careful = this.#careful > 0
    return { careful, alone: careful || this.suspects.isBack() }
  }

  /**
   * Claims that may meet suspects run one after the other in this process: if it is kept busy
   * meanwhile, that is why.
   */
  claim<T>(run: (hold?: Hold) => Promise<T>): Promise<T> {
    return this.suspects.isBackInEarnest() ? this.deps.trouble.solo(run) : run()
  }

  /** `work` was decided, and runs or not. */
  decided({ id }: Work, { careful }: Manner, runs: boolean): void {
    if (careful) this.#careful--
    if (runs) this.suspects.claimed(id)
    else this.suspects.cleared(id)
  }

  /** A row was found and not claimed, for now. */
  put({ work, failed = 0, waits }: Put): void {
    if (failed > 0)
      this.#counted(
        work,
        failed,
        new KeptBusy('it kept the process busy, or the process died of it'),
      )
    else if (waits) this.suspects.later(work.id, this.deps.trouble.calmIn())
    else this.suspects.alone(work.id)
  }

  /** An outcome has been written, with what the row owes if it goes on. */
  settled({ work, busy }: Pick<Finished, 'work' | 'busy'>, goesOn: boolean): void {
    if (!busy || !goesOn) this.suspects.cleared(work.id)
    else if (busy.failed > 0) this.suspects.counted(work.id)
  }

  /**
   * A claim has failed. Undefined: the row has nothing to do with it. Otherwise it rests, and what
   * fails alone is counted in it.
   */
  failed(
    work: Work,
    { alone, ...suspected }: Suspected & { alone: boolean },
    cause: unknown,
  ): Promise<void> | undefined {
    if (this.stalled(work, suspected)) return Promise.resolve()
    const blame = cause instanceof Fenced ? undefined : blameFor(cause, suspected)
    if (!blame) return undefined
    const strikes = this.suspects.failed(work.id, blame === 'sure' && !isTimedOut(cause))
    if (
      blame === 'unknown' ||
      (blame !== 'sure' && !alone) ||
      !isConvicted(blame, { strikes, work })
    )
      return Promise.resolve()
    return this.count(work, strikes, cause).then(() => {})
  }

  /**
   * Whether it has kept the process busy while it was decided. That is remembered, and counted
   * before the row is claimed again.
   */
  stalled(work: Work, suspected: Suspected): boolean {
    const isBusy = keptBusy(suspected, this.deps.trouble)
    if (isBusy) this.suspects.stalled(work)
    return isBusy
  }

  /**
   * Counts failures of a row, in a transaction of its own. False: they were not, as while the
   * database takes nothing.
   */
  async count(work: Work, failed: number, cause: unknown): Promise<boolean> {
    const count = () => this.post(countLetter(this.deps, work, failed))
    try {
      // What has failed may have cost the connection, and the first letter is what finds that out.
      const { reply } = await count().catch(count)
      if (reply) this.#counted(work, failed, cause)
      else this.suspects.cleared(work.id)
      return reply
    } catch (uncounted) {
      const about = { kind: work.kind, ref: work.ref_id, workspace: this.own.tenantId }
      if (!(uncounted instanceof Fenced))
        this.deps.log.warn({ err: uncounted, ...about }, 'a failure of work could not be counted')
      return false
    }
  }

  /**
   * A running row has kept the process busy, and is about to be settled again: should that cost the
   * lease, the next owner knows of it.
   */
  async mark(work: Work): Promise<void> {
    await this.post(
      markLetter(work, this.deps.trouble.process, chargeOf(work, this.suspects, this.deps.trouble)),
    ).catch(() => {})
  }

  /** Whether the database takes letters. */
  async isHeard(): Promise<boolean> {
    const nothing: Letter<void> = {
      name: 'probe',
      priority: 'background',
      alone: true,
      provenance: byTimer,
      decide: async () => ({ reply: undefined }),
    }
    const ask = () => this.post(nothing).then(() => true)
    return ask()
      .catch(ask)
      .catch(() => false)
  }

  #counted(work: Work, failed: number, cause: unknown): void {
    logFailed(this.deps, this.own.tenantId, work, { failures: work.failures + failed, cause })
    this.suspects.counted(work.id)
  }
}
