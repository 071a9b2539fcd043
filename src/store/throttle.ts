import { createHash } from 'node:crypto'
import type { TryLimit } from '#domain/person'
import { fail } from '#kernel/errors'
import type { Db } from './db.ts'

/** Something that is counted, by the name under which it is. */
export interface Counted {
  name: string
  limit: TryLimit
}

const keyOf = ({ name }: Counted): string => createHash('sha256').update(name).digest('base64')

/** Throws `rate_limited:<action>` with the seconds until the window ends, when one of them is used up. Counts nothing. */
export const requireUnspent = async (db: Db, action: string, counted: Counted[]): Promise<void> => {
  const keys = counted.map(keyOf)
  const rows = await db.system(
    (sql) => sql<{ key: string; used: number; wait: number }[]>`
      select key, used, extract(epoch from until - clock_timestamp())::float8 as wait from throttle
      where key = any(${keys}::text[]) and until > clock_timestamp()`,
  )
  for (const one of counted) {
    const row = rows.find(({ key }) => key === keyOf(one))
    if (row && row.used >= one.limit.most) fail('rate_limited', action, { retryAfter: row.wait })
  }
}

const SWEPT = 50

/** Counts one use of each. Windows that are over go, a few at a time. */
export const countTry = (db: Db, counted: Counted[]): Promise<unknown> =>
  db.system(async (sql) => {
    for (const one of counted)
      await sql`insert into throttle as t (key, used, until)
        values (${keyOf(one)}, 1, clock_timestamp() + ${one.limit.withinS} * interval '1 second')
        on conflict (key) do update set
          used = case when t.until > clock_timestamp() then t.used + 1 else 1 end,
          until = case when t.until > clock_timestamp() then t.until else excluded.until end`
    await sql`delete from throttle where key in (select key from throttle where until < clock_timestamp() order by until limit ${SWEPT})`
  })

/** A success ends the count. */
export const forgetTries = (db: Db, counted: Counted[]): Promise<unknown> =>
  db.system((sql) => sql`delete from throttle where key = any(${counted.map(keyOf)}::text[])`)
