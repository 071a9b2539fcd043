/**
 * The failing work of one workspace: which rows fail, how claims are made after that, and the
 * letters that count failures in rows.
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
 * How many claims are made carefully after a process has died: as many as can have shared its last
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

  /** The previous owner of the workspace has died, perhaps because of a claim. */
  beCareful(): void {
    this.#careful = CAREFUL_CLAIMS
  }

  /** How to claim now. */
  get manner(): Manner {
    const careful = this.#careful > 0
    return { careful, alone: careful || this.suspects.isBack() }
  }

  /**
   * Claims that may meet suspects run one at a time in this process, so that if it is kept busy
   * meanwhile, the claim is known to be the cause.
   */
  claim<T>(run: (hold?: Hold) => Promise<T>): Promise<T> {
    return this.suspects.isBackInEarnest() ? this.deps.trouble.solo(run) : run()
  }

  /** `work` was decided; `runs` says whether it is running. */
  decided({ id }: Work, { careful }: Manner, runs: boolean): void {
    if (careful) this.#careful--
    if (runs) this.suspects.claimed(id)
    else this.suspects.cleared(id)
  }

  /** A row was found but not claimed for now. */
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

  /** An outcome has been written, including the failures that the row owes if it goes on. */
  settled({ work, busy }: Pick<Finished, 'work' | 'busy'>, goesOn: boolean): void {
    if (!busy || !goesOn) this.suspects.cleared(work.id)
    else if (busy.failed > 0) this.suspects.counted(work.id)
  }

  /**
   * A claim has failed. Undefined if the row is not to blame. Otherwise the row rests, and a
   * failure alone is counted in it.
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
   * Whether the row kept the process busy while it was being decided. This is remembered, and
   * counted before the row is claimed again.
   */
  stalled(work: Work, suspected: Suspected): boolean {
    const isBusy = keptBusy(suspected, this.deps.trouble)
    if (isBusy) this.suspects.stalled(work)
    return isBusy
  }

  /**
   * Counts failures of a row in a transaction of its own. False if that was impossible, for
   * instance because the database accepts nothing.
   */
  async count(work: Work, failed: number, cause: unknown): Promise<boolean> {
    const count = () => this.post(countLetter(this.deps, work, failed))
    try {
      // The failure may have broken the connection, which only the first letter would discover.
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
   * A running row has kept the process busy and is about to be settled again. The mark tells the
   * next owner, in case this costs the lease.
   */
  async mark(work: Work): Promise<void> {
    await this.post(
      markLetter(work, this.deps.trouble.process, chargeOf(work, this.suspects, this.deps.trouble)),
    ).catch(() => {})
  }

  /** Whether the database accepts letters. */
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
