/**
 * What lists of items are asked for: as requests, as the statements behind them, and as what a scan
 * would be asked.
 */
import type { ItemFilter } from '#store/growth/item-filter'
import type { Shelf, SoughtWords } from '#store/growth/item-search'
import type { Tenant } from '../world.ts'
import { wordAt } from './documents-stage.ts'
import {
  accountOf,
  batchOf,
  DAY_MS,
  FIRST_YEAR,
  ONLY_POSTED,
  ONLY_REJECTED,
  SECOND_YEAR,
} from './lists-stage.ts'

interface Asked {
  query: string
  filter: ItemFilter
}

export interface Pair {
  what: string
  /** Different for each number, as far as the pair allows. */
  asks: (tenant: Tenant, n: number) => Asked
  /** One of these gives the items, or finds each of them. */
  indexes: string[]
  /** The same in SQL, for a scan of the table; what it is sorted by stands in it. */
  scan?: string
  /** Asks for the count, too. */
  total?: boolean
  /** Begins behind so many pages of 100. */
  deep?: number
}

const created = { order: 'created' } as const
const state = { order: 'state' } as const
type Words = [string, ...string[]]
const rare = (asked: Words): SoughtWords => ({ posted: { asked, isRare: true } })
const common = (asked: Words, shelf: Shelf): SoughtWords => ({ [shelf]: { asked, isRare: false } })

/** A month of the past two years, another one for each number. */
const monthOf = (n: number) => {
  const from = new Date(Date.now() - (700 - (n % 23) * 30) * DAY_MS)
  return { from, to: new Date(from.getTime() + 30 * DAY_MS) }
}
const within = ({ from, to }: { from: Date; to: Date }): string =>
  `from=${from.toISOString()}&to=${to.toISOString()}`
const yearAgo = (): Date => new Date(Date.now() - 365 * DAY_MS)
/** Some two hundred items of a hundred thousand have such a word. */
const rareWord = (n: number): string => wordAt(500 + n * 7)
const EVERYWHERE = wordAt(2)
const MONTH = `at >= now() - interval '400 days' and at < now() - interval '370 days'`

const times: Pair[] = [
  {
    what: 'posted, of a month',
    asks: (_, n) => ({
      query: `status=posted&${within(monthOf(n))}`,
      filter: { ...state, statuses: ['posted'], ...monthOf(n) },
    }),
    indexes: ['item_time'],
    scan: `status = 'posted' and ${MONTH} order by at desc, id desc`,
  },
  {
    what: 'of a month, in any state',
    asks: (_, n) => ({ query: within(monthOf(n)), filter: { ...state, ...monthOf(n) } }),
    indexes: ['item_time'],
    scan: `status <> 'deleted' and ${MONTH} order by at desc, id desc`,
  },
  {
    what: 'created in a month, by creation',
    asks: (_, n) => ({
      query: `sort=created&${within(monthOf(n))}`,
      filter: { ...created, ...monthOf(n) },
    }),
    indexes: ['item_created'],
  },
  {
    what: 'rejected and created in a month, by creation',
    asks: (_, n) => ({
      query: `status=rejected&sort=created&${within(monthOf(n))}`,
      filter: { ...created, statuses: ['rejected'], ...monthOf(n) },
    }),
    indexes: ['item_created'],
  },
  {
    what: 'scheduled, the soonest first',
    asks: () => ({
      query: 'status=scheduled&sort=post_at',
      filter: { order: 'post_at', statuses: ['scheduled'] },
    }),
    indexes: ['item_scheduled'],
  },
  {
    what: 'posted, the last ones first',
    asks: () => ({ query: 'sort=posted_at', filter: { order: 'posted_at' } }),
    indexes: ['item_posted'],
  },
]

const kinds: Pair[] = [
  {
    what: 'drafted',
    asks: () => ({ query: 'status=drafted', filter: { ...created, statuses: ['drafted'] } }),
    indexes: ['item_status'],
  },
  {
    what: 'drafted and approved',
    asks: () => ({
      query: 'status=drafted,approved',
      filter: { ...created, statuses: ['drafted', 'approved'] },
    }),
    indexes: ['item_status'],
  },
  {
    what: 'posted, of a batch',
    asks: (tenant, n) => ({
      query: `status=posted&batch_id=${batchOf(tenant, n % 9)}`,
      filter: { ...created, statuses: ['posted'], batchId: batchOf(tenant, n % 9) },
    }),
    indexes: ['item_batch'],
    scan: `status = 'posted' and batch_id = '00000000-0000-0000-0000-000000000000' order by id desc`,
  },
  {
    what: 'articles',
    asks: () => ({ query: 'kind=article', filter: { ...created, kind: 'article' } }),
    indexes: ['item_article'],
  },
  {
    what: 'articles that failed',
    asks: () => ({
      query: 'kind=article&status=publish_failed',
      filter: { ...created, kind: 'article', statuses: ['publish_failed'] },
    }),
    indexes: ['item_article', 'item_status'],
  },
  ...(['some', 'none'] as const).map(
    (which): Pair => ({
      what:
        which === 'some'
          ? 'of an account that sends one in a hundred'
          : 'of an account that never sent',
      asks: (tenant) => ({
        query: `account=${accountOf(tenant, which)}`,
        filter: { ...created, accountId: accountOf(tenant, which) },
      }),
      indexes: ['item_sender'],
    }),
  ),
]

