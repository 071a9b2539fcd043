/**
 * The actor of one tenant. Letters run one at a time, each in a transaction that begins with the
 * fence. The database is the truth; memory holds only the lanes that run here, the callers that
 * wait, and the next due time.
 */

import { AppError, isUnavailable } from '#kernel/errors'
import type { Ownership } from '#store/engine/letter'
import type { Result } from './decide-letter.ts'
import { type ActorDeps, Fenced, GaveWay } from './deps.ts'
import { CallerGone, commitTogether, type Envelope } from './group-commit.ts'
import { KeyedRequests, type Watch } from './keyed-requests.ts'
import { LaneRunner } from './lane-runner.ts'
import type { Decision, Letter, SequelResult } from './letter.ts'
import { Mailbox, type Queued } from './mailbox.ts'
import type { LetterEnding } from './meter.ts'
import { beginLetter, endLetter } from './traced.ts'
import { Waiters } from './waiters.ts'

const sequelOf = (
  result: SequelResult<unknown> | undefined,
): Partial<Extract<SequelResult<unknown>, { decision: unknown }>> =>
  typeof result === 'object' && 'decision' in result ? result : {}

const endingOf = (result: Result): LetterEnding => {
  if (!('cause' in result)) return 'done'
  const { cause } = result
  if (cause instanceof Fenced) return 'moved'
  if (cause instanceof CallerGone) return 'gone'
  return cause instanceof AppError && !isUnavailable(cause) ? 'refused' : 'failed'
}

/** The most control requests in flight. */
const MOST_URGENT = 100
/**
 * How long a caller waits for its letter to leave the mailbox and commit. The lane's time does not
 * count.
 */
const COMMIT_WITHIN_MS = 4_500

/**
 * How long an urgent request, such as the kill switch, waits while the letter of a timer or a lane
 * is being decided.
 */
const GIVE_WAY_MS = 400

/** A letter's reply, or the outcome that it waits for. */
interface Answered<R> {
  reply: R
  outcome?: Promise<unknown>
}

/** `gone`: the caller's time is over. If that happens before the letter begins, it never runs. */
interface Caller {
  gone: boolean
}

export class TenantActor {
  readonly #mailbox: Mailbox<Envelope>
  readonly #waiters: Waiters
  readonly #runner: LaneRunner
  readonly #keyed: KeyedRequests
  #gone = false
  #urgent = 0
  /** Stops waiting for the decision of a letter that no caller waits for. */
  #giveWay: (() => void) | undefined
  /** Monotonic time of the last letter. */
  #lastUsed: number

