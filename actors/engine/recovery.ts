/** Settles rows that a dead process or a failed letter left running. */
import type { Ownership } from '#store/engine/letter'
import { runningElsewhere, type Work } from '#store/engine/work'
import { byTimer } from './claim.ts'
import type { Claimer } from './claimer.ts'
import { type ActorDeps, Fenced, restAfter } from './deps.ts'
import { blameFor, KeptBusy, type Suspected } from './failure.ts'
import type { Faults, Post } from './faults.ts'
import type { AnyLane } from './lane.ts'
import { orphanLetter } from './outcome.ts'
import { traceOfWork } from './traced.ts'

interface RecoveryParts {
  own: Ownership
  deps: ActorDeps
  post: Post
  faults: Faults
  claimer: Pick<Claimer, 'forget' | 'pumpUnlessPaused'>
  /** Ids of the work that runs here. */
  ids(): string[]
}

export class Recovery {
  readonly #lanes: ReadonlyMap<string, AnyLane>
  /** Rows that could not be settled after the death of their process. */
  readonly #unsettled = new Set<string>()
  #timer: Disposable | undefined
  #isRunning = false
  /** Something failed during a recovery, which may have read the rows too early. */
  #again = false
  /** Failures in a row. */
  #failures = 0
  #stopping = false

  constructor(private readonly parts: RecoveryParts) {
    this.#lanes = new Map(parts.deps.lanes.map((lane) => [lane.kind, lane]))
  }

  /** Settles each leftover row by the rule of its kind, and retries until that succeeds. */
  recover(): void {
    const { claimer } = this.parts
    claimer.forget()
    if (this.#isRunning) this.#again = true
    if (this.#isRunning || this.#stopping) return
    this.#isRunning = true
    void this.#recoverAll()
      .catch((cause) => {
        this.#again = !(cause instanceof Fenced)
      })
      .then(() => {
        this.#isRunning = false
        this.#failures = this.#again ? this.#failures + 1 : 0
        if (this.#stopping) return
        if (this.#again) this.#recoverLater(restAfter(this.#failures))
        this.#again = false
        claimer.pumpUnlessPaused()
      })
  }

  halt(): void {
    this.#stopping = true
    this.#timer?.[Symbol.dispose]()
  }

  /** Has a timer of its own, because every claim resets the one for due work. */
  #recoverLater(ms: number): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = this.parts.deps.clock.after(ms, () => this.recover())
  }

  async #recoverAll(): Promise<void> {
    const { post, ids } = this.parts
    const { reply } = await post<{ rows: Work[]; now: Date }>({
      name: 'recover',
      priority: 'control',
      provenance: byTimer,
      decide: async (sql, { now }) => ({
        reply: { rows: await runningElsewhere(sql, ids()), now },
      }),
    })
    for (const work of reply.rows) await this.#recoverOne(work, reply.now)
  }

  /** The context of its trace, or of a new one. */
  #traceOf(work: Work, now: Date): string | undefined {
    const { own, deps } = this.parts
    const trace = deps.tracer && traceOfWork(deps.tracer, own, work, now)
    trace?.first?.end('left')
    return trace?.context
  }

  async #recoverOne(work: Work, now: Date): Promise<void> {
    const lane = this.#lanes.get(work.kind)
    if (!lane) return
    const { deps, faults, post, ids } = this.parts
    const owed = faults.suspects.owes(work)
    if (
      owed > 0 &&
      !(await faults.count(work, owed, new KeptBusy('its outcome could not be settled')))
    ) {
      this.#again = true
      return
    }
    const trial: Suspected = {}
    const isAgain = this.#unsettled.has(work.id)
    const { kinds, trouble } = deps
    const orphan = { kinds, lane, work, trouble, trace: this.#traceOf(work, now) }
    const letter = orphanLetter(orphan, { runsHere: () => ids().includes(work.id), isAgain, trial })
    await post(letter).then(
      () => this.#unsettled.delete(work.id),
      (cause) => this.#failed(work, trial, cause),
    )
  }

  async #failed(work: Work, trial: Suspected, cause: unknown): Promise<void> {
    const { own, deps, faults } = this.parts
    const hasStalled = faults.stalled(work, trial)
    if (cause instanceof Fenced) throw cause
    this.#again = true
    deps.log.error(
      { err: cause, kind: work.kind, ref: work.ref_id, workspace: own.tenantId },
      'orphaned work could not be settled',
    )
    const blame = hasStalled ? undefined : blameFor(cause, trial)
    if (blame === 'sure' || (blame === 'perhaps' && this.#unsettled.has(work.id)))
      await faults.count(work, 1, cause)
    this.#unsettled.add(work.id)
  }
}
