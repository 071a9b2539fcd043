/**
 * Searches of items give what a look at each item would, whether their words are rare or common,
 * and whether or not they have been moved to the shelf of their item.
 */
import { beforeAll, expect, test } from 'bun:test'
import type { ItemStatus } from '#domain/growth/drafting/item'
import { type Db, openDb, type Query } from '#store/engine/db'
import { type ItemFilter, type ItemOrder, shelvesOf } from '#store/growth/item-filter'
import { findItems, itemTotal } from '#store/growth/item-lists'
import {
  allShelves,
  COMMON,
  type SoughtWords,
  shelfOf,
  soughtWords,
} from '#store/growth/item-search'
import { use, useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })
const db: Db = use(() => openDb({ ...app.options, max: 1 }))

const STATUSES: readonly ItemStatus[] = [
  ...([
    'drafted',
    'approved',
    'publishing',
    'posted',
    'rejected',
    'publish_failed',
    'publish_unconfirmed',
  ] as const),
]
const COUNT = 120

/** Times in microseconds since 1970. */
interface Row {
  id: string
  status: ItemStatus
  kind: 'post' | 'article'
  account: string | null
  created: number
  state: number
  post_at: number | null
  posted_at: number | null
  words: string[]
}
let rows: Row[] = []
let account: string

const fill = async (tenantId: string): Promise<void> => {
  await app.owner`with made as (insert into item (id, tenant_id, kind, status, body, format, hook,
    rationale, stories, learnings, length,
      account_external_id, post_at, posted_at, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, case when n % 5 = 0 then 'article'
      else 'post' end, (${STATUSES as ItemStatus[]}::text[])[1 + n % 7],
      'text', 'point', 'none', '', '[]', '[]', 1, case when n % 2 = 0 then 'of ' || ${tenantId} end,
      case when n % 7 = 1 and n % 2 = 0 then timestamptz '2026-03-01' + n * interval '1 hour' end,
      case when n % 7 = 3 then timestamptz '2026-02-01' + n * interval '1 hour' end,
        timestamptz '2026-01-01' + (n * 31 % 50) * interval '1 hour', now()
    from generate_series(1, ${COUNT}) n returning id, created_at, account_external_id),
    worded as (select id, extract(hour from created_at)::int as hour from made)
    insert into item_word (tenant_id, word, item_id)
      select ${tenantId}::uuid, w, id from worded, unnest(array['all', case when hour % 2 = 0
        then 'even' else 'odd' end, '#tag' || hour % 3]) w`
  // As it is after each change of a state, before the next sweep and after one.
  await app.owner`insert into item_word_move (tenant_id, item_id) select tenant_id, id from item
    where tenant_id = ${tenantId} and status = 'posted' and extract(day from posted_at)::int % 3 > 0`
  await app.owner`update item_word w set shelf = i.status, at = i.at from item i
    where i.tenant_id = ${tenantId} and i.id = w.item_id and i.status in ('posted', 'rejected')
      and i.id not in (select item_id from item_word_move)`
  await app.owner`insert into connection (id, tenant_id, network, external_id, handle, status,
    is_default, created_at, updated_at)
    values (gen_random_uuid(), ${tenantId}, 'sandbox', 'of ' || ${tenantId}, 'of', 'connected',
      false, now(), now())`
}

beforeAll(async () => {
  await fill(app.tenantId)
  const [one] = await app.owner<
    { id: string }[]
  >`select id from connection where external_id = 'of ' || ${app.tenantId}`
  account = one!.id
  const micros = (column: string) =>
    app.owner`(extract(epoch from ${app.owner(column)}) * 1000000)::float8`
  rows = await app.owner<
    Row[]
  >`select id, status, kind, account_external_id as account, ${micros('created_at')} as created,
    ${micros('at')} as state,
      ${micros('post_at')} as post_at, ${micros('posted_at')} as posted_at,
        array(select word from item_word w where w.item_id = item.id) as words
    from item where tenant_id = ${app.tenantId} and body = 'text'`
})

const hasStatus = (row: Row, status: ItemStatus | 'scheduled'): boolean =>
  status === 'scheduled' ? row.status === 'approved' && row.post_at !== null : row.status === status