const words: Pair[] = [
  {
    what: 'posted, with a tag of one in a hundred',
    asks: () => ({
      query: 'status=posted&tag=sale',
      filter: { ...created, statuses: ['posted'], words: rare(['#sale']) },
    }),
    indexes: ['item_word_pkey'],
    scan: `status = 'posted' and tags @> '{sale}' order by id desc`,
  },
  {
    what: 'drafted, with a tag of one in five',
    asks: () => ({
      query: 'status=drafted&tag=dock',
      filter: { ...created, statuses: ['drafted'], words: common(['#dock'], 'open') },
    }),
    indexes: ['item_word_pkey'],
  },
  {
    what: 'posted, with a rare word',
    asks: (_, n) => ({
      query: `status=posted&q=${rareWord(n)}`,
      filter: { ...created, statuses: ['posted'], words: rare([rareWord(n)]) },
    }),
    indexes: ['item_word_pkey'],
    scan: `status = 'posted' and body ilike '%${rareWord(3)}%' order by id desc`,
  },
  {
    what: 'posted in a month, with a common word and a rare one',
    asks: (_, n) => ({
      query: `status=posted&q=${rareWord(n)}+${EVERYWHERE}&${within(monthOf(n))}`,
      filter: {
        ...state,
        statuses: ['posted'],
        words: rare([rareWord(n), EVERYWHERE]),
        ...monthOf(n),
      },
    }),
    indexes: ['item_word_pkey'],
  },
  {
    what: 'posted, with a word of nearly all',
    asks: () => ({
      query: `status=posted&q=${EVERYWHERE}`,
      filter: { ...created, statuses: ['posted'], words: common([EVERYWHERE], 'posted') },
    }),
    indexes: ['item_word_pkey'],
  },
  {
    what: 'drafted, with a word that thousands of posted ones have and no other',
    asks: () => ({
      query: `status=drafted&q=${ONLY_POSTED}`,
      filter: { ...created, statuses: ['drafted'], words: common([ONLY_POSTED], 'open') },
    }),
    indexes: ['item_word_pkey'],
  },
  {
    what: 'posted, with a word that thousands of rejected ones have and no other',
    asks: () => ({
      query: `status=posted&q=${ONLY_REJECTED}`,
      filter: { ...created, statuses: ['posted'], words: common([ONLY_REJECTED], 'posted') },
    }),
    indexes: ['item_word_pkey'],
  },
  {
    what: 'posted since a year, with a tag of thousands that were all posted before',
    asks: () => ({
      query: `status=posted&tag=${FIRST_YEAR}&from=${yearAgo().toISOString()}`,
      filter: {
        ...state,
        statuses: ['posted'],
        words: common([`#${FIRST_YEAR}`], 'posted'),
        from: yearAgo(),
      },
    }),
    indexes: ['item_word_time'],
  },
  {
    what: 'posted, with a tag and a word that thousands have, but none both',
    asks: () => ({
      query: `status=posted&tag=${FIRST_YEAR}&q=${SECOND_YEAR}`,
      filter: {
        ...created,
        statuses: ['posted'],
        words: common([`#${FIRST_YEAR}`, SECOND_YEAR], 'posted'),
      },
    }),
    indexes: ['item_word_pkey'],
  },
]

const NEWEST: Asked = { query: '', filter: created }
const POSTED: Asked = {
  query: 'status=posted&sort=posted_at',
  filter: { order: 'posted_at', statuses: ['posted'] },
}
const further: Pair[] = [
  {
    what: 'the newest, behind 10,000 others',
    asks: () => NEWEST,
    indexes: ['item_pkey'],
    deep: 100,
  },
  { what: 'posted, behind 10,000 others', asks: () => POSTED, indexes: ['item_posted'], deep: 100 },
  {
    what: 'the newest, and how many there are',
    asks: () => NEWEST,
    indexes: ['item_pkey'],
    total: true,
  },
  {
    what: 'posted of a month, and how many there are',
    asks: (_, n) => ({
      query: `status=posted&${within(monthOf(n))}`,
      filter: { ...state, statuses: ['posted'], ...monthOf(n) },
    }),
    indexes: ['item_time'],
    total: true,
  },
]

/** The peer of all others. */
export const newest: Pair = { what: 'the newest', asks: () => NEWEST, indexes: ['item_pkey'] }
export const pairs: Pair[] = [...kinds, ...times, ...words, ...further]
