/** Post times, which tell which slots of a cadence are taken. */
import type { Item } from '#domain/growth/drafting/item'
import type { TakenTime } from '#domain/growth/drafting/item-timing'
import type { Fragment, Query } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'

/**
 * Items that are scheduled, on their way or in doubt, and items posted recently. Nothing posted
 * longer ago can fall on a local day that has not ended. An item on its way counts with the time of
 * its claim, because its slot has passed; only the newest thousand of these can be in the way of a
 * slot. `ahead`: an interval that says how far to look. `now()` can use an index;
 * `clock_timestamp()` would scan the table.
 */
export const calendarOf =
  (ahead?: Fragment): Query<TakenTime> =>
  (sql) => {
    const until = ahead ? sql`and post_at < now() + ${ahead}` : sql``
    return sql<TakenTime>`select id as item_id, kind, post_at as at, true as ahead from item
      where status = 'approved' and post_at is not null ${until}
      union all
      (select id, kind, coalesce(post_at, updated_at), true from item
        where status in ('publishing', 'publish_unconfirmed')
        order by id desc limit 1000)
      union all
      select id, kind, posted_at, false from item where status = 'posted'
        and posted_at >= now() - interval '2 days'`
  }

export const calendarPart = many<TakenTime>({ at: true }, calendarOf())

/** An item with its time in the calendar. */
export interface DatedItem {
  id: string
  kind: Item['kind']
  status: Item['status']
  title: string | null
  excerpt: string
  tags: string[]
  url: string | null
  at: Date
}

/** Scheduled and posted items of a period, soonest first, with the beginnings of their texts. */
export const itemsAt = (
  { from, to }: { from: Date; to: Date },
  { limit, excerpt }: { limit: number; excerpt: number },
) =>
  many<DatedItem>({ at: true }, (sql) => {
    const columns = sql`id, kind, status, title, left(body, ${excerpt}) as excerpt, tags, url, at`
    const within = sql`at >= ${from} and at < ${to} order by at, id limit ${limit}`
    return sql`select * from ((select ${columns} from item where status = 'approved'
      and post_at is not null and ${within})
      union all (select ${columns} from item where status = 'posted' and ${within})) dated
        order by at, id limit ${limit}`
  })

/** How many items are scheduled, and how many of those should already have gone out. */
export const scheduledCounts = sure(
  one<{ scheduled: number; due: number }>(
    {},
    (sql) => sql`select count(*)::int as scheduled, (count(*) filter
      (where post_at <= clock_timestamp()))::int as due from item
      where status = 'approved' and post_at is not null`,
  ),
)
