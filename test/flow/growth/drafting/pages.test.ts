/** A page looks up once what many of its rows show. Each row says what it says when read alone. */
import { beforeAll, expect, test } from 'bun:test'
import { ALIKE, FOUND_BY, PRINTS, printsOf } from '#domain/growth/drafting/prints'
import { newId } from '#kernel/ids'
import { insertItem, insertMember } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const TEXT = 'Synergy: of forty late trucks, thirty-one were late before they left our own yard.'
const BATCH = newId()

let story: Story
let reader: string
let authors: object[] = []
/** The accounts by which items go out: the network's id of one, and the connection of another. */
let ways: object[] = []

const addPerson = async (name: string): Promise<string> => {
  const id = newId()
  await app.owner`insert into person (id, name, password_hash)
    values (${id}, ${name}, '')`
  await insertMember(app, story.tenantId, { personId: id, role: 'editor' })
  return id
}

const addAccount = async (status: string) => {
  const [id, external] = [newId(), newId()]
  await app.owner`insert into connection (id, tenant_id, network, external_id, handle, status,
    is_default, created_at, updated_at)
    values (${id}, ${story.tenantId}, 'sandbox', ${external}, ${`h-${external}`}, ${status}, false,
      now(), now())`
  return { id, external }
}

beforeAll(async () => {
  story = await newStory(app)
  reader = (await signedIn(app, story.tenantId, 'owner')).key
  await story.send('PUT', 'profile', { body: { writing_dna: { avoid: ['synergy'] } } })
  await story.approved(TEXT)
  const [ann, ben, cleo] = [await addPerson('Ann'), await addPerson('Ben'), await addPerson('Cleo')]
  const [key] = await app.owner`select id from api_key where tenant_id = ${story.tenantId}`
  const person = (id: string) => ({ kind: 'person', id })
  const json = (value: object | null) => value && app.owner.json(value as never)
  const decided = (by: object, allowed_by?: object) =>
    json({ what: 'reopened', by, at: new Date().toISOString(), ...(allowed_by && { allowed_by }) })
  authors = [
    { source_kind: 'system', source_id: null },
    { source_kind: 'batch', source_id: BATCH, batch_id: BATCH },
    { source_kind: 'person', source_id: ann, written_by: json(person(ann)) },
    { source_kind: 'key', source_id: key!.id, decision: decided(person(ben)) },
    {
      source_kind: 'agent',
      source_id: newId(),
      written_by: json({ kind: 'agent', id: newId() }),
      decision: decided({ kind: 'agent', id: newId() }, person(cleo)),
    },
    { written_by: json(person(newId())), decision: decided({ kind: 'system', id: 'scheduler' }) },
  ]
  const [used, gone] = [await addAccount('connected'), await addAccount('disconnected')]
  ways = [
    {},
    { account_external_id: used.external },
    { account_id: gone.id },
    { account_external_id: 'of no account', account_id: used.id },
  ]
  await app.owner`insert into batch (id, tenant_id, status, focus, requested, created_at, updated_at)
    values (${BATCH}, ${story.tenantId}, 'ready', 'docks', 10, now(), now())`
  await fill(['drafted', 'approved', 'posted'])
})

/** Items of each author, way and state. Their texts are nearly the one that is approved. */
const fill = async (statuses: readonly string[]): Promise<void> => {
  for (const status of statuses)
    for (const author of authors)
      for (const way of ways) {
        const body = `${TEXT} (${Math.random()})`
        const prints = printsOf(body)
        await insertItem(app, story.tenantId, { body, prints, status, ...author, ...way })
      }
}

// biome-ignore lint/suspicious/noExplicitAny: records as the API shows them
type Shown = any

/** As a person, who is shown names of people. */
const read = async (path: string): Promise<Shown> =>
  (await app.send('GET', path, { key: reader })).body

const alone = async (id: string): Promise<Shown> => (await read(`items/${id}`)).item

/** All pages of a list. Pages of five end in the middle of everything. */
const pagesOf = async (path: string): Promise<Shown[]> => {
  const all: Shown[] = []
  for (let cursor = ''; ; ) {
    const body = await read(`${path}limit=5${cursor}`)
    all.push(...body.items)
    if (body.next_cursor === null) return all
    cursor = `&cursor=${body.next_cursor}`
  }
}

