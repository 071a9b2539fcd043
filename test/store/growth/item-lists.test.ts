/**
 * The plans of lists of items: whatever they are asked, they read items and words by their indexes,
 * under row-level security.
 */
import { beforeAll, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { type Db, openDb, type Query } from '#store/engine/db'
import { slotTaker } from '#store/growth/calendar'
import { type ItemFilter, isById } from '#store/growth/item-filter'
import { findItems, itemTotal } from '#store/growth/item-lists'
import { allShelves, type Shelf, type SoughtWords, wordCounts } from '#store/growth/item-search'
import { listItems } from '#store/growth/items'
import { type PlanNode, planOf, takenBack, vacuum } from '#test/support/database/plans'
import { use, useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })
const db: Db = use(() => openDb({ ...app.options, max: 1 }))

/**
 * So many items of all states, in batches of ten, with a word that all have, one of a batch and one
 * of their own; a tag on every hundredth.
 */
const fill = async (tenantId: string, count: number): Promise<void> => {
  await app.owner`with made as (insert into item (id, tenant_id, kind, status, body, format, hook,
    rationale, stories, learnings, length, batch_id, tags,
      post_at, posted_at, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, 'post', s.status, 'all b' || n / 10 || ' own' || n,
      'point', 'none', '', '[]', '[]', 1, null,
      case when n % 100 = 0 then array['sale'] else '{}' end,
      case when n % 4 = 1 then now() + n * interval '1 hour' end, case when s.status = 'posted'
        then now() - n * interval '1 hour' end,
      now() - n * interval '1 minute', now()
    from generate_series(1, ${count}) n cross join lateral
      (select (array['drafted', 'approved', 'posted', 'rejected'])[1 + n % 4] as status) s
    returning id, body, tags, status, at),
    settled as (select *, case when status in ('posted', 'rejected') then status end as shelf
      from made)
    insert into item_word (tenant_id, item_id, word, shelf, at)
      select ${tenantId}::uuid, id, w, coalesce(shelf, 'open'), case when shelf is not null
        then at end
      from settled, lateral (select regexp_split_to_table(body, ' ') w union all select '#sale'
        where tags <> '{}') words`
  // Ids that say which batch it is: a join of tables that have no statistics yet may take a minute.
  await app.owner`insert into batch (id, tenant_id, status, focus, requested, created_at,
    updated_at)
    select md5(${tenantId} || n)::uuid, ${tenantId}, 'ready', n::text, 10, now(), now()
      from generate_series(0, ${count / 10}) n`
  await app.owner`update item set batch_id = md5(${tenantId} || substring(body
    from ' b([0-9]+) '))::uuid where tenant_id = ${tenantId}`
}

beforeAll(async () => {
  for (let n = 0; n < 4; n++) await fill((await app.newWorkspace()).tenantId, 1_000)
  await fill(app.tenantId, 5_000)
  await vacuum(app.owner, 'item', 'item_word', 'batch')
})

const planFor = (query: Query): Promise<PlanNode[]> =>
  takenBack(db, app.tenantId, (sql) => planOf(sql, query(sql)))

/** By which columns of a table rows are sorted, where an index could give them in order. */
const sorts = (nodes: PlanNode[], columns: RegExp): string[] =>
  nodes.flatMap((node) => node['Sort Key'] ?? []).filter((key) => columns.test(key))

const now = Date.now()
const hour = (n: number): Date => new Date(now + n * 3_600_000)
const page = { limit: 25 }
const at = now * 1_000
const id = newId()
const state = { order: 'state' } as const
const created = { order: 'created' } as const
const on = (
  shelves: readonly Shelf[],
  asked: [string, ...string[]],
  isRare: boolean,
): SoughtWords => Object.fromEntries(shelves.map((shelf) => [shelf, { asked, isRare }]))
const rare = on(['open'], ['own7', 'all'], true)
const tag = on(['posted'], ['#sale', 'all'], true)
const common = (...shelves: Shelf[]): SoughtWords => on(shelves, ['all'], false)
const WORD = /tenant_id = .*word = .*shelf = /
const WORD_TIME = /tenant_id = .*word = .*shelf = .*at >= /

