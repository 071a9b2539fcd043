/** Finding items: filters, order, pages, totals, and the words that they are found by. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { itemWords } from '#domain/growth/drafting/item-words'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { insertItem } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
let story: Story

const day = (n: number, ms = 0): Date => new Date(Date.UTC(2026, 0, n, 9) + ms)

/** Items of every state, by name; the later in the list, the newer. */
const ids: Record<string, string> = {}

beforeAll(async () => {
  story = await newStory(app)
  const [connection] = (await story.send('GET', 'connections')).body.connections
  const batch = newId()
  await app.owner`insert into batch (id, tenant_id, status, focus, requested, created_at,
    updated_at)
    values (${batch}, ${story.tenantId}, 'ready', '', 2, now(), now())`
  const rows: [name: string, fields: object][] = [
    ['old', { status: 'drafted', created_at: day(1), batch_id: batch }],
    ['draft', { status: 'drafted', created_at: day(4), account_id: connection.id }],
    ['article', { status: 'drafted', kind: 'article', title: 'T', created_at: day(5) }],
    ['approved', { status: 'approved', created_at: day(2), batch_id: batch }],
    ['late', { status: 'approved', created_at: day(2), post_at: day(20) }],
    ['soon', { status: 'approved', created_at: day(3), post_at: day(10, 1) }],
    ['twin', { status: 'approved', created_at: day(3), post_at: day(10, 1) }],
    [
      'first',
      {
        status: 'posted',
        created_at: day(1),
        posted_at: day(6),
        account_external_id: story.account,
      },
    ],
    [
      'second',
      { status: 'posted', created_at: day(1), posted_at: day(7), account_external_id: 'elsewhere' },
    ],
    ['refused', { status: 'publish_failed', created_at: day(8) }],
  ]
  for (const [name, fields] of rows)
    ids[name] = await insertItem(app, story.tenantId, { body: name, ...fields })
  ids.batch = batch
  ids.account = connection.id
  await insertItem(app, (await app.newWorkspace()).tenantId, { body: 'foreign' })
})

const nameOf = (id: string): string => Object.keys(ids).find((name) => ids[name] === id) ?? id

// biome-ignore lint/suspicious/noExplicitAny: pages of items
const page = async (query: string): Promise<any> => {
  const { status, body } = await story.send('GET', `items?${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body
}
const found = async (query: string): Promise<string[]> =>
  (await page(query)).items.map(({ id }: { id: string }) => nameOf(id))

describe('a list has the items that match all filters', () => {
  const lists: [query: string, names: string[]][] = [
    [
      '',
      ['refused', 'second', 'first', 'twin', 'soon', 'late', 'approved', 'article', 'draft', 'old'],
    ],
    ['status=drafted', ['article', 'draft', 'old']],
    ['status=approved', ['twin', 'soon', 'late', 'approved']],
    ['status=scheduled', ['twin', 'soon', 'late']],
    ['status=scheduled,publish_failed', ['refused', 'twin', 'soon', 'late']],
    ['status=scheduled,approved', ['twin', 'soon', 'late', 'approved']],
    ['status=posted,posted,drafted', ['second', 'first', 'article', 'draft', 'old']],
    ['status=rejected', []],
    ['kind=article', ['article']],
    ['kind=article&status=approved', []],
    ['batch_id=BATCH', ['approved', 'old']],
    ['batch_id=BATCH&status=drafted', ['old']],
    ['account=ACCOUNT&status=posted', ['first']],
    ['account=ACCOUNT&status=drafted', ['article', 'draft', 'old']],
    ['sort=created&status=drafted,publish_failed', ['refused', 'article', 'draft', 'old']],
    ['sort=post_at', ['soon', 'twin', 'late']],
    ['sort=post_at&status=scheduled,posted', ['soon', 'twin', 'late']],
    ['sort=post_at&status=drafted', []],
    ['sort=posted_at', ['second', 'first']],
    ['sort=posted_at&status=drafted', []],
    [`status=drafted&from=${day(4).toISOString()}`, ['article', 'draft']],
    [`status=drafted&from=${day(4).toISOString()}&to=${day(5).toISOString()}`, ['draft']],
    [`status=scheduled&to=${day(11).toISOString()}`, ['twin', 'soon']],
    [`status=posted&from=${day(6).toISOString()}&to=${day(7).toISOString()}`, ['first']],
    [
      `from=${day(5).toISOString()}&to=${day(9).toISOString()}`,
      ['refused', 'second', 'first', 'article'],
    ],
    [`sort=created&from=${day(4).toISOString()}`, ['refused', 'article', 'draft']],
    [`sort=post_at&from=${day(11).toISOString()}`, ['late']],
    [`sort=posted_at&to=${day(7).toISOString()}`, ['first']],
  ]
  const filled = (query: string): string =>
    query.replace('BATCH', ids.batch!).replace('ACCOUNT', ids.account!)
  test.each(lists)('%s', async (query, names) => {
    expect(await found(filled(query))).toEqual(names)
    const counted = await page(`${filled(query)}&total=true&limit=1`)
    expect(counted.total).toBe(names.length)
  })

  test.each(lists.filter(([, names]) => names.length > 1))(
    'in pages of one, by cursors: %s',
    async (query, names) => {
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const body = await page(
          `${filled(query)}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
        )
        seen.push(...body.items.map(({ id }: { id: string }) => nameOf(id)))
        cursor = body.next_cursor
      }
      expect(seen).toEqual(names)
    },
  )

  test('the total is told only when it is asked for', async () =>
    expect(Object.keys(await page('')).toSorted()).toEqual(['items', 'next_cursor']))
})