test('each item of a list and of a batch is as it is alone', async () => {
  const newest = await pagesOf('items?')
  expect(newest).toHaveLength(3 * authors.length * ways.length + 1)
  for (const one of newest) expect(await alone(one.id)).toMatchObject(one)
  const names = newest.flatMap(({ source, written_by, decision }) =>
    [source, written_by, decision?.by, decision?.allowed_by].map((one) => one?.name),
  )
  expect([...new Set(names.filter(Boolean))].sort()).toEqual([
    'Ann',
    'Ben',
    'Cleo',
    'docks',
    'test',
  ])
  expect(new Set(newest.map(({ posting_account }) => posting_account?.handle)).size).toBe(4)
  expect(newest.flatMap(({ warnings }) => warnings.map(({ code }: Shown) => code))).toContain(
    'avoided_phrase',
  )
  const { items } = (await read(`batches/${BATCH}`)).batch
  for (const listed of [
    await pagesOf('items?sort=created&'),
    await pagesOf('items?status=drafted,posted&'),
    await pagesOf('items?from=2020-01-01T00:00:00Z&'),
    items,
  ])
    expect(listed).toEqual(listed.map(({ id }: Shown) => newest.find((one) => one.id === id)))
  expect(items).toHaveLength(3 * ways.length)
})

test('each entry of what waits says the same as its item', async () => {
  const entries: Shown[] = []
  for (let cursor = ''; ; ) {
    const body = await read(`/api/v1/inbox?kind=draft&limit=5${cursor}`)
    entries.push(...body.entries)
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  const waiting = await pagesOf('items?status=drafted&')
  expect(entries).toHaveLength(waiting.length)
  for (const { id, account, author, source, warnings, comments } of entries) {
    const item = waiting.find((one) => one.id === id)
    expect({ account, author, source, warnings, comments }).toEqual({
      account: item.posting_account,
      author: item.written_by,
      source: item.source,
      warnings: item.warnings.length,
      comments: item.comments,
    })
  }
})

test('each engagement of a list is as it is alone', async () => {
  for (const [index, { batch_id: _, ...author }] of (authors as Shown[]).entries())
    if (author.source_kind !== 'batch')
      await app.owner`insert into engagement ${app.owner({
        id: newId(),
        tenant_id: story.tenantId,
        network: 'sandbox',
        post_id: `post-${index}`,
        action: 'like',
        status: 'drafted',
        created_at: new Date(),
        updated_at: new Date(),
        ...author,
      })}`
  const first = await read('engagements?limit=3')
  const next = await read(`engagements?limit=3&cursor=${first.next_cursor}`)
  const all: Shown[] = [...first.engagements, ...next.engagements]
  expect(all).toHaveLength(authors.length - 1)
  for (const one of all) expect((await read(`engagements/${one.id}`)).engagement).toMatchObject(one)
  expect(all.map(({ written_by }) => written_by?.name ?? null).sort()).toEqual(
    ['Ann', null, null, null, null].sort(),
  )
  const { entries } = await read('/api/v1/inbox?kind=engagement')
  expect(entries).toHaveLength(all.length)
  for (const { id, author, source } of entries) {
    const engagement = all.find((one) => one.id === id)
    expect([author, source]).toEqual([engagement.written_by, engagement.source])
  }
})

test('a text repeats another if half of its prints are the same, whichever half', async () => {
  const other = await newStory(app)
  const prints = Array.from({ length: PRINTS }, (_, index) => index)
  const posted = await insertItem(app, other.tenantId, { status: 'posted', prints })
  await app.owner`insert into item_print (tenant_id, item_id, print, until)
    select ${other.tenantId}, ${posted}, p, now() + interval '1 day'
      from unnest(${prints.slice(0, FOUND_BY)}::int[]) p`
  const repeats = async (sharing: number[]): Promise<boolean> => {
    const own = prints.map((print) => (sharing.includes(print) ? print : 100 + print))
    const draft = await insertItem(app, other.tenantId, { prints: own })
    const listed = (await other.send('GET', 'items?limit=1')).body.items[0]
    expect(listed).toMatchObject({ id: draft })
    expect((await other.send('GET', `items/${draft}`)).body.item.warnings).toEqual(listed.warnings)
    return listed.warnings.length > 0
  }
  expect(await repeats(prints.slice(-ALIKE))).toBe(true)
  expect(await repeats(prints.slice(0, ALIKE))).toBe(true)
  expect(await repeats(prints.filter((print) => print % 2 === 1))).toBe(true)
  expect(await repeats(prints.slice(-ALIKE + 1))).toBe(false)
})