  constructor(
    readonly own: Ownership,
    private readonly deps: ActorDeps,
    private readonly onFenced: () => void,
  ) {
    this.#waiters = new Waiters(deps.clock, deps.replyWithinMs)
    this.#keyed = new KeyedRequests(own, deps.db, this.#waiters)
    this.#lastUsed = deps.clock.monotonic()
    this.#runner = new LaneRunner(own, deps, (letter) => this.#post(letter))
    const group = {
      ...deps,
      own,
      lanes: this.#runner,
      isOver: () => this.#gone,
      isUrgent: () => this.#mailbox.urgent,
      yielding: this.#yielding,
    }
    this.#mailbox = new Mailbox(
      (letter, following) => commitTogether(group, letter, following),
      deps.mailbox,
    )
  }

  /**
   * Settles the work of dead processes, then polls for due work. `inherited`: the previous owner of
   * the tenant has died.
   */
  activate(inherited = false): void {
    this.#runner.activate(inherited)
  }

  /** Work may have been changed by something other than a letter. */
  poll(): void {
    this.#runner.poll()
  }

  /** Every workspace is paused: resolves once what runs unattended has been settled or is out. */
  recallUnattended(): Promise<void> {
    return this.#runner.recallUnattended()
  }

  /** Adds the letters that wait in its mailbox. */
  addQueued(sum: Queued): void {
    this.#mailbox.addTo(sum)
  }

  /** Whether nothing runs, nothing waits, and nobody has asked for `ms`. */
  idleFor(ms: number): boolean {
    const unused = this.deps.clock.monotonic() - this.#lastUsed >= ms
    return (
      unused && this.#mailbox.idle && this.#runner.idle && this.#waiters.idle && this.#keyed.idle
    )
  }

  /**
   * Runs a letter and returns its reply. Rejects with `Fenced` if the tenant is not ours; then
   * nothing of the letter happened.
   */
  async ask<R>(letter: Letter<R>): Promise<R> {
    this.#lastUsed = this.deps.clock.monotonic()
    if (this.#gone) throw new Fenced()
    if (letter.priority === 'control') return this.#urgently(letter)
    return this.#once(letter)
  }

  /** Control requests have their own limit, because the mailbox counts only interactive ones. */
  async #urgently<R>(letter: Letter<R>): Promise<R> {
    if (this.#urgent >= MOST_URGENT)
      throw new AppError('rate_limited', 'mailbox', { retryAfter: 1 })
    this.#urgent++
    // It is still waiting, so the letter being decided is in its way.
    using _timer = this.deps.clock.after(GIVE_WAY_MS, () => this.#giveWay?.())
    this.deps.db.urgent(this.own.tenantId)
    try {
      return await this.#once(letter)
    } finally {
      this.#urgent--
    }
  }

  #once<R>(letter: Letter<R>): Promise<R> {
    return this.#keyed.run(letter, async (watch) => {
      if (this.#gone) throw new Fenced()
      return this.#replyTo(letter, watch)
    })
  }

  readonly #yielding = async <T>(deciding: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>()
    const giveWay = () => reject(new GaveWay('something urgent waited'))
    this.#giveWay = giveWay
    try {
      return await Promise.race([deciding, promise])
    } finally {
      if (this.#giveWay === giveWay) this.#giveWay = undefined
    }
  }

  /** Lets letters finish and lanes reach a safe point, for at most `ms`; then aborts them. */
  async stop(ms: number): Promise<void> {
    await this.#runner.stop(ms)
    await this.#mailbox.drained()
    this.#waiters.allLate()
    this.abandon()
  }

  /**
   * Ends everything at once without touching the database: the tenant was lost, or a crash is
   * simulated.
   */
  abandon(): void {
    this.#gone = true
    this.#runner.abandon()
    this.#waiters.rejectAll(
      new AppError('unavailable', 'the workspace moved to another process, try again'),
    )
  }

  /**
   * Answers the caller in time. `answered` is called after the letter, even if the caller has given
   * up by then.
   */
  async #replyTo<R>(letter: Letter<R>, { over, answered }: Watch = {}): Promise<R> {
    const caller: Caller = { gone: false }
    const posted = this.#post(letter, caller)
    if (over) posted.then(over, over)
    try {
      const { reply, outcome } = await this.#inTime(posted, caller)
      if (!outcome) return reply
      const answer = await outcome
      return answer === 'late' ? await letter.late!() : (answer as R)
    } finally {
      if (caller.gone)
        void posted
          .then(({ outcome }) => outcome?.catch(() => {}))
          .catch(() => {})
          .finally(answered)
      else answered?.()
    }
  }

  async #inTime<T>(running: Promise<T>, caller: Caller): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    using _timer = this.deps.clock.after(COMMIT_WITHIN_MS, () => {
      caller.gone = true
      reject(
        new AppError(
          'unavailable',
          'the workspace did not process the request in time, try again',
          { retryAfter: 1 },
        ),
      )
    })
    return await Promise.race([running, late])
  }

  async #post<R>(letter: Letter<R>, caller?: Caller): Promise<Answered<R>> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered<R>>()
    const { meter, tracer, clock } = this.deps
    const since = meter && clock.monotonic()
    const span = tracer && beginLetter(tracer, this.own, letter)
    const { provenance } = letter
    this.#mailbox.post({
      since,
      letter,
      provenance: span ? { ...provenance, trace: span.context } : provenance,
      priority: letter.priority,
      alone: letter.alone ?? false,
      demand: caller || letter.awaited ? 'asked' : 'unasked',
      shares: caller !== undefined && letter.priority === 'interactive' && !letter.alone,
      isGone: () => caller?.gone ?? false,
      settle: (result) => {
        meter?.letter(letter.name, endingOf(result), clock.monotonic() - since!)
        if (span) endLetter(span, endingOf(result))
        try {
          resolve(this.#settled(letter, result))
        } catch (cause) {
          reject(cause)
        }
      },
    })
    if (caller) this.deps.db.hurry(this.own.tenantId)
    return promise
  }

  #settled<R>(letter: Letter<R>, result: Result): Answered<R> {
    if ('cause' in result) throw this.#failed(letter, result.cause)
    const { decision, now, sequelResult, parts } = result
    for (const part of parts) this.#committed(letter, part, now)
    const { decision: second, isAhead } = sequelOf(sequelResult)
    // A poll made ahead of the letter's changes does not know them.
    if (second && isAhead) this.#committed(letter, second, now)
    const answered = this.#committed(letter, decision as Decision<R>, now)
    if (second && !isAhead) this.#committed(letter, second, now)
    if (sequelResult !== undefined) letter.sequel!.ended(sequelResult, now)
    return answered
  }

  /** Runs after the commit, in the same tick, before any later letter of this tenant. */
  #committed<R>(
    { name, provenance }: Letter<unknown>,
    { reply, effects = {}, awaits, withinMs, answers = [], polled }: Decision<R>,
    now: Date,
  ): Answered<R> {
    for (const answer of answers) this.#waiters.settle(answer.refId, answer.with)
    const outcome = awaits ? this.#waiters.wait(awaits, withinMs) : undefined
    this.#runner.committed(effects, polled, { now, priority: awaits ? 'control' : 'background' })
    this.deps.followers?.committed(this.own.tenantId, { name, provenance, effects })
    return outcome ? { reply, outcome } : { reply }
  }

  #failed<R>(letter: Letter<R>, cause: unknown): unknown {
    if (cause instanceof Fenced) {
      this.abandon()
      this.onFenced()
      return cause
    }
    if (cause instanceof CallerGone || (cause instanceof AppError && cause.code !== 'unavailable'))
      return cause
    const { name, provenance } = letter
    const request = provenance.requestId === undefined ? {} : { request_id: provenance.requestId }
    this.deps.log.error(
      { err: cause, letter: name, ...request, workspace: this.own.tenantId },
      'a letter failed',
    )
    this.#runner.recover()
    return cause
  }
}
