/** A session: a client with one connection, for one transaction at a time (transaction.ts). */
import type postgres from 'postgres'

/** Makes a client with at most one connection, which calls `onclose` whenever that closes. */
export type Connect = (onclose: () => void) => postgres.Sql

/** Time for a transaction that still runs on a client that was given up. */
const RETIRE_WITHIN_S = 1
/** All letters and requests have ended before the sessions do. */
const END_WITHIN_S = 2

export class Session {
  #client: postgres.Sql
  /** How many connections have been lost or given up. */
  lost = 0
  /** Called when the connection closes. */
  onLost: (() => void) | undefined
  /** Whether the present client has been answered. */
  #heard = false
  /** An earlier transaction may still be open on the connection. */
  #isDirty = false
  /** The present client has lost its connection. */
  #isClosed = false
  /** Monotonic time. */
  #livesUntil = 0

  constructor(
    private readonly connect: Connect,
    private readonly lifetimeMs: number,
  ) {
    this.#client = this.#open()
  }

  get client(): postgres.Sql {
    return this.#client
  }

  #open(): postgres.Sql {
    this.#livesUntil = performance.now() + this.lifetimeMs * (1 + Math.random())
    const client: postgres.Sql = this.connect(() => {
      if (client !== this.#client) return
      this.lost++
      this.#isDirty = false
      this.#isClosed = true
      this.onLost?.()
    })
    return client
  }

  heard(): void {
    this.#heard = true
  }

  /**
   * Between transactions: replaces a connection that is old, and a client whose connection was
   * lost. Such a client connects again by itself, but at times it never sends what it was given
   * meanwhile, and the transaction waits for its deadline.
   */
  renew(): void {
    if (this.#isClosed || (!this.#isDirty && performance.now() >= this.#livesUntil)) this.#replace()
  }

  begin(): Promise<unknown> {
    const text = this.#isDirty ? 'rollback; begin' : 'begin'
    this.#isDirty = false
    return this.#client.unsafe(text).execute()
  }

  /** Not awaited: nobody needs its end, and the connection's next transaction follows it. */
  rollBack(): void {
    const { lost } = this
    this.#client
      .unsafe('rollback')
      .execute()
      .catch(() => {
        if (lost === this.lost) this.#isDirty = true
      })
  }

  /**
   * Its transaction has not ended in time. TCP retransmits ever more rarely, so a connection may
   * stay dead long after the network is back: the client is replaced, but not before it has been
   * heard from, so that a database that is stuck does not get ever more connections.
   */
  late(): void {
    this.#isDirty = true
    if (this.#heard) this.#replace()
  }

  #replace(): void {
    const old = this.#client
    this.#client = this.#open()
    this.lost++
    this.#heard = false
    this.#isDirty = false
    this.#isClosed = false
    // The client never finishes a query whose connection broke, so `end` needs a timeout.
    old.end({ timeout: RETIRE_WITHIN_S }).catch(() => {})
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end({ timeout: END_WITHIN_S })
  }
}
