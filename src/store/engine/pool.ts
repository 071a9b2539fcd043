/**
 * A pool of connections that is replaced when it has silently died, for example after a network
 * outage that drops all packets.
 */
import type postgres from 'postgres'

/** A query sent on a pool. */
export interface QueryWatch {
  /** The database answered, with a result or an error. */
  answered(): void
  /** Its deadline has passed. */
  late(): void
}

export interface Pool extends AsyncDisposable {
  /** For the next query or transaction only; it may change afterwards. */
  readonly sql: postgres.Sql
  /** Call it when a query is sent on `sql`. */
  ask(): QueryWatch
}

/** How long queries on a replaced pool may take to finish. */
const RETIRE_WITHIN_S = 1
/** All letters and requests have ended before the pools do. */
const END_WITHIN_S = 2

/**
 * TCP retransmits at growing intervals: after an outage of half a minute, a connection stays dead
 * for another half minute. So if a query is late and nothing at all has been received since it was
 * sent, the pool opens new connections. It does that only once until these have answered, so that a
 * database that is reachable but stuck does not get more and more connections.
 */
export const openPool = (connect: () => postgres.Sql): Pool => {
  let current = connect()
  /** Answers received on the current connections. */
  let answers = 0
  const replace = (): void => {
    const dead = current
    current = connect()
    answers = 0
    // The client never finishes a query whose connection broke, so `end` needs a timeout.
    dead.end({ timeout: RETIRE_WITHIN_S }).catch(() => {})
  }
  return {
    get sql() {
      return current
    },
    ask() {
      const [sql, before] = [current, answers]
      return {
        answered() {
          if (sql === current) answers++
        },
        late() {
          if (sql === current && answers > 0 && answers === before) replace()
        },
      }
    },
    [Symbol.asyncDispose]: () => current.end({ timeout: END_WITHIN_S }),
  }
}
