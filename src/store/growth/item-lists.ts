/**
 * Lists of items. Each requested state is a branch of its own, which an index provides in the order
 * of the list and which is cut to the length of the page. If words are searched for, each shelf of
 * words is such a branch as well. So however many items there are, a state and a word, or a state
 * and a part of the calendar, read no more than a page.
 */
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import {
  allStatuses,
  anyOf,
  conditions,
  type ItemFilter,
  type ItemOrder,
  isById,
  itemKey,
  type Key,
  ofAccount,
  ofKind,
  ofStatus,
  withinTimes,
  wordKey,
} from './item-filter.ts'
import { allShelves, havingWords, type Shelf, type SoughtWords, shelfOf } from './item-search.ts'
import { itemsOfPage, type PagedItem } from './items.ts'

/**
 * The place of an item in a list: its time, in microseconds since 1970, and its id. There is no
 * time if the list is in the order of ids.
 */
interface ItemPlace {
  at?: number | undefined
  id: string
}

/** How far items are counted. */
const MOST_COUNTED = 10_000

const sortOf = (sql: Sql, filter: ItemFilter, { time, id }: Key): Fragment => {
  if (isById(filter)) return sql`order by ${id} desc`
  return filter.order === 'post_at'
    ? sql`order by ${time}, ${id}`
    : sql`order by ${time} desc, ${id} desc`
}

const isAfter = (
  sql: Sql,
  order: ItemOrder,
  { time, id }: Key,
  place: ItemPlace | undefined,
): Fragment => {
  if (!place) return sql``
  if (place.at === undefined) return sql`and ${id} < ${place.id}`
  const given = sql`(timestamptz 'epoch' + ${place.at}::bigint * interval '1 microsecond',
    ${place.id}::uuid)`
  return order === 'post_at'
    ? sql`and (${time}, ${id}) > ${given}`
    : sql`and (${time}, ${id}) < ${given}`
}

/**
 * The states of each branch. For a time that does not belong to the state, one index has the items
 * of all states.
 */
const statesOf = (sql: Sql, filter: ItemFilter): Fragment[] => {
  const { statuses, order } = filter
  if (statuses && order !== 'post_at') return statuses.map((status) => ofStatus(sql, status))
  if (statuses)
    return [
      anyOf(
        sql,
        statuses.map((status) => ofStatus(sql, status)),
      ),
    ]
  const byState =
    filter.kind === 'article' || order === 'state' || (order === 'created' && !isById(filter))
  return byState ? allStatuses.map((status) => ofStatus(sql, status)) : [sql`i.status <> 'deleted'`]
}

interface Cut {
  limit: number
  after?: ItemPlace | undefined
}

/**
 * The items of each state and of each part of an account, in the order of the list, up to the
 * limit.
 */
const walks = (sql: Sql, filter: ItemFilter, words: readonly string[], cut: Cut): Fragment[] => {
  const key = itemKey(sql, filter.order)
  const shelf = sql`case when i.status in ('posted', 'rejected') then i.status else 'open' end`
  const senders = filter.accountId
    ? ofAccount(sql, filter.accountId).map((sender) => sql`and ${sender}`)
    : [sql``]
  return statesOf(sql, filter).flatMap((state) =>
    senders.map(
      (sender) => sql`(select i.id as chosen_id, ${key.time} as chosen_at from item i
        where ${state} ${sender} ${conditions(sql, filter)}
        ${havingWords(sql, words, { id: key.id, shelf })}
          ${isAfter(sql, filter.order, key, cut.after)} ${sortOf(sql, filter, key)}
          limit ${cut.limit})`,
    ),
  )
}

interface OfShelf extends Cut {
  shelf: Shelf
  words: readonly [string, ...string[]]
}

const statesOn = (sql: Sql, { statuses = allStatuses }: ItemFilter, shelf: Shelf): Fragment =>
  anyOf(
    sql,
    statuses.filter((status) => shelfOf(status) === shelf).map((status) => ofStatus(sql, status)),
  )

/**
 * Whether an index has the items of a word in the order of the list. If few items match, as for a
 * batch, an experiment or articles, another index is used.
 */
const isOrdered = (filter: ItemFilter, shelf: Shelf): boolean => {
  const { kind, batchId, experimentId, restored, accountId, order } = filter
  if (batchId || experimentId || restored || accountId || kind === 'article') return false
  // Most open items are drafts. The other open states have an index of their own.
  if (shelf === 'open' && filter.statuses && !filter.statuses.includes('drafted')) return false
  return isById(filter) || (shelf !== 'open' && (order === 'state' || order === 'posted_at'))
}

/** The items that have the rarest word, in the order of the list, up to the limit. */
const inOrder = (
  sql: Sql,
  filter: ItemFilter,
  { shelf, words: [rarest, ...others], limit, ...cut }: OfShelf,
): Fragment => {
  const key = wordKey(sql)
  const times = isById(filter) ? sql`` : sql`and w.at is not null ${withinTimes(sql, filter, key)}`
  const needsItem = shelf === 'open' || filter.kind
  const item = sql`and (select true from item i where i.id = w.item_id
    and ${statesOn(sql, filter, shelf)} ${filter.kind ? ofKind(sql, filter.kind) : sql``})`
  return sql`(select ${key.id} as chosen_id, ${key.time} as chosen_at from item_word w
    where w.word = ${rarest} and w.shelf = ${shelf} ${times}
    ${havingWords(sql, others, { id: key.id, shelf: sql`${shelf}` })} ${needsItem ? item : sql``}
      ${isAfter(sql, filter.order, key, cut.after)}
    ${sortOf(sql, filter, key)} limit ${limit})`
}

