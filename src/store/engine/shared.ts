/**
 * A transaction that letters of several workspaces share, because a commit costs more than most
 * letters. They are decided one after the other, each under its own tenant, and each hears of its
 * result after the commit.
 */
import { isUnavailable } from '#kernel/errors'
import { DeadlineError } from './deadline.ts'
import { type Fragment, ignoreFailure, sqlBy } from './sql.ts'
import type { Sharing, Transaction, WholeTransaction } from './transaction.ts'

/** Decides letters of one workspace in a transaction. */
type Body = (sql: Transaction) => PromiseLike<unknown>

/**
 * What a body throws that has changed nothing, so that nothing is committed for it: that would only
 * wait for the disk. Its cause, if it has one, is its result.
 */
export class Unchanged extends Error {
  override readonly name = 'Unchanged'
}

/**
 * Nothing of the body happened, perhaps because of another one in its transaction. It is to be
 * decided in a transaction of its own.
 */
export class NotShared extends Error {
  override readonly name = 'NotShared'
}

/** A body that waits for a place in a shared transaction, or has one. */
export interface Seat {
  tenantId: string
  /** What its letter does. Kinds that have been slow do not share. */
  kind: string
  body: Body
  /** Something urgent waits behind it, so no other body is decided after it. */
  isUrgent: boolean
  /** It no longer shares: it is decided in a transaction of its own, and only its place is left. */
  isApart: boolean
  resolve(value: unknown): void
  reject(cause: unknown): void
}

/** How often `look` is called. It counts calls, not time, so that a busy loop counts once. */
export const LOOK_EVERY_MS = 100
/** How many bodies share a transaction: the first waits for all. */
const MOST_TOGETHER = 16
/** For how long others can join, and a body can be silent while others wait for it. */
export interface Patience {
  joinMs: number
  silentMs: number
}

type Result = { value: unknown } | { cause: unknown }

interface SharedParts {
  patience: Patience
  /** Whether letters wait for a place. */
  isAwaited(): boolean
  /** Gives back the place of the last body, and takes the next one that waits, with its place. */
  following(last: Seat): Promise<Seat>
  /** Takes a body, with its place, to another transaction, because this one is over. */
  elsewhere(seat: Seat): void
  /** A body took `ms`. */
  took(seat: Seat, ms: number): void
}

export class SharedTransaction {
  readonly #seats: Seat[] = []
  readonly #results = new Map<Seat, Result>()
  #joinUntil = 0
  #isClosed = false
  #hasChanged = false
  /** Whether the commit may have been sent. */
  #isEnding = false
  #isOver = false
  #turn: Turn | undefined
  #holder: Seat | undefined
  #culprit: Seat | undefined

  constructor(private readonly parts: SharedParts) {}

  /** The body whose place the transaction has. Between two bodies it has none. */
  get holder(): Seat | undefined {
    return this.#holder
  }

  /** Decides the first body and all that follow. */
  async decideAll(sql: WholeTransaction, first: Seat): Promise<void> {
    this.#holder = first
    this.#joinUntil = performance.now() + this.parts.patience.joinMs
    for (let seat: Seat | undefined = first; seat; seat = await this.#next(seat))
      await this.#decide(sql, seat)
    this.#isEnding = true
    if (!this.#hasChanged) throw new Unchanged()
  }

  has(seat: Seat): boolean {
    return this.#seats.includes(seat)
  }

  /** Nobody joins any more. */
  close(): void {
    this.#isClosed = true
  }

  /**
   * Called at intervals. Gives up a body that is silent while others wait for it, unless its commit
   * was sent: that one may happen.
   */
  look(): void {
    const isInTheWay = this.#seats.length > 1 || this.parts.isAwaited()
    if (isInTheWay && !this.#isEnding)
      this.#turn?.look(this.parts.patience.silentMs / LOOK_EVERY_MS)
  }

  /**
   * Tells each body its result. `failure`: why the transaction was not committed. Returns the body
   * for which others were disturbed.
   */
  tell(failure: { cause: unknown } | undefined): Seat | undefined {
    this.#isOver = true
    const result = failure && !(failure.cause instanceof Unchanged) && this.#resultOf(failure)
    for (const seat of this.#seats) {
      const told = result || this.#results.get(seat)!
      if ('cause' in told) seat.reject(told.cause)
      else seat.resolve(told.value)
    }
    return result && result !== failure ? this.#culprit : undefined
  }

  /**
   * A failure is that of each body if it was alone in the transaction, or if the answer to the
   * commit was lost, so that all may have happened.
   */
  #resultOf(failure: { cause: unknown }): { cause: unknown } {
    const isLost = this.#isEnding && isUnavailable(failure.cause)
    const isAlone = this.#seats.length === 1 && !(failure.cause instanceof GivenUp)
    return isLost || isAlone ? failure : { cause: new NotShared() }
  }

  #isFull(): boolean {
    const isLate = performance.now() >= this.#joinUntil
    return this.#isClosed || isLate || this.#seats.length >= MOST_TOGETHER
  }

  async #next(last: Seat): Promise<Seat | undefined> {
    const isLast = this.#isOver || this.#isEnding || this.#isFull()
    if (isLast || !this.parts.isAwaited()) return undefined
    this.#holder = undefined
    const seat = await this.parts.following(last)
    if (this.#isOver) {
      this.parts.elsewhere(seat)
      throw new NotShared()
    }
    this.#holder = seat
    return seat.isApart ? undefined : seat
  }

