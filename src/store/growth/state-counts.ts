/** How many records are in each state. Each number is counted up to a bound, from an index. */
import type { Fragment, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'

const MOST = 10_000

const upTo = (sql: Sql, rows: Fragment): Fragment =>
  sql`(select count(*)::int from (select 1 from ${rows} limit ${MOST}) counted)`

/** A number for each name, as JSON. */
const byName = (sql: Sql, names: readonly string[], rowsOf: (name: string) => Fragment): Fragment =>
  sql`jsonb_build_object(${names.map((name, index) => sql`${index === 0 ? sql`` : sql`,`} ${name}::text, ${upTo(sql, rowsOf(name))}`)})`

export interface StateCounts {
  items: Record<string, number>
  engagements: Record<string, number>
  review: { items: number; engagements: number }
  signals: number
  due_24h: number
}

export const countsOf = ({
  items,
  engagements,
}: {
  items: readonly string[]
  engagements: readonly string[]
}) =>
  sure(
    one<StateCounts>(
      {},
      (sql) => sql`select ${byName(sql, items, (status) =>
        status === 'scheduled'
          ? sql`item where status = 'approved' and post_at is not null`
          : sql`item where status = ${status}`,
      )} as items,
        ${byName(sql, engagements, (status) => sql`engagement where status = ${status}`)} as
          engagements,
        jsonb_build_object('items', ${upTo(
          sql,
          sql`item where status = 'publish_unconfirmed'
          and review`,
        )},
          'engagements', ${upTo(sql, sql`engagement where status = 'execute_unconfirmed' and review`)}) as review,
        ${upTo(sql, sql`signal where status = 'open'`)} as signals,
        ${upTo(
          sql,
          sql`item where status = 'approved' and post_at <= clock_timestamp() + interval
          '24 hours'`,
        )} as due_24h`,
    ),
  )
