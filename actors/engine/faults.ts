/** Of one workspace: which rows of work fail, how their claims are made after that, and the letters that count failures in rows. */
import type { Ownership } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Manner } from './claim.ts'
import { type ActorDeps, Fenced } from './deps.ts'
import { BUSY_MS, blameFor, countLetter, isConvicted, logFailed, type Suspected } from './failure.ts'
import type { Letter } from './letter.ts'
import type { Suspects } from './suspects.ts'

export type Post = <R>(letter: Letter<R>) => Promise<{ reply: R }>

/** Claims that are made carefully after the death of a process: those that can have shared its last transaction. */
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

  /** Claims that may meet suspects run one after the other in this process: if it is kept busy meanwhile, that is why. */
  claim<T>(run: () => Promise<T>): Promise<T> {
    return this.suspects.isBack() ? this.deps.trouble.solo(run) : run()
  }

  /** `work` was decided, and runs or not. */
  decided({ id }: Work, { careful }: Manner, runs: boolean): void {
    if (careful) this.#careful--
    if (runs) this.suspects.claimed(id)
    else this.suspects.cleared(id)
  }

  /** A claim has failed. Undefined: the row has nothing to do with it. Otherwise it rests, and what fails alone is counted in it. */
  failed(work: Work, { alone, ...suspected }: Suspected & { alone: boolean }, cause: unknown): Promise<void> | undefined {
    if (cause instanceof Fenced) return this.#fenced(work, suspected)
    const blame = blameFor(cause, suspected, this.deps.trouble)
    if (!blame) return undefined
    const strikes = this.suspects.failed(work.id)
    if (blame === 'unknown' || (blame !== 'sure' && !alone) || !isConvicted(blame, { strikes, work })) return Promise.resolve()
    return this.count(work, strikes, cause).then(() => {})
  }

  /** What has cost this process its lease is suspect when it owns the workspace again. */
  #fenced(work: Work, { deciding, since = 0, took = 0 }: Suspected): undefined {
    if ((deciding || took >= BUSY_MS) && this.deps.trouble.loop.busySince(since) >= BUSY_MS) this.suspects.failed(work.id)
  }

  /** Counts failures of a row, in a transaction of its own. False: they were not, as while the database takes nothing. */
  async count(work: Work, failed: number, cause: unknown): Promise<boolean> {
    try {
      const { reply } = await this.post(countLetter(this.deps, work, failed))
      if (reply) logFailed(this.deps, this.own.tenantId, work, { failures: work.failures + failed, cause })
      this.suspects.cleared(work.id)
      return reply
    } catch (uncounted) {
      const about = { kind: work.kind, ref: work.ref_id, workspace: this.own.tenantId }
      if (!(uncounted instanceof Fenced)) this.deps.log.warn({ err: uncounted, ...about }, 'a failure of work could not be counted')
      return false
    }
  }
}