const refused: [query: string, path: string, message: string][] = [
  ['status=sent', 'status', 'must be one of drafted, approved'],
  ['status=drafted,', 'status', 'or several of them with commas between'],
  ['q=%E2%80%A6', 'q', 'has no letters or digits'],
  [`q=${[...'abcdefghijklm'].join('+')}`, 'q', 'has 13 different words; the maximum is 12'],
  [`from=${day(2).toISOString()}&to=${day(1).toISOString()}`, 'to', 'must not be before from'],
]
test.each(refused)('bad filters are refused by name: %s', async (query, path, message) => {
  const { status, body } = await story.send('GET', `items?${query}`)
  expect([status, body.error.code, body.error.details[0].path]).toEqual([
    400,
    'invalid_input',
    path,
  ])
  expect(body.error.message).toContain(message)
})

test('a cursor of another order is refused', async () => {
  const { next_cursor } = await page('limit=1')
  const { status, body } = await story.send('GET', `items?sort=post_at&cursor=${next_cursor}`)
  expect([status, body.error.details[0].path]).toEqual([400, 'cursor'])
  const later = await page('sort=post_at&limit=1')
  expect((await story.send('GET', `items?cursor=${later.next_cursor}`)).status).toBe(400)
})

describe('words', () => {
  /** Of all items: those in the table, and those that their text has. */
  const wordsOf = async (tenantId: string) => {
    const rows = await app.owner<
      { id: string; body: string; note: string | null; tags: string[]; words: string[] }[]
    >`
      select i.id, i.body, i.note, i.tags, array(select w.word from item_word w
        where w.item_id = i.id order by w.word) as words
      from item i where i.tenant_id = ${tenantId} and i.status <> 'deleted'`
    return rows.map((row) => ({
      id: row.id,
      words: row.words,
      expected: itemWords(row).toSorted(),
    }))
  }

  test('follow the text from its generation over its approval with edits, and items are found by them', async () => {
    const { tenantId, key } = await newStory(app)
    const send = (method: string, path: string, body?: object) =>
      app.send(method, path, { key, ...(body && { body }) })
    await send('PUT', 'profile', {
      goal: 'Sell parcels',
      audience: 'shops',
      writing_dna: { stories: ['We lost a parcel in Hull and wrote to each customer.'] },
    })
    const { body: made } = await send('POST', 'batches', { count: 3 })
    const items = async (query: string) => {
      const { text, body } = await send('GET', `items?${query}`)
      if (!body.items) throw new Error(text)
      return body.items
    }
    const drafts = await eventually(
      () => items(''),
      (all) => all.length > 0,
    )
    expect(made.batch.id).toBeString()
    const [draft] = drafts
    await send('POST', `items/${draft.id}/approve`, {
      edited_body: 'Zebra crossings in Łódź — 3 of them, at the Dock',
    })
    const all = await wordsOf(tenantId)
    for (const { words, expected } of all) expect(words).toEqual(expected)
    const idsOf = async (query: string) => (await items(query)).map(({ id }: { id: string }) => id)
    for (const q of ['zebra', 'ZEBRA dock', 'ŁÓDŹ', 'crossings 3 them'])
      expect([q, await idsOf(`q=${encodeURIComponent(q)}`)]).toEqual([q, [draft.id]])
    expect(await idsOf('q=zebra&status=approved')).toEqual([draft.id])
    for (const q of ['zebra parcelless', 'zeb', 'zebra&status=drafted'])
      expect([q, await idsOf(`q=${q}`)]).toEqual([q, []])
    await send('POST', `items/${draft.id}/reopen`)
    await send('POST', `items/${draft.id}/reject`, { reason: 'Not ours' })
    expect([
      await idsOf('q=zebra&status=rejected'),
      await idsOf('q=zebra&status=approved,drafted'),
    ]).toEqual([[draft.id], []])
    await send('DELETE', `items/${draft.id}`)
    expect(await idsOf('q=zebra')).toEqual([])
    await send('POST', `items/${draft.id}/restore`)
    expect(await idsOf('q=zebra&status=rejected')).toEqual([draft.id])
    await send('POST', `items/${draft.id}/reopen`)
    expect(await idsOf('q=zebra&status=drafted')).toEqual([draft.id])
  })

  test('find a post from the moment it is out, before a sweep has moved its words and after', async () => {
    const own = await newStory(app)
    const id = await own.approved('Zebra crossings in Hull')
    await own.send('POST', `items/${id}/post-now`)
    await own.send('PATCH', `items/${id}`, { body: { tags: ['Docks'] } })
    const found = async (query: string) => {
      const { body } = await own.send('GET', `items?q=zebra&total=true&${query}`)
      return [body.items.map((item: { id: string }) => item.id), body.total]
    }
    const check = async () => {
      for (const query of ['', 'status=posted', 'status=posted&tag=docks', 'sort=posted_at'])
        expect([query, await found(query)]).toEqual([query, [[id], 1]])
      expect(await found('status=drafted,rejected')).toEqual([[], 0])
    }
    await check()
    await app.owner`select sweep_words(${own.tenantId}, 200)`
    expect(await app.owner`select from item_word_move where item_id = ${id}`).toHaveLength(0)
    await check()
  })

  test('are looked for in common ones, too, with tags and in the order of the list', async () => {
    const { tenantId, key } = await newStory(app)
    const many = 2_100
    await app.owner`insert into item (id, tenant_id, kind, status, body, format, hook, rationale,
      stories, learnings, length, tags, created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'post', case when n % 100 = 0 then 'approved'
        else 'drafted' end, 'common w' || n % 50, 'point', 'none', '', '[]', '[]', 1,
        case when n % 700 = 0 then array['Spring Sale'] else '{}' end, now(), now()
          from generate_series(1, ${many}) n`
    await app.owner`insert into item_word (tenant_id, item_id, word) select tenant_id, id, w
      from item, regexp_split_to_table(body, ' ') w where tenant_id = ${tenantId}
      union all select tenant_id, id, '#spring sale' from item where tenant_id = ${tenantId}
        and tags <> '{}'`
    const ask = async (query: string) =>
      (await app.send('GET', `items?limit=100&total=true&${query}`, { key })).body
    const isSorted = (items: { id: string }[]) =>
      items.every(({ id }, n) => n === 0 || items[n - 1]!.id > id)
    const common = await ask('q=common')
    expect([common.items.length, common.total, isSorted(common.items)]).toEqual([100, many, true])
    const next = await ask(`q=common&cursor=${common.next_cursor}`)
    expect([next.items.length, next.items[0].id < common.items.at(-1).id]).toEqual([100, true])
    expect((await ask('q=common&status=approved')).total).toBe(21)
    const both = await ask('q=common+w7')
    expect([
      both.total,
      isSorted(both.items),
      new Set(both.items.map(({ body }: { body: string }) => body)),
    ]).toEqual([42, true, new Set(['common w7'])])
    expect((await ask('q=common&tag=spring++SALE')).total).toBe(3)
    expect((await ask('tag=spring')).total).toBe(0)
  })

  test('of a workspace are nobody else’s', async () => {
    const { key } = await newStory(app)
    expect((await app.send('GET', 'items?q=common&total=true', { key })).body).toEqual({
      items: [],
      next_cursor: null,
      total: 0,
    })
  })
})
