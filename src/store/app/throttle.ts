import { createHash } from 'node:crypto'
import type { TryLimit } from '#domain/app/person'
import { fail } from '#kernel/errors'
import type { Db, Sql } from '../engine/db.ts'

/** A counter by name, with its limit. */
export interface Throttled {
  name: string
  limit: TryLimit
}

const keyOf = ({ name }: Throttled): string => createHash('sha256').update(name).digest('base64')

const MOST_REMOVED = 50

/** The count including this use, and the seconds until the window ends. */
const count = async (sql: Sql, counter: Throttled): Promise<{ used: number; wait: number }> => {
  const [row] = await sql<{
    used: number
    wait: number
  }>`insert into throttle as t (key, used, until)
    values (${keyOf(counter)}, 1, clock_timestamp() + ${counter.limit.withinS} * interval
      '1 second')
    on conflict (key) do update set
      used = case when t.until > clock_timestamp() then t.used + 1 else 1 end,
      until = case when t.until > clock_timestamp() then t.until else excluded.until end
    returning used, extract(epoch from until - clock_timestamp())::float8 as wait`
  return row!
}

/**
 * Counts one use of each counter. If one is over its limit, throws `rate_limited:<action>` with the
 * seconds until its window ends. However many callers come at once, only as many as the limit get
 * through. A refused call does not count against the other counters, so a caller who is stopped at
 * one address cannot lock an account for everybody. Also removes a few windows that are over.
 */
export const takeTry = async (db: Db, action: string, counted: Throttled[]): Promise<void> => {
  const refused = await db.system(async (sql) => {
    await sql`delete from throttle where key in (select key from throttle
      where until < clock_timestamp() order by until limit ${MOST_REMOVED})`
    for (const [index, one] of counted.entries()) {
      const { used, wait } = await count(sql, one)
      if (used > one.limit.most) return { wait, before: counted.slice(0, index) }
    }
    return undefined
  })
  if (!refused) return
  if (refused.before.length > 0) await returnTry(db, refused.before)
  fail('rate_limited', action, { retryAfter: refused.wait })
}

/**
 * Gives back exactly what `takeTry` counted, because one correct password does not excuse the wrong
 * ones before it.
 */
export const returnTry = (db: Db, counted: Throttled[]): Promise<unknown> =>
  db.system(
    (sql) =>
      sql`update throttle set used = greatest(used - 1, 0)
        where key = any(${counted.map(keyOf)}::text[]) and until > clock_timestamp()`,
  )

/** Clears the counters after a success. */
export const forgetTries = (db: Db, counted: Throttled[]): Promise<unknown> =>
  db.system((sql) => sql`delete from throttle where key = any(${counted.map(keyOf)}::text[])`)