  async #decide(sql: WholeTransaction, seat: Seat): Promise<void> {
    this.#seats.push(seat)
    const turn = new Turn(sql, this.#sharingOf(seat), () => {
      this.#isEnding = true
    })
    this.#turn = turn
    const since = performance.now()
    try {
      const result = await turn.take(seat.body)
      const failure = sql.failure()
      if (failure) throw failure.cause
      this.#results.set(seat, result)
      this.#hasChanged ||= 'value' in result
    } catch (cause) {
      this.#culprit = seat
      throw cause
    } finally {
      this.#turn = undefined
      this.parts.took(seat, performance.now() - since)
      if (seat.isUrgent) this.close()
    }
  }

  #sharingOf(seat: Seat): Sharing {
    return {
      isFirst: () => this.#seats[0] === seat,
      isLast: () => !this.#hasChanged && (this.#isFull() || !this.parts.isAwaited()),
      close: () => this.close(),
    }
  }
}

/** A body was silent for too long. */
class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** The time in which one body may use the transaction. */
class Turn {
  #isOver = false
  /** Statements that have not been answered. */
  readonly #asked = new Set<Promise<unknown>>()
  /** How many statements were sent or answered: now, and at the last look. */
  #steps = 0
  #seen = -1
  /** How many looks in a row found nothing new. */
  #looks = 0
  readonly #givenUp = Promise.withResolvers<never>()
  readonly sql: Transaction

  constructor(
    private readonly whole: Transaction,
    sharing: Sharing,
    private readonly onCommitting: () => void,
  ) {
    ignoreFailure(this.#givenUp.promise)
    this.sql = Object.assign(
      sqlBy((statement) => this.#ask(() => whole`${statement}`.then())),
      {
        committing: <Row>(statement: Fragment<Row>) => this.#committing(statement),
        savepoint: <T>(body: () => Promise<T>) => {
          this.#check()
          return whole.savepoint(body)
        },
        sharing,
      },
    )
  }

  /**
   * Once the body has ended, it can send nothing more, and all that it has sent is answered: so
   * none of its statements runs under the tenant of the next body.
   */
  async take(body: Body): Promise<Result> {
    const result = await this.#resultOf(body)
    while (this.#asked.size > 0)
      await Promise.race([Promise.allSettled(this.#asked), this.#givenUp.promise])
    return result
  }

  async #resultOf(body: Body): Promise<Result> {
    try {
      return { value: await Promise.race([body(this.sql), this.#givenUp.promise]) }
    } catch (cause) {
      if (!(cause instanceof Unchanged)) throw cause
      return { cause: cause.cause ?? cause }
    } finally {
      this.#isOver = true
    }
  }

  /** Gives up the body once `most` looks in a row have found nothing new. */
  look(most: number): void {
    this.#looks = this.#seen === this.#steps ? this.#looks + 1 : 0
    this.#seen = this.#steps
    if (this.#looks >= most) this.#givenUp.reject(new GivenUp())
  }

  #check(): void {
    if (this.#isOver) throw new DeadlineError('the letter has ended')
  }

  async #ask<Row>(send: () => Promise<Row[]>): Promise<Row[]> {
    this.#check()
    const asked = send()
    this.#steps++
    this.#asked.add(asked)
    try {
      return await asked
    } finally {
      this.#steps++
      this.#asked.delete(asked)
    }
  }

  #committing<Row>(statement: Fragment<Row>): Promise<Row[]> {
    return this.#ask(() => {
      this.onCommitting()
      return this.whole.committing(statement)
    })
  }
}
