/** A session: a client with one connection, for one transaction at a time (transaction.ts). */
import type postgres from 'postgres'

/** Makes a client with at most one connection, which calls `onclose` whenever that closes. */
export type Connect = (onclose: () => void) => postgres.Sql

/** How long a transaction that still runs on an abandoned client may take to finish. */
const RETIRE_WITHIN_S = 1
/** All letters and requests have ended before the sessions do. */
const END_WITHIN_S = 2

export class Session {
  #client: postgres.Sql
  /** How many connections have been lost or given up. */
  lost = 0
  /** How many messages with statements were sent. */
  sent = 0
  /** Called when the connection closes. */
  onLost: (() => void) | undefined
  /** Whether the present client has received an answer. */
  #heard = false
  /** Whether an earlier transaction may still be open on the connection. */
  #isDirty = false
  /** Whether the present client has lost its connection. */
  #isClosed = false
  /** When to replace the connection, in monotonic time. */
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
   * Called between transactions. Replaces a connection that is old, and a client whose connection
   * was lost. Such a client reconnects by itself, but sometimes it never sends what it was given in
   * the meantime, and the transaction waits until its deadline.
   */
  renew(): void {
    if (this.#isClosed || (!this.#isDirty && performance.now() >= this.#livesUntil)) this.#replace()
  }

  begin(): Promise<unknown> {
    const text = this.#isDirty ? 'rollback; begin' : 'begin'
    this.#isDirty = false
    return this.#client.unsafe(text).execute()
  }

  /** Not awaited: nobody needs the result, and the connection's next transaction comes after it. */
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
   * Called when a transaction has not ended in time. TCP retransmits at growing intervals, so a
   * connection may stay dead long after the network is back. The client is replaced, but only if it
   * has received an answer before, so that a stuck database does not get more and more connections.
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
