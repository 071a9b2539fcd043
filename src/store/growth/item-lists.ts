/**
 * Lists of items. Each state that is asked for is a branch of its own, which an index gives in the order of the list and which is cut to the
 * length of the page: however many items there are, no more is read than that, or than one of the words has.
 */
import type { Item, ItemStatus } from '#domain/growth/drafting/item'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { itemColumns } from './items.ts'

/** `state`: by the time that counts for the state. `created` and `state` begin with the newest, `post_at` with the soonest. */
export type ItemOrder = 'created' | 'state' | 'post_at' | 'posted_at'

/** What all items of a list have. */
export interface ItemFilter {
  /** `scheduled`: approved, with a post time. */
  statuses?: readonly (ItemStatus | 'scheduled')[] | undefined
  kind?: Item['kind'] | undefined
  batchId?: string | undefined
  experimentId?: string | undefined
  /** The connection that sends it. */
  accountId?: string | undefined
  /** Of the table of words: an item has all of them. The rarest is the first. */
  words?: { asked: readonly string[]; isRare: boolean } | undefined
  /** Inclusive, over the time that the list is sorted by. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
  order: ItemOrder
}

/** Whether the list is in the order of ids, which is that of creation. A part of the calendar is found by the time itself. */
export const isById = ({ order, from, to }: Pick<ItemFilter, 'order' | 'from' | 'to'>): boolean => order === 'created' && !from && !to

/** Whether the list has at most one filter, a state: `listItems` reads it. */
export const isPlain = (filter: ItemFilter): filter is ItemFilter & { statuses?: readonly [ItemStatus] } => {
  const { statuses = [], kind, batchId, experimentId, accountId, words, from, to } = filter
  return (
    isById(filter) &&
    statuses.length < 2 &&
    statuses[0] !== 'scheduled' &&
    ![kind, batchId, experimentId, accountId, words, from, to].some(Boolean)
  )
}

/** The place of an item in a list: its time, in microseconds since 1970, and its id. No time where the order is that of ids. */
interface ItemPlace {
  at?: number | undefined
  id: string
}

const allStatuses: readonly ItemStatus[] = [
  ...(['drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed', 'publish_unconfirmed'] as const),
]

/** A word that more items have is common: lists are walked in their order then, and look up each item's words. */
export const COMMON = 2_000
/** Counted so far. */
const MOST_COUNTED = 10_000

/** How many items have each word, counted up to `COMMON`; the rarest first. */
export const wordCounts = (words: readonly string[]) =>
  many<{ word: string; items: number }>(
    {},
    (sql) => sql`select a.word, (select count(*)::int from (select 1 from item_word w where w.word = a.word limit ${COMMON}) r) as items
      from unnest(${words}::text[]) a(word) order by items, a.word`,
  )

const timeOf = (sql: Sql, order: ItemOrder): Fragment =>
  ({ created: sql`i.created_at`, state: sql`i.at`, post_at: sql`i.post_at`, posted_at: sql`i.posted_at` })[order]

/** What an order asks of each item. */
const orderable = (sql: Sql, order: ItemOrder): Fragment => {
  if (order === 'post_at') return sql`and i.post_at is not null`
  return order === 'posted_at' ? sql`and i.status = 'posted'` : sql``
}

const ofStatus = (sql: Sql, status: ItemStatus | 'scheduled'): Fragment =>
  status === 'scheduled' ? sql`i.status = 'approved' and i.post_at is not null` : sql`i.status = ${status}`

/** The items that an account sends, in three parts, each of which an index gives: bound to it, chosen for it, or left to it as the default. */
const ofAccount = (sql: Sql, id: string): Fragment[] => [
  sql`i.account_external_id = (select c.external_id from connection c where c.id = ${id})`,
  sql`i.account_external_id is null and i.account_id = (select c.id from connection c where c.id = ${id})`,
  sql`i.account_external_id is null and i.account_id is null
    and (select c.is_default and c.status = 'connected' from connection c where c.id = ${id})`,
]

const withinTimes = (sql: Sql, { from, to, order }: ItemFilter): Fragment => {
  const time = timeOf(sql, order)
  return sql`${from ? sql`and ${time} >= ${from}` : sql``} ${to ? sql`and ${time} < ${to}` : sql``}`
}

/** A subquery of one value is never turned into a join, which could begin with all items that have a word. */
const havingWords = (sql: Sql, words: readonly string[], itemId: Fragment): Fragment =>
  words.reduce(
    (before, word) => sql`${before} and (select true from item_word w where w.word = ${word} and w.item_id = ${itemId} limit 1)`,
    sql``,
  )

const conditions = (sql: Sql, filter: ItemFilter): Fragment => {
  const { kind, batchId, experimentId, words } = filter
  return sql`${orderable(sql, filter.order)} ${withinTimes(sql, filter)} ${kind ? sql`and i.kind = ${kind}` : sql``}
    ${batchId ? sql`and i.batch_id = ${batchId}` : sql``} ${experimentId ? sql`and i.experiment_id = ${experimentId}` : sql``}
    ${words && !words.isRare ? havingWords(sql, words.asked, sql`i.id`) : sql``}`
}

/** The items of the rarest word that have the others too; they are few. */
const hits = (sql: Sql, [rarest, ...others]: readonly string[]): Fragment => sql`with hits as materialized (
  select h.item_id from item_word h where h.word = ${rarest!} ${havingWords(sql, others, sql`h.item_id`)})`

const sortOf = (sql: Sql, filter: ItemFilter): Fragment => {
  if (isById(filter)) return sql`order by i.id desc`
  return filter.order === 'post_at' ? sql`order by i.post_at, i.id` : sql`order by ${timeOf(sql, filter.order)} desc, i.id desc`
}

const after = (sql: Sql, order: ItemOrder, place: ItemPlace | undefined): Fragment => {
  if (!place) return sql``
  if (place.at === undefined) return sql`and i.id < ${place.id}`
  const time = timeOf(sql, order)
  const given = sql`(timestamptz 'epoch' + ${place.at}::bigint * interval '1 microsecond', ${place.id}::uuid)`
  return order === 'post_at' ? sql`and (${time}, i.id) > ${given}` : sql`and (${time}, i.id) < ${given}`
}

/** The states of each branch. By a time that is not that of the state, one index has the items of all states. */
const statesOf = (sql: Sql, filter: ItemFilter): Fragment[] => {
  const { statuses, order } = filter
  if (statuses && order !== 'post_at') return statuses.map((status) => ofStatus(sql, status))
  if (statuses) return [sql`(${statuses.map((status, index) => sql`${index === 0 ? sql`` : sql`or`} (${ofStatus(sql, status)})`)})`]
  const byState = order === 'state' || (order === 'created' && !isById(filter))
  return byState ? allStatuses.map((status) => ofStatus(sql, status)) : [sql`i.status <> 'deleted'`]
}

const branches = (sql: Sql, filter: ItemFilter): Fragment[] => {
  const states = statesOf(sql, filter)
  if (!filter.accountId) return states
  const senders = ofAccount(sql, filter.accountId)
  return states.flatMap((state) => senders.map((sender) => sql`${state} and ${sender}`))
}

interface Cut {
  limit: number
  after?: ItemPlace | undefined
}

/** The items of one branch, up to the limit. */
const branch = (sql: Sql, filter: ItemFilter, { status, limit, ...cut }: Cut & { status: Fragment }): Fragment => {
  const rest = sql`${status} ${conditions(sql, filter)} ${after(sql, filter.order, cut.after)}`
  const chosen = sql`i.id as chosen_id, ${timeOf(sql, filter.order)} as chosen_at`
  return filter.words?.isRare
    ? sql`(select i.* from hits h cross join lateral (select ${chosen} from item i where i.id = h.item_id and ${rest} offset 0) i)`
    : sql`(select ${chosen} from item i where ${rest} ${sortOf(sql, filter)} limit ${limit})`
}

const allBranches = (sql: Sql, filter: ItemFilter, cut: Cut): Fragment => {
  const parts = branches(sql, filter).map(
    (status, index) => sql`${index === 0 ? sql`` : sql`union all`} ${branch(sql, filter, { ...cut, status })}`,
  )
  return sql`(${parts}) chosen`
}

const withHits = (sql: Sql, { words }: ItemFilter): Fragment => (words?.isRare ? hits(sql, words.asked) : sql``)

/** An item with its place in the list. */
export type PlacedItem = Item & { place_at?: number | null }

/** One more than the limit, so that the caller sees whether there is a next page. */
export const findItems =
  (filter: ItemFilter, { limit, after }: Cut): Query<PlacedItem> =>
  (sql) => {
    const byId = isById(filter)
    const forwards = filter.order === 'post_at' ? sql`chosen_at, chosen_id` : sql`chosen_at desc, chosen_id desc`
    const sort = byId ? sql`chosen_id desc` : forwards
    return sql`select ${itemColumns(sql)}, ${byId ? sql`null::bigint` : sql`(extract(epoch from chosen_at) * 1000000)::bigint`} as place_at
      from (${withHits(sql, filter)} select * from ${allBranches(sql, filter, { limit: limit + 1, after })} order by ${sort} limit ${limit + 1}) chosen
      join item on item.id = chosen.chosen_id order by ${sort}`
  }

/** How many there are, counted up to `MOST_COUNTED`. */
export const itemTotal = (filter: ItemFilter) =>
  sure(
    one<{ total: number }>(
      {},
      (sql) => sql`select count(*)::int as total from (${withHits(sql, filter)}
        select 1 from ${allBranches(sql, filter, { limit: MOST_COUNTED })} limit ${MOST_COUNTED}) counted`,
    ),
  )
