/**
 * A pool of connections that is replaced when it has silently died, as after a network outage that
 * drops everything.
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

/** Time for queries still answered on a replaced pool. */
const RETIRE_WITHIN_S = 1
/** All letters and requests have ended before the pools do. */
const END_WITHIN_S = 2

/**
 * TCP retransmits ever more rarely: after an outage of half a minute, a connection stays dead for
 * half a minute more. So if a query is late and nothing at all was received since it was sent, the
 * pool opens new connections. It does so once until these are heard from, so that a database that
 * is reachable but stuck does not get ever more connections.
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
