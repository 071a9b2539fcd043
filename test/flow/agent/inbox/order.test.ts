/** The list of what waits for a person: its order, pages while others decide, filters, counts. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { inboxKinds } from '#contract/agent/inbox'
import { argumentsHash } from '#domain/agent/hash'
import { itemWords } from '#domain/growth/drafting/item-words'
import { newId } from '#kernel/ids'
import { makeApproval } from '#test/support/agent/records'
import { insertItem } from '#test/support/database/writes'
import { makeEngagement } from '#test/support/growth/records'
import { newStory, type Story } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

interface Found {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: entries of every kind
  body: any
}

const inboxOf = (key: string, query = ''): Promise<Found> =>
  app.send('GET', `/api/v1/inbox?${query}`, { key })

const titles = ({ status, body }: Found): string[] => {
  expect([status, body.error]).toEqual([200, undefined])
  return body.entries.map(({ title }: { title: string }) => title)
}

/** All pages, of so many entries each; `between` runs before each page but the first. */
const paged = async (
  key: string,
  {
    limit,
    query = '',
    between,
  }: { limit: number; query?: string; between?: (seen: string[]) => Promise<void> },
): Promise<string[]> => {
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const found = await inboxOf(key, `limit=${limit}${query}${cursor && `&cursor=${cursor}`}`)
    seen.push(...titles(found))
    if (found.body.next_cursor === null) return seen
    cursor = found.body.next_cursor
    await between?.(seen)
  }
}

/** Ids in this order, as if made one after the other. */
let made = 0
const nextId = (): string => {
  made += 1
  return `0190${String(made).padStart(4, '0')}-0000-7000-8000-000000000000`
}

const makeBatch = async (tenantId: string, focus: string): Promise<string> => {
  const id = nextId()
  await app.owner`insert into batch (id, tenant_id, status, focus, requested, created_at, updated_at)
    values (${id}, ${tenantId}, 'ready', ${focus}, 2, now(), now())`
  return id
}

type Add = (body: string, fields?: object) => Promise<string>

/** A workspace where everything waits, with the titles in the order of the list. */
const filled = async (): Promise<{ story: Story; add: Add; expected: string[] }> => {
  const story = await newStory(app)
  const { tenantId } = story
  const add: Add = async (body, fields = {}) => {
    const id = await insertItem(app, tenantId, { id: nextId(), body, ...fields })
    for (const word of itemWords({ body, note: null, tags: [] }))
      await app.owner`insert into item_word (tenant_id, word, item_id) values (${tenantId}, ${word}, ${id})`
    return id
  }
  const early = await makeBatch(tenantId, 'ferries')
  const late = await makeBatch(tenantId, 'docks')
  const person = nextId()
  // The order in which they are made is not that of the list.
  await add('by the agent', { source_kind: 'agent' })
  await add('a copy', { source_kind: 'resurfaced' })
  await add('late batch', { source_kind: 'batch', batch_id: late, source_id: late })
  await add('early batch, one', { source_kind: 'batch', batch_id: early, source_id: early })
  await add('a person’s, one', { source_kind: 'person', source_id: person })
  await add('an article of a rule', {
    source_kind: 'rule',
    kind: 'article',
    title: 'an article of a rule',
  })
  await add('early batch, two', { source_kind: 'batch', batch_id: early, source_id: early })
  await add('a person’s, two\nand a second line', { source_kind: 'person', source_id: person })
  await add('a program’s', { source_kind: 'key' })
  await add('refused', { status: 'publish_failed', source_kind: 'person' })
  await add('looked at by itself', { status: 'publish_unconfirmed' })
  await add('in doubt', { status: 'publish_unconfirmed', review: true, source_kind: 'person' })
  await add('approved', { status: 'approved' })
  await add('rejected', { status: 'rejected' })
  const { id } = await makeEngagement({ app, ...story, session: story.key })
  await app.owner`update engagement set status = 'drafted', body = 'an answer', source_kind = 'person', source_id = ${person}
      where id = ${id}`
  const expected = [
    ...['in doubt', 'refused', 'early batch, one', 'early batch, two', 'late batch'],
    ...['an article of a rule', 'a person’s, one', 'a person’s, two', 'an answer'],
    ...['a program’s', 'by the agent', 'a copy'],
  ]
  return { story, add, expected }
}

