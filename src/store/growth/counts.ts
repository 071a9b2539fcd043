/**
 * How many records of each kind there are. Each number is counted up to a bound, along an index.
 */
import type { Fragment, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'

export interface PostCounts {
  /** Awaiting approval. */
  drafted: number
  /** Includes the scheduled items. */
  approved: number
  scheduled: number
  publishing: number
  posted: number
  rejected: number
  publish_failed: number
  /** Items in doubt, including those in review. */
  publish_unconfirmed: number
  review: number
  /** Engagements that await approval. */
  engagements: number
  /** Open signals. */
  signals: number
  due_in_24h: number
}

/** Nobody needs a higher count. */
const MOST_COUNTED = 10_000

const countUpTo = (sql: Sql, rows: Fragment): Fragment =>
  sql`(select count(*)::int from (select 1 from ${rows} limit ${MOST_COUNTED}) counted)`

const items = (sql: Sql, status: string, more: Fragment = sql``): Fragment =>
  countUpTo(sql, sql`item where status = ${status} ${more}`)

/** Always a row. */
export const countsPart = sure(
  one<PostCounts>(
    {},
    (sql) => sql`select ${items(sql, 'drafted')} as drafted, ${items(sql, 'approved')} as approved,
      ${items(sql, 'approved', sql`and post_at is not null`)} as scheduled, ${items(sql, 'publishing')} as publishing,
      ${items(sql, 'posted')} as posted, ${items(sql, 'rejected')} as rejected, ${items(sql, 'publish_failed')} as publish_failed,
      ${items(sql, 'publish_unconfirmed')} as publish_unconfirmed, ${items(sql, 'publish_unconfirmed', sql`and review`)} as review,
      ${countUpTo(sql, sql`engagement where status = 'drafted'`)} as engagements,
      ${countUpTo(sql, sql`signal where status = 'open' and expires_at > now()`)} as signals,
      ${items(sql, 'approved', sql`and post_at < now() + interval '1 day'`)} as due_in_24h`,
  ),
)

export interface DueItem {
  id: string
  title: string
  post_at: Date
}

/** The next scheduled items, soonest first, each with the beginning of its text. */
export const nextScheduled = (most: number) =>
  many<DueItem>(
    { post_at: true },
    (sql) => sql`select id, left(split_part(coalesce(title, body), E'\n', 1), 120) as title, post_at
      from item
      where status = 'approved' and post_at is not null order by post_at, id limit ${most}`,
  )

/** A number for each name, as JSON. */
const byName = (sql: Sql, names: readonly string[], rowsOf: (name: string) => Fragment): Fragment =>
  sql`jsonb_build_object(${names.map((name, index) => sql`${index === 0 ? sql`` : sql`,`} ${name}::text, ${countUpTo(sql, rowsOf(name))}`)})`

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
        jsonb_build_object('items', ${countUpTo(
          sql,
          sql`item where status = 'publish_unconfirmed'
          and review`,
        )},
          'engagements', ${countUpTo(sql, sql`engagement where status = 'execute_unconfirmed' and review`)}) as review,
        ${countUpTo(sql, sql`signal where status = 'open'`)} as signals,
        ${countUpTo(
          sql,
          sql`item where status = 'approved' and post_at <= clock_timestamp() + interval
          '24 hours'`,
        )} as due_24h`,
    ),
  )