/** With the index that gives the items. */
const pairs: [what: string, filter: ItemFilter, index: string, condition: RegExp][] = [
  [
    'a state and a time',
    { ...state, statuses: ['posted'], from: hour(-900), to: hour(-700) },
    'item_time',
    /tenant_id = .*status = .*at >= .*at < /,
  ],
  [
    'several states and a time',
    { ...state, statuses: ['posted', 'drafted'], from: hour(-900) },
    'item_time',
    /tenant_id = .*status = .*at >= /,
  ],
  [
    'scheduled in a time',
    { ...state, statuses: ['scheduled'], from: hour(1), to: hour(90) },
    'item_time',
    /tenant_id = .*status = .*at >= /,
  ],
  [
    'all states and a time',
    { ...state, from: hour(1), to: hour(9) },
    'item_time',
    /tenant_id = .*status = .*at >= /,
  ],
  [
    // Every other item has one of them.
    'two states',
    { ...created, statuses: ['drafted', 'approved'] },
    'item_pkey',
    /tenant_id = /,
  ],
  [
    'a state and a batch',
    { ...created, statuses: ['approved'], batchId: id },
    'item_batch',
    /tenant_id = .*batch_id = /,
  ],
  [
    'post times',
    { order: 'post_at', statuses: ['scheduled'], from: hour(1) },
    'item_scheduled',
    /tenant_id = .*post_at >= /,
  ],
  [
    'times of creation',
    { ...created, from: hour(-80), to: hour(-20) },
    'item_created',
    /tenant_id = .*status = .*created_at >= .*created_at < /,
  ],
  [
    'a state and times of creation',
    { ...created, statuses: ['posted'], to: hour(-20) },
    'item_created',
    /tenant_id = .*status = .*created_at < /,
  ],
  ['an account', { ...created, accountId: id }, 'item_sender', /tenant_id = .*account_external_id/],
  [
    'times of posting',
    { order: 'posted_at', from: hour(-20) },
    'item_posted',
    /tenant_id = .*posted_at >= /,
  ],
  ['articles', { ...created, kind: 'article' }, 'item_article', /tenant_id = .*status = /],
  [
    'articles of a state',
    { ...created, kind: 'article', statuses: ['posted'] },
    'item_article',
    /tenant_id = .*status = /,
  ],
  [
    'a state and a rare word',
    { ...created, statuses: ['drafted'], words: rare },
    'item_word_pkey',
    WORD,
  ],
  ['a state and a tag', { ...created, statuses: ['posted'], words: tag }, 'item_word_pkey', WORD],
  [
    'a state and a common word',
    { ...created, statuses: ['drafted'], words: common('open') },
    'item_word_pkey',
    WORD,
  ],
  [
    'a last state and a common word',
    { ...created, statuses: ['rejected'], words: common('rejected') },
    'item_word_pkey',
    WORD,
  ],
  ['a common word', { ...created, words: common(...allShelves) }, 'item_word_pkey', WORD],
  [
    'a last state, a common word and a time',
    { ...state, statuses: ['posted'], words: common('posted'), from: hour(-900), to: hour(-3) },
    'item_word_time',
    WORD_TIME,
  ],
  [
    'times of posting and a common word',
    { order: 'posted_at', words: common('posted'), from: hour(-2_000) },
    'item_word_time',
    WORD_TIME,
  ],
  [
    'times of posting and a common word, without an end',
    { order: 'posted_at', words: common('posted') },
    'item_word_time',
    WORD,
  ],
  [
    'a state of few items and a common word',
    { ...created, statuses: ['approved'], words: common('open') },
    'item_status',
    /tenant_id = .*status = /,
  ],
  [
    'an open state, a rare word and a time',
    { ...state, statuses: ['approved'], words: rare, from: hour(1) },
    'item_word_pkey',
    WORD,
  ],
  [
    'an open state, a common word and a time',
    { ...state, statuses: ['approved'], words: common('open'), from: hour(1) },
    'item_time',
    /tenant_id = .*status = .*at >= /,
  ],
  [
    'a batch and a common word',
    { ...created, batchId: id, words: common(...allShelves) },
    'item_batch',
    /tenant_id = .*batch_id = /,
  ],
  [
    'an account and a common word',
    { ...created, accountId: id, words: common(...allShelves) },
    'item_sender',
    /tenant_id = /,
  ],
]
const queries = (filter: ItemFilter): [string, Query][] => [
  ['the first page', findItems(filter, page)],
  [
    'a later page',
    findItems(filter, { ...page, after: { id, at: isById(filter) ? undefined : at } }),
  ],
  ['the total', itemTotal(filter).query],
]
test.each(pairs)('of %s', async (_, filter, index, condition) => {
  for (const [what, query] of queries(filter)) {
    const nodes = await planFor(query)
    for (const node of nodes)
      if (['item', 'item_word'].includes(node['Relation Name'] ?? ''))
        expect([what, node['Node Type']]).not.toEqual([what, 'Seq Scan'])
    const own = nodes.filter((node) => node['Index Name'] === index)
    // A count needs no order: any index of the state will do.
    if (what !== 'the total')
      expect([what, own.length > 0, sorts(nodes, /^w\./)]).toEqual([what, true, []])
    if (what === 'the first page')
      for (const node of own) expect(node['Index Cond']).toMatch(condition)
    for (const node of nodes)
      if (node['Index Name'] === 'item_word_pkey') expect(node['Index Cond']).toMatch(WORD)
  }
})

/** Half of the ids lie behind it: so many rows are read in order, and never sorted. */
const middle = '80000000-0000-4000-8000-000000000000'

test('of a state, and of all', async () => {
  for (const query of [
    listItems(page),
    listItems({ ...page, status: 'drafted' }),
    listItems({ ...page, status: 'drafted', after: middle }),
  ]) {
    const nodes = await planFor(query)
    expect(
      nodes.filter((node) => node['Relation Name'] === 'item').map((node) => node['Index Name']),
    ).not.toContain(undefined)
    expect(sorts(nodes, /^item\./)).toEqual([])
  }
})

test('words are counted by their index', async () => {
  const nodes = (await planFor(wordCounts(['all', '#sale'], allShelves).query)).filter(
    (node) => node['Relation Name'] === 'item_word',
  )
  expect(nodes.map((node) => node['Index Name'])).toEqual(['item_word_pkey'])
  expect(nodes[0]!['Index Cond']).toMatch(WORD)
})

test('who has a minute is found by times, in every state', async () => {
  for (const itemId of [null, id]) {
    const nodes = await planFor(slotTaker({ at: hour(5), itemId }).query)
    const scans = nodes.filter((node) => node['Relation Name'] === 'item')
    expect(scans.map((node) => node['Index Name'])).not.toContain(undefined)
    const byTime = scans.find((node) => node['Index Name'] === 'item_time')
    expect(byTime?.['Index Cond']).toMatch(/tenant_id = .*status = .*at >= .*at < /)
  }
})