describe('a workspace where everything waits', () => {
  let story: Story
  let expected: string[]
  beforeAll(async () => {
    const place = await filled()
    story = place.story
    expected = place.expected
  })

  test('has it all in one order, however long the pages are', async () => {
    expect(titles(await inboxOf(story.key))).toEqual(expected)
    for (const limit of [1, 3, 5]) expect(await paged(story.key, { limit })).toEqual(expected)
  })

  test('counts each kind, with the other filters', async () => {
    const none = Object.fromEntries(inboxKinds.map((kind) => [kind, 0]))
    const all = { ...none, doubt: 1, refused: 1, draft: 8, article: 1, engagement: 1 }
    expect((await inboxOf(story.key)).body.counts).toEqual(all)
    const two = await inboxOf(story.key, 'kind=article,refused')
    expect([titles(two), two.body.counts]).toEqual([['refused', 'an article of a rule'], all])
    const people = await inboxOf(story.key, 'source=person&kind=draft')
    expect([titles(people), people.body.counts]).toEqual([
      ['a person’s, one', 'a person’s, two'],
      // What was in doubt and refused was made by a person too.
      { ...none, doubt: 1, refused: 1, draft: 2, engagement: 1 },
    ])
  })

  test('finds words, with every other filter', async () => {
    expect(titles(await inboxOf(story.key, 'q=BATCH%20early'))).toEqual([
      'early batch, one',
      'early batch, two',
    ])
    const found = await inboxOf(story.key, 'q=answer')
    expect([titles(found), found.body.counts.engagement, found.body.counts.draft]).toEqual([
      ['an answer'],
      1,
      0,
    ])
    const [connection] = (await story.send('GET', 'connections')).body.connections
    expect(titles(await inboxOf(story.key, `account=${connection.id}`))).toEqual(expected)
    expect(titles(await inboxOf(story.key, `account=${newId()}`))).toEqual([])
    const exact = `account=${connection.id}&q=one&source=batch&kind=draft`
    expect(titles(await inboxOf(story.key, exact))).toEqual(['early batch, one'])
    expect(await paged(story.key, { limit: 1, query: '&q=one' })).toEqual([
      'early batch, one',
      'a person’s, one',
    ])
  })

  test('says of each what a row shows', async () => {
    const { entries } = (await inboxOf(story.key)).body
    const one = entries.find(({ title }: { title: string }) => title === 'early batch, one')
    const { item } = (await story.send('GET', `items/${one.id}`)).body
    expect(one).toMatchObject({
      kind: 'draft',
      record: 'item',
      status: 'drafted',
      author: null,
      source: { kind: 'batch', id: item.batch_id, name: 'ferries' },
      account: item.posting_account,
      length: item.length,
      content_hash: item.content_hash,
      mark: item.content_hash.slice(0, 8),
      warnings: item.warnings.length,
      comments: 0,
      calls: [],
      expires_at: null,
      can_decide: true,
      created_at: item.created_at,
    })
  })

  test('shows what is decided between two pages neither twice nor in place of another', async () => {
    const { story, add, expected } = await filled()
    // Those that were shown already, and one that was not, leave the list; others join it.
    const left: string[] = []
    const joined: string[] = []
    const between = async (seen: string[]) => {
      const ahead = expected.filter((title) => !seen.includes(title) && !left.includes(title))
      for (const title of [seen.at(-1)!, ...ahead.slice(2, 3)]) {
        left.push(title)
        await app.owner`update item set status = 'approved' where body = ${title}
          and tenant_id = ${story.tenantId}`
      }
      joined.push(`new ${joined.length}`)
      await add(joined.at(-1)!, {
        source_kind: 'batch',
        batch_id: await makeBatch(story.tenantId, ''),
      })
    }
    const seen = await paged(story.key, { limit: 2, between })
    const old = seen.filter((title) => expected.includes(title))
    expect(new Set(seen).size).toBe(seen.length)
    expect(old).toEqual(expected.filter((title) => old.includes(title)))
    for (const title of expected) expect(seen.includes(title) || left.includes(title)).toBe(true)
  })

  test('refuses what is no filter, no cursor of this list and no word', async () => {
    const cursor = (text: string) => `cursor=${Buffer.from(text).toString('base64url')}`
    const id = newId()
    for (const query of [
      ...['kind=post', 'kind=draft,', 'account=me', 'source=people', 'limit=0', 'limit=101'],
      ...['q=', `q=${'a'.repeat(201)}`, 'q=%21%21', `q=${[...'abcdefghijklm'].join('%20')}`],
      ...[cursor(id), cursor(`7 0  ${id}`), cursor('6 1 x y'), cursor(`6 1 ${id}`), 'cursor=%27'],
      ...[cursor(`3 0 ${id} ${id}`), cursor(`6 1 00000000000000001 ${id}`)],
      cursor(`6 1 ${'-'.repeat(36)} ${id}`),
    ]) {
      const { status, body } = await inboxOf(story.key, query)
      expect([query, status, body.error?.code]).toEqual([query, 400, 'invalid_input'])
    }
    for (const q of ["'; drop table item; --", '%', '\\', 'a_b', '\u202Eone', '🚢 x'])
      expect([200, 400]).toContain((await inboxOf(story.key, `q=${encodeURIComponent(q)}`)).status)
  })
})