/** What a look at each item gives, in the order of the list. */
const looked = (
  { statuses, kind, accountId, from, to, order }: ItemFilter,
  words: string[],
): string[] => {
  const timeOf = (row: Row): number => row[order]!
  const isByTime = order !== 'created' || from || to
  const has = (row: Row): boolean =>
    (!statuses || statuses.some((status) => hasStatus(row, status))) &&
    (!kind || row.kind === kind) &&
    (!accountId || row.account !== null) &&
    words.every((word) => row.words.includes(word)) &&
    row[order] !== null &&
    (!from || timeOf(row) >= from.getTime() * 1_000) &&
    (!to || timeOf(row) < to.getTime() * 1_000)
  const byId = (a: Row, b: Row): number => (a.id < b.id ? -1 : 1)
  const forwards = (a: Row, b: Row): number => (isByTime ? timeOf(a) - timeOf(b) : 0) || byId(a, b)
  const found = rows.filter(has).toSorted(forwards)
  return (order === 'post_at' ? found : found.toReversed()).map(({ id }) => id)
}

const read = <T>(query: Query<T>): Promise<T[]> => db.read({ tenantId: app.tenantId }, query)

/** All pages of seven. */
const listed = async (filter: ItemFilter): Promise<string[]> => {
  const ids: string[] = []
  for (let after: { id: string; at?: number | undefined } | undefined; ; ) {
    const found = await read(findItems(filter, { limit: 7, after }))
    const page = found.slice(0, 7)
    ids.push(...page.map(({ id }) => id))
    if (found.length <= 7) return ids
    const last = page.at(-1)!
    after = { id: last.id, at: last.place_at ?? undefined }
  }
}

const sought = (filter: ItemFilter, words: string[], isRare: boolean): SoughtWords =>
  soughtWords(
    shelvesOf(filter).flatMap((shelf) =>
      words.map((word) => ({ shelf, word, items: isRare ? 1 : COMMON })),
    ),
  )

const ORDERS: ItemOrder[] = ['created', 'state', 'post_at', 'posted_at']
const ASKED: (ItemFilter['statuses'] | undefined)[] = [
  undefined,
  ...([
    ['drafted'],
    ['posted'],
    ['rejected', 'scheduled'],
    ['approved', 'posted', 'publish_failed'],
  ] as const),
]
const WORDS = [['all'], ['all', 'even'], ['#tag1', 'odd'], ['#tag2', 'all']]
const RANGES = [{}, { from: new Date('2026-01-01T20:00Z'), to: new Date('2026-03-02T20:00Z') }]

const cases = ORDERS.flatMap((order) =>
  ASKED.flatMap((statuses) => RANGES.map((range) => ({ order, statuses, ...range }))),
)
const labelled = cases.map((filter): [string, ItemFilter] => [
  `${filter.statuses?.join(' and ') ?? 'all'} by ${filter.order}${'from' in filter ? ', of a part of the calendar' : ''}`,
  filter,
])

test.each(labelled)('%s', async (_, filter) => {
  for (const [n, words] of WORDS.entries())
    for (const isRare of [true, false]) {
      const more = [{}, { kind: 'post' }, { kind: 'article' }, { accountId: account }] as const
      const asked: ItemFilter = { ...filter, ...more[(n + (isRare ? 1 : 0)) % more.length] }
      const found = sought(asked, words, isRare)
      const expected = looked(asked, words)
      if (Object.keys(found).length === 0) expect(expected).toEqual([])
      else {
        expect([words, isRare, await listed({ ...asked, words: found })]).toEqual([
          words,
          isRare,
          expected,
        ])
        expect(await read(itemTotal({ ...asked, words: found }).query)).toEqual([
          { total: expected.length },
        ])
      }
    }
})

test('words are looked for on all shelves, for an item may move after the count, unless each shelf lacks one', () => {
  const counted = [
    { shelf: 'posted', word: 'b', items: 0 },
    { shelf: 'open', word: 'b', items: 3 },
    { shelf: 'posted', word: 'a', items: COMMON },
    { shelf: 'open', word: 'a', items: COMMON },
    { shelf: 'rejected', word: 'a', items: COMMON },
    { shelf: 'rejected', word: 'b', items: COMMON },
  ] as const
  const rare: SoughtWords['open'] = { asked: ['b', 'a'], isRare: true }
  expect(soughtWords(counted)).toEqual({
    open: rare,
    posted: rare,
    rejected: { asked: ['a', 'b'], isRare: false },
  })
  expect(soughtWords(counted.filter(({ shelf }) => shelf === 'posted'))).toEqual({})
})

test('words stand on the shelves that lists look at', () =>
  expect(new Set(STATUSES.map(shelfOf))).toEqual(new Set(allShelves)))