interface Gathered extends Omit<Cut, 'limit'> {
  /** An expression for its id. */
  id: Fragment
  states: Fragment
}

/** The item of a row, if the list has it: to be joined to few rows. */
const itemOf = (sql: Sql, filter: ItemFilter, { id, states, after }: Gathered): Fragment => {
  const key = itemKey(sql, filter.order)
  const sender = filter.accountId ? sql`and ${anyOf(sql, ofAccount(sql, filter.accountId))}` : sql``
  return sql`lateral (select i.id as chosen_id, ${key.time} as chosen_at from item i
    where i.id = ${id} and ${states} ${sender} ${conditions(sql, filter)}
      ${isAfter(sql, filter.order, key, after)} offset 0) i`
}

/** All items that have the rarest word. They are few. */
const gatherItems = (
  sql: Sql,
  filter: ItemFilter,
  { shelf, words: [rarest, ...others], after }: OfShelf,
): Fragment => {
  const id = sql`w.item_id`
  const states = statesOn(sql, filter, shelf)
  return sql`(select i.* from item_word w cross join ${itemOf(sql, filter, { id, states, after })}
    where w.word = ${rarest} and w.shelf = ${shelf}
      ${havingWords(sql, others, { id, shelf: sql`${shelf}` })})`
}

/** The posted items whose words still stand on the open shelf. They are few. */
const gatherUnmoved = (
  sql: Sql,
  filter: ItemFilter,
  { words, after }: Omit<OfShelf, 'shelf'>,
): Fragment => {
  const id = sql`m.item_id`
  const states = ofStatus(sql, 'posted')
  return sql`(select i.* from item_word_move m
    cross join ${itemOf(sql, filter, { id, states, after })}
    where true ${havingWords(sql, words, { id, shelf: sql`'open'` })})`
}

/**
 * If the rarest word is common and no index has the order, walks the list and looks up the words of
 * each item.
 */
const searches = (sql: Sql, filter: ItemFilter, words: SoughtWords, cut: Cut): Fragment[] => {
  const branches: Fragment[] = []
  const walked: Shelf[] = []
  const asked = filter.statuses ?? allStatuses
  if (words.posted && asked.includes('posted'))
    branches.push(gatherUnmoved(sql, filter, { ...cut, words: words.posted.asked }))
  for (const shelf of allShelves) {
    const sought = words[shelf]
    if (!sought) continue
    const of: OfShelf = { ...cut, shelf, words: sought.asked }
    if (isOrdered(filter, shelf)) branches.push(inOrder(sql, filter, of))
    else if (sought.isRare) branches.push(gatherItems(sql, filter, of))
    else walked.push(shelf)
  }
  if (walked.length === 0) return branches
  const all = !filter.statuses && walked.length === allShelves.length
  const statuses = all ? undefined : asked.filter((status) => walked.includes(shelfOf(status)))
  return [...branches, ...walks(sql, { ...filter, statuses }, words[walked[0]!]!.asked, cut)]
}

const allBranches = (sql: Sql, filter: ItemFilter, cut: Cut): Fragment => {
  const parts = filter.words
    ? searches(sql, filter, filter.words, cut)
    : walks(sql, filter, [], cut)
  return sql`(${parts.map((part, index) => sql`${index === 0 ? sql`` : sql`union all`} ${part}`)})
    chosen`
}

/** An item together with its place in the list. */
export type PlacedItem = PagedItem & { place_at?: number | null }

/** Returns one more than the limit, so that the caller sees whether there is a next page. */
export const findItems =
  (filter: ItemFilter, { limit, after }: Cut): Query<PlacedItem> =>
  (sql) => {
    const byId = isById(filter)
    const forwards =
      filter.order === 'post_at' ? sql`chosen_at, chosen_id` : sql`chosen_at desc, chosen_id desc`
    const sort = byId ? sql`chosen_id desc` : forwards
    return itemsOfPage<PlacedItem>(sql, {
      rows: sql`select item.*, chosen.*
        from (select * from ${allBranches(sql, filter, { limit: limit + 1, after })}
          order by ${sort} limit ${limit + 1}) chosen
        join item on item.id = chosen.chosen_id`,
      more: sql`, ${byId ? sql`null::bigint` : sql`(extract(epoch from chosen_at) * 1000000)::bigint`} as
        place_at`,
      sort,
    })
  }

/** How many items there are, counted up to `MOST_COUNTED`. */
export const itemTotal = (filter: ItemFilter) =>
  sure(
    one<{ total: number }>(
      {},
      (sql) =>
        sql`select count(*)::int as total from (select 1
          from ${allBranches(sql, filter, { limit: MOST_COUNTED })} limit ${MOST_COUNTED}) counted`,
    ),
  )
