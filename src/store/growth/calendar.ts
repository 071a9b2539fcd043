/** Post times, which tell which slots of a cadence are taken. */
import type { Item } from '#domain/growth/drafting/item'
import type { SlotTaker, TakenTime } from '#domain/growth/drafting/item-timing'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { defaultAccountId } from './connections.ts'

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

/**
 * The account by which a post goes out: that of its approval, or else the chosen or the default
 * one.
 */
const senderOf = (sql: Sql, item: Fragment): Fragment =>
  sql`coalesce(${item}.account_external_id,
    (select c.external_id from connection c where c.id = ${item}.account_id), ${defaultAccountId(sql)})`

interface Slot {
  at: Date
  /** An item, whose own time does not count. */
  itemId: string | null
  /** The id of an account; otherwise that of the item, or the default one. */
  account?: string | undefined
}

const MINUTE_MS = 60_000

/**
 * Another post of the account in the minute of a time: scheduled for it, or on its way, in doubt or
 * posted in it. One that a person has posted at once is there since its request to the network, so
 * it is never in a minute to come.
 */
export const slotTaker = ({ at, itemId, account }: Slot) =>
  one<SlotTaker>({}, (sql) => {
    const minute = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS
    const [from, to] = [new Date(minute), new Date(minute + MINUTE_MS)]
    const sender =
      account === undefined
        ? sql`coalesce((select ${senderOf(sql, sql`own`)} from item own where own.id = ${itemId}), ${defaultAccountId(sql)})`
        : sql`(select c.external_id from connection c where c.id = ${account})`
    const ofAccount = sql`o.id is distinct from ${itemId}::uuid
      and ${senderOf(sql, sql`o`)} is not distinct from ${sender}`
    const begun = sql`coalesce((select max(a.intent_at) from attempt a where a.item_id = o.id),
      o.updated_at)`
    return sql`(select o.id as item_id, o.status, o.decision from item o
        where o.status in ('approved', 'publishing', 'publish_unconfirmed', 'posted')
          and o.at >= ${from} and o.at < ${to} and (o.post_at is not null or o.status = 'posted')
          and ${ofAccount} limit 1)
      union all
      (select o.id, o.status, o.decision from item o where ${from} <= now()
        and o.status in ('publishing', 'publish_unconfirmed') and o.post_at is null
        and ${begun} >= ${from} and ${begun} < ${to} and ${ofAccount} limit 1)
      limit 1`
  })

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
