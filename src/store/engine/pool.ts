/** A pool of connections that is given up when it has gone dead without a word, as it does when the network between loses everything. */
import type postgres from 'postgres'

/** What was asked of a pool at some moment. */
export interface QueryWatch {
  /** The database has answered, with whatever. */
  answered(): void
  /** The time for it is over. */
  late(): void
}

export interface Pool extends AsyncDisposable {
  /** For the next query or transaction only: later it may be another. */
  readonly sql: postgres.Sql
  /** To be called when something is asked of `sql`. */
  ask(): QueryWatch
}

/** What still is answered on a pool that was given up has this long. */
const RETIRE_WITHIN_S = 1
/** All letters and requests have ended before the pools do. */
const END_WITHIN_S = 2

/**
 * TCP repeats what it has said ever more rarely: after an outage of half a minute, a connection stays dead for half a minute
 * more. So when something is late and nothing at all has been heard since it was asked, new connections are made. Once, until they
 * are heard from: a database that is reachable but stuck is not to be asked by ever more of them.
 */
export const openPool = (connect: () => postgres.Sql): Pool => {
  let current = connect()
  /** Answers of the connections of now. */
  let heard = 0
  const replace = (): void => {
    const dead = current
    current = connect()
    heard = 0
    // A query whose connection broke is never finished by the client: never without a time-out.
    dead.end({ timeout: RETIRE_WITHIN_S }).catch(() => {})
  }
  return {
    get sql() {
      return current
    },
    ask() {
      const [sql, before] = [current, heard]
      return {
        answered() {
          if (sql === current) heard++
        },
        late() {
          if (sql === current && heard > 0 && heard === before) replace()
        },
      }
    },
    [Symbol.asyncDispose]: () => current.end({ timeout: END_WITHIN_S }),
  }
}
