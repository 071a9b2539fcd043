/**
 * The operator's pause of all workspaces, as this process carries it out: what runs unattended and
 * has not passed its point of no return is recalled, and the operator is told in the row of this
 * process.
 */
import { confirmRecall } from '#store/engine/nodes'
import type { ActorDeps, HoldWatch } from './deps.ts'

/**
 * How long to wait for lanes that were recalled. One that takes longer cannot begin its effect any
 * more, so nobody has to wait for it: the database still names it as under way.
 */
const SETTLE_MS = 2_000

interface RecallDeps extends Pick<ActorDeps, 'db' | 'clock' | 'log'> {
  hold: HoldWatch
  incarnation(): string
  /** The tenants that are awake. */
  awake(): Iterable<{ recallUnattended(): Promise<void> }>
}

export class RecallEverywhere {
  /** The pause, and the incarnation in whose row it is confirmed. */
  #confirmed = ''
  #running = false
  #isPaused = false

  constructor(private readonly deps: RecallDeps) {}

  /**
   * The lease was renewed, or a gate has seen a change. Does nothing if the pause is confirmed.
   */
  look(): void {
    this.#tell()
    void this.#recall()
  }

  #tell(): void {
    const { hold, log } = this.deps
    const isPaused = hold.everywhere !== null
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused)
      log.warn(
        { since: hold.everywhere },
        'the operator has paused every workspace: nothing unattended starts until "tendril admin resume --all"',
      )
    else log.info('the operator has resumed every workspace')
  }

  async #recall(): Promise<void> {
    const { hold, incarnation, db, clock, log } = this.deps
    const [since, self] = [hold.everywhere, incarnation()]
    const pause = `${self} ${since?.getTime()}`
    if (!since || this.#running || this.#confirmed === pause) return
    this.#running = true
    try {
      const all = [...this.deps.awake()].map((actor) => actor.recallUnattended())
      const late = Promise.withResolvers<void>()
      using _timer = clock.after(SETTLE_MS, late.resolve)
      await Promise.race([Promise.all(all), late.promise])
      await confirmRecall(db, { incarnation: self, since })
      this.#confirmed = pause
    } catch (cause) {
      log.warn({ err: cause }, 'the recall of unattended work could not be confirmed; will retry')
    } finally {
      this.#running = false
    }
  }
}
