import type { Static } from '@sinclair/typebox'
import type { itemLists } from '#contract/growth/item-lists'
import { metricRecord } from '#contract/records/growth/metric'
import { viewOf } from '#contract/records/view'
import { wordsIn } from '#contract/shapes'
import { itemView } from '#domain/growth/drafting/item-view'
import { searchWords, tagWord } from '#domain/growth/drafting/item-words'
import { engagementRate } from '#domain/growth/metrics'
import { found, refuseField } from '#kernel/errors'
import { loadBy } from '#store/engine/load'
import {
  type ItemFilter,
  type ItemOrder,
  isById,
  isPlain,
  shelvesOf,
} from '#store/growth/item-filter'
import { findItems, itemTotal, type PlacedItem } from '#store/growth/item-lists'
import { soughtWords, wordCounts } from '#store/growth/item-search'
import { itemPage, itemPart, listItems } from '#store/growth/items'
import { readingsOf } from '#store/growth/metrics'
import type { Handlers, QueryContext } from '../engine/call.ts'
import { sortedPageOf, sortedResult, timedPageOf, timedResult } from '../engine/paging.ts'

/**
 * The most words of a search that are used. More would make it more exact, but nobody needs them.
 */
const MOST_WORDS = 12

const readingView = viewOf(metricRecord)

type Asked = Static<(typeof itemLists.list)['input']>

/** The words that items must have. Throws `invalid_input` for a search without any. */
const wordsOf = ({ q, tag }: Pick<Asked, 'q' | 'tag'>): string[] => {
  const words = q === undefined ? [] : searchWords(q)
  if (q !== undefined && words.length === 0)
    refuseField('q', 'has no letters or digits to look for')
  if (words.length > MOST_WORDS)
    refuseField('q', `has ${words.length} different words; the maximum is ${MOST_WORDS}`)
  return [...new Set([...words, ...(tag === undefined ? [] : [tagWord(tag)])])]
}

/** The distinct statuses; `approved` includes scheduled items. */
const statusesOf = (status: string | undefined): ItemFilter['statuses'] => {
  const all = status === undefined ? undefined : wordsIn<'approved' | 'scheduled'>(status)
  return all?.includes('approved') ? all.filter((one) => one !== 'scheduled') : all
}

const filterOf = (input: Asked): ItemFilter => {
  const { status, kind, batch_id, experiment_id, restored, account, from, to, sort } = input
  const order: ItemOrder = sort ?? (from === undefined && to === undefined ? 'created' : 'state')
  const times = {
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  }
  if (times.from && times.to && times.from > times.to) refuseField('to', 'must not be before from')
  const of = { kind, batchId: batch_id, experimentId: experiment_id, restored, accountId: account }
  return { ...of, ...times, order, statuses: statusesOf(status) }
}

/** Adds how the words are spread over the shelves. Undefined if no item has all of them. */
const withWords = async (
  filter: ItemFilter,
  words: string[],
  { read }: Pick<QueryContext, 'read'>,
): Promise<ItemFilter | undefined> => {
  if (words.length === 0) return filter
  const { counted } = await loadBy(read, { counted: wordCounts(words, shelvesOf(filter)) })
  const sought = soughtWords(counted)
  return Object.keys(sought).length === 0 ? undefined : { ...filter, words: sought }
}

export const itemListHandlers: Handlers<typeof itemLists> = {
  async list({ total, ...input }, { read }) {
    const words = wordsOf(input)
    const asked = filterOf(input)
    const page = sortedPageOf(input, isById(asked))
    const filter = await withWords(asked, words, { read })
    if (!filter) return { items: [], next_cursor: null, ...(total ? { total: 0 } : {}) }
    const list = isPlain(filter)
      ? listItems({ limit: page.limit, after: page.after?.id, status: filter.statuses?.[0] })
      : findItems(filter, page)
    const [rows, counted] = await Promise.all([
      read<PlacedItem>(list),
      total ? loadBy(read, { total: itemTotal(filter) }) : undefined,
    ])
    const { rows: items, next_cursor } = sortedResult(itemPage(rows), page.limit)
    return {
      items: items.map(itemView),
      next_cursor,
      ...(counted ? counted.total : {}),
    }
  },

  async metrics({ id, ...input }, { read }) {
    const page = timedPageOf(input)
    const { item, readings } = await loadBy(read, {
      item: itemPart(id),
      readings: readingsOf(id, page),
    })
    found(item, 'no such item')
    const { rows, next_cursor } = timedResult(readings, page.limit, ({ at }) => at)
    return {
      metrics: rows.map((row) => ({ ...readingView(row), engagement_rate: engagementRate(row) })),
      next_cursor,
    }
  },
}
