/**
 * Transactions. Each has a session, so that `begin` travels with the first statement and `commit`
 * with the last. Whatever happens to the connection, no statement runs outside its transaction.
 */
import { DeadlineError, withDeadline } from './deadline.ts'
import { type Connect, Session } from './session.ts'
import { both, cancel, type Fragment, ignoreFailure, type Sql, send, sqlBy } from './sql.ts'

/** The statements of one transaction. */
export interface Transaction extends Sql {
  /**
   * Runs a statement and commits with it, in one message. Nothing can follow. Use it only in a
   * transaction that has written nothing before: if the statement cannot even be sent, the commit
   * still is.
   */
  committing<Row>(statement: Fragment<Row>): Promise<Row[]>
  /** Runs the body so that its failure undoes only its own changes, and rejects. */
  savepoint<T>(body: () => Promise<T>): Promise<T>
  /** Set if letters of other workspaces may be decided in it (shared.ts). */
  readonly sharing?: Sharing
}

/** What a letter knows of the transaction that it shares. */
export interface Sharing {
  /** Whether no other letter has changed anything, and none would be decided after this one. */
  isLast(): boolean
  /** Whether no other letter has been decided in it. */
  isFirst(): boolean
  /** No other letter will be decided in it. */
  close(): void
}

/** A transaction, as the code sees it that runs it. */
export interface WholeTransaction extends Transaction {
  /**
   * A statement's error that no savepoint has undone. The database would answer a commit by rolling
   * back.
   */
  failure(): { cause: unknown } | undefined
}

/**
 * Connections are replaced after half an hour to an hour, as the client does elsewhere, because
 * Postgres keeps every statement that was prepared on a connection.
 */
const LIFETIME_MS = 1_800_000

class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
  readonly code = 'CONNECTION_CLOSED'
}

type Stage = 'unbegun' | 'beginning' | 'begun' | 'ended'

/** One transaction on a session. */
class Running {
  #stage: Stage = 'unbegun'
  /** How many connections had been lost before the one on which it began. */
  #lost = 0
  /** Whether to set a savepoint with the next statement. */
  #saves = false
  /** The statement that has not been answered yet. */
  #asked: ReturnType<typeof send> | undefined
  #failure: { cause: unknown } | undefined
  readonly sql: WholeTransaction = Object.assign(
    sqlBy((statement) => this.#ask(statement)),
    {
      committing: <Row>(statement: Fragment<Row>) => this.#committing(statement),
      savepoint: <T>(body: () => Promise<T>) => this.#savepoint(body),
      failure: () => this.#failure,
    },
  )

  constructor(private readonly session: Session) {}

  /** From now on, the body cannot send anything. */
  end(): void {
    this.#stage = 'ended'
  }

  /**
   * Runs the transaction. Rejects as soon as its connection closes, because the body may be waiting
   * for something else.
   */
  outcome<T>(body: (sql: WholeTransaction) => PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.session.onLost = () => {
        if (this.#stage !== 'begun') return
        this.end()
        reject(new ConnectionLost('the connection was lost'))
      }
      this.run(body).then(resolve, reject)
    })
  }

  async run<T>(body: (sql: WholeTransaction) => PromiseLike<T>): Promise<T> {
    try {
      const result = await body(this.sql)
      if (this.#failure) throw this.#failure.cause
      if (this.#stage === 'begun') await this.#commit()
      return result
    } catch (cause) {
      if (this.#isOpen()) this.#abort()
      this.end()
      throw cause
    }
  }

  /**
   * If the body has given up waiting for a statement, cancels the statement and gives up its
   * connection, because it holds locks.
   */
  #abort(): void {
    if (this.#asked) cancel(this.#asked)
    if (this.#asked) this.session.late()
    else this.session.rollBack()
  }

  #isOpen(): boolean {
    return (
      this.#stage === 'beginning' || (this.#stage === 'begun' && this.#lost === this.session.lost)
    )
  }

  #check(): void {
    if (this.#stage === 'ended') throw new DeadlineError('the transaction has ended')
    if (this.#stage === 'begun' && this.#lost !== this.session.lost)
      throw new ConnectionLost('the connection was lost')
  }

  async #commit(): Promise<void> {
    this.#check()
    this.#stage = 'ended'
    this.session.sent++
    await this.session.client.unsafe('commit')
    this.session.heard()
  }

  async #ask<Row>(statement: Fragment<Row>): Promise<Row[]> {
    this.#check()
    try {
      return await this.#sent(statement)
    } catch (cause) {
      this.#failure ??= { cause }
      throw cause
    } finally {
      this.#asked = undefined
    }
  }

  #sent<Row>(statement: Fragment<Row>): PromiseLike<Row[]> {
    const { client } = this.session
    this.session.sent++
    const asked = () => {
      this.#asked = send(client, statement)
      return this.#asked as unknown as PromiseLike<Row[]>
    }
    if (this.#stage === 'unbegun') return both(this.#begin(), asked())
    if (!this.#saves) return asked()
    this.#saves = false
    return both(client.unsafe('savepoint s').execute(), asked())
  }

  async #begin(): Promise<void> {
    this.#stage = 'beginning'
    await this.session.begin()
    this.session.heard()
    this.#lost = this.session.lost
    if (this.#stage === 'beginning') this.#stage = 'begun'
  }

  async #committing<Row>(statement: Fragment<Row>): Promise<Row[]> {
    this.#check()
    if (this.#stage !== 'begun' || this.#saves || this.#failure)
      throw new Error('only a transaction in good order can commit')
    this.#stage = 'ended'
    const { client } = this.session
    this.session.sent++
    const rows = send(client, statement)
    const committed = client.unsafe('commit').execute()
    ignoreFailure(committed)
    const result = await rows
    await committed
    this.session.heard()
    return result
  }

  async #savepoint<T>(body: () => Promise<T>): Promise<T> {
    this.#check()
    if (this.#stage !== 'begun') throw new Error('a savepoint needs a transaction')
    this.#saves = true
    try {
      return await body()
    } catch (cause) {
      // If it is still set, the body sent no statement, and there is no savepoint to return to.
      if (!this.#saves) await this.#backToSavepoint()
      throw cause
    } finally {
      this.#saves = false
    }
  }

  async #backToSavepoint(): Promise<void> {
    this.#check()
    await this.session.client.unsafe('rollback to savepoint s')
    this.#failure = undefined
  }
}

export interface Sessions extends AsyncDisposable {
  /**
   * Runs one transaction. The caller must not run more than `size` at once. Rejects at the deadline
   * of queries. By then the body is cut off.
   */
  transaction<T>(body: (sql: WholeTransaction) => PromiseLike<T>): Promise<T>
  /** How many messages with statements were sent. */
  sent(): number
}

export const openSessions = (
  size: number,
  connect: Connect,
  lifetimeMs = LIFETIME_MS,
): Sessions => {
  const all = Array.from({ length: size }, () => new Session(connect, lifetimeMs))
  const free = [...all]
  return {
    async transaction(body) {
      const session = free.pop()
      if (!session) throw new Error('more transactions at once than sessions')
      session.renew()
      const running = new Running(session)
      try {
        return await withDeadline(running.outcome(body), {
          answered() {},
          late: () => session.late(),
        })
      } finally {
        running.end()
        session.onLost = undefined
        free.push(session)
      }
    },
    sent: () => all.reduce((sum, session) => sum + session.sent, 0),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((session) => session[Symbol.asyncDispose]()))
    },
  }
}