test('an empty workspace has an empty list', async () => {
  const { key } = await app.newWorkspace()
  const { status, body } = await inboxOf(key)
  expect([status, body.entries, body.next_cursor]).toEqual([200, [], null])
  expect(Object.values(body.counts)).toEqual(inboxKinds.map(() => 0))
})

test('a call that asks to approve a draft stands in the entry of the draft', async () => {
  const story = await newStory(app)
  const id = await insertItem(app, story.tenantId, { body: 'asked about' })
  const args = { id }
  const asking = {
    tool_name: 'growth_approve_item',
    arguments: args,
    arguments_hash: argumentsHash(args),
    subject_id: id,
    subject: {
      records: [{ kind: 'item', id, sha256: '00' }],
      account: null,
      text: 'asked about',
      sha256: '00',
    },
  }
  const call = await makeApproval({ app, tenantId: story.tenantId }, asking)
  const other = await makeApproval({ app, tenantId: story.tenantId }, { summary: 'Read it all' })
  const { api_key: key } = await app.newKey(['api:read', 'workspace:use'], story.tenantId)
  const { entries, counts } = (await inboxOf(key)).body
  expect(entries.map(({ kind, title }: Record<string, string>) => [kind, title])).toEqual([
    ['call', 'Read it all'],
    ['draft', 'asked about'],
  ])
  expect(entries[0]).toMatchObject({ id: other.id, record: 'approval', can_decide: false })
  expect(entries[1].calls).toMatchObject([
    { id: call.id, tool_name: 'growth_approve_item', can_decide: false },
  ])
  expect([counts.call, counts.draft]).toEqual([1, 1])
  // Once the draft no longer waits, the call stands on its own.
  await app.owner`update item set status = 'rejected' where id = ${id}`
  expect((await inboxOf(key)).body.counts).toMatchObject({ call: 2, draft: 0 })
  // Keys that may not use the agent see nothing of it.
  expect((await inboxOf(story.key)).body).toMatchObject({ entries: [], counts: { call: 0 } })
})
