/**
 * Articles over HTTP, from a topic to the network: drafted, retitled on approval, posted once as
 * one long post.
 */
import { describe, expect, test } from 'bun:test'
import { plans } from '#domain/app/plan'
import { CANCEL } from '#edge/mcp/generation'
import { scopes } from '#kernel/scopes'
import { GenerationError } from '#port/model/drafter'
import { eventually, testApp } from '#test/support/app'
import { softwareProfile } from '#test/support/growth/profiles'
import { contextOf } from '#test/support/mcp/context'
import { connectMcp } from '#test/support/mcp/mcp'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const app = useApp({ overrides: { drafter: held.drafter } })

/** A new workspace. */
const workspace = async (at = app) => {
  const { tenantId, key } = await at.newWorkspace()
  const send = (method: string, path: string, body?: object) =>
    at.send(method, path, { key, ...(body ? { body } : {}) })
  const article = async (id: string) => (await send('GET', `articles/${id}`)).body.article
  return {
    tenantId,
    key,
    send,
    article,
    create: async (body: object = {}): Promise<string> =>
      (await send('POST', 'articles', { topic: 'docks', ...body })).body.article.id,
    settled: (id: string) =>
      eventually(
        () => article(id),
        ({ status }) => status === 'ready' || status === 'failed',
      ),
    spent: async () =>
      Object.fromEntries(
        (await at.owner`select key, used::int from counter where tenant_id = ${tenantId}`).map(
          ({ key: name, used }) => [name, used],
        ),
      ),
    events: async () => [
      ...(await at.owner`select type, data from outbox where tenant_id = ${tenantId} order by id`),
    ],
    works: async () =>
      (await at.owner`select id from work where tenant_id = ${tenantId} and lane = 'generation'`)
        .length,
  }
}

const failed = (error: string) => ({
  status: 'failed',
  error,
  title: null,
  item_id: null,
  item: null,
})

test('an article is drafted, retitled on approval and posted once, as one long post', async () => {
  await using real = await testApp()
  const { send, create, settled, article, events, spent } = await workspace(real)
  const { on_missed: _, ...profile } = softwareProfile
  await send('PUT', 'profile', profile)
  const outline = '1. The mistake\n2. What we changed\n3. Results'
  const created = await send('POST', 'articles', { topic: 'onboarding', length: 'short', outline })
  expect(created.status).toBe(201)
  const asked = {
    status: 'queued',
    topic: 'onboarding',
    length: 'short',
    outline,
    title: null,
    item_id: null,
  }
  expect(created.body.article).toMatchObject(asked)
  const { id } = created.body.article
  const ready = await settled(id)
  expect(ready).toMatchObject({
    status: 'ready',
    error: null,
    model: 'composer',
    title: 'Onboarding',
    item_id: ready.item.id,
  })
  expect(ready.item).toMatchObject({
    kind: 'article',
    status: 'drafted',
    title: 'Onboarding',
    batch_id: null,
  })
  expect(ready.item.body).toStartWith('Onboarding\n\n')
  expect(ready.item.length).toBeGreaterThan(280)
  const lines = ready.item.body.split('\n')
  const at = ['The mistake', 'What we changed', 'Results'].map((point) => lines.indexOf(point))
  expect(at[0]! > 0 && at[0]! < at[1]! && at[1]! < at[2]!).toBeTrue()

  const approved = await send('POST', `items/${ready.item.id}/approve`, {
    title: 'A promise, not a tour',
  })
  const body = ready.item.body.replace('Onboarding', 'A promise, not a tour')
  expect(approved.body.item).toMatchObject({
    status: 'approved',
    title: 'A promise, not a tour',
    body,
  })
  expect((await article(id)).title).toBe('A promise, not a tour')
  const posted = await send('POST', `items/${ready.item.id}/post-now`)
  expect([posted.status, posted.body.item.status]).toEqual([200, 'posted'])
  expect((await real.owner`select text from sandbox.posts`).map(({ text }) => text)).toEqual([body])
  expect(
    (await events()).map(({ type, data }) => [type, data.kind ?? null, data.article_id ?? null]),
  ).toEqual([
    ['growth.approval.requested', 'article', id],
    ['growth.item.posted', null, null],
  ])
  expect(await spent()).toMatchObject({ articles: 1, create_article: 1 })
  // Posts may use its stories again.
  const { batch } = (await send('POST', 'batches', { count: 5 })).body
  const next = await eventually(
    async () => (await send('GET', `batches/${batch.id}`)).body.batch,
    (one) => one.status !== 'queued' && one.status !== 'generating',
  )
  expect(next).toMatchObject({ status: 'ready', delivered: 5 })
  expect(await create()).toBeString()
})

test('an article that the network does not accept is refused on approval and stays a draft', async () => {
  const { send, create, settled } = await workspace()
  held.release()
  const { item } = await settled(await create())
  // The network counts each of these letters twice.
  const refused = await send('POST', `items/${item.id}/approve`, {
    edited_body: '漢'.repeat(12_501),
  })
  expect(refused.status).toBe(400)
  expect(refused.body.error).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('25002 characters long as the network counts'),
  })
  const longest = '漢'.repeat(12_500)
  const approved = await send('POST', `items/${item.id}/approve`, { edited_body: longest })
  expect(approved.body.item).toMatchObject({ status: 'approved', length: 25_000, title: null })
  expect((await send('POST', `items/${item.id}/post-now`)).body.item.status).toBe('posted')
  expect((await app.owner`select text from sandbox.posts where text = ${longest}`).length).toBe(1)
})

test('a post has no title and keeps to the length limit of posts', async () => {
  const { send } = await workspace()
  held.release()
  const { batch } = (await send('POST', 'batches', { count: 1 })).body
  const [post] = (
    await eventually(
      async () => (await send('GET', `batches/${batch.id}`)).body.batch,
      ({ status }) => status === 'ready',
    )
  ).items
  for (const body of [{ title: 'No' }, { edited_body: 'x'.repeat(281) }])
    expect((await send('POST', `items/${post.id}/approve`, body)).status).toBe(400)
  expect((await send('POST', `items/${post.id}/approve`)).body.item.title).toBeNull()
})

test.each([
  ['an empty topic', { topic: ' ' }],
  [
    'an outline of too many points',
    { outline: Array.from({ length: 13 }, (_, index) => `Point ${index}`).join('\n') },
  ],
])('%s is refused, and costs nothing', async (_, body) => {
  const { send, spent } = await workspace()
  const refused = await send('POST', 'articles', { topic: 'docks', ...body })
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_input'])
  expect(await spent()).toEqual({})
})

test('a list is without the texts', async () => {
  const { send, create, settled } = await workspace()
  held.release()
  await settled(await create({ topic: 'one' }))
  const [article, ...others] = (await send('GET', 'articles')).body.articles
  expect([article.topic, article.title, article.item, others]).toEqual([
    'one',
    'On one',
    undefined,
    [],
  ])
})

test('every plan allows articles', () =>
  expect(Object.values(plans).every(({ caps }) => caps.create_article > 0)).toBeTrue())

test('the quota is given back when the article fails; the record holds a hint and there is no event', async () => {
  const { create, settled, spent, events, works } = await workspace()
  held.failWith(new GenerationError('add stories'))
  expect(await settled(await create())).toMatchObject(failed('generation_failed: add stories'))
  expect([(await spent()).articles, await events(), await works()]).toEqual([0, [], 0])
})

test('an article about a product that is archived while the model writes fails and costs nothing', async () => {
  const { send, create, settled, spent } = await workspace()
  const { product } = (
    await send('POST', 'products', { name: 'Dockline', one_liner: 'a dock scheduler' })
  ).body
  const id = await create({ topic: 'Dockline' })
  await held.begun(1)
  expect((await send('PUT', `products/${product.id}`, { status: 'archived' })).status).toBe(200)
  held.release()
  expect(await settled(id)).toMatchObject(
    failed('generation_failed: a product it mentions was archived in the meantime; ask again'),
  )
  expect((await spent()).articles).toBe(0)
})

describe('a generation that is stopped', () => {
  test('by its caller ends as cancelled once and gives its quota back', async () => {
    const { tenantId, create, article, spent, works } = await workspace()
    const context = await contextOf(app, { tenantId })
    const id = await create({ topic: 'the topic' })
    await held.begun(1)
    const cancel = async () => JSON.parse((await context.run(CANCEL, { id })).body).generation
    for (let time = 0; time < 2; time++)
      expect(await cancel()).toEqual({ id, status: 'failed', error: 'cancelled' })
    expect(held.aborted).toEqual(['the topic'])
    expect(await article(id)).toMatchObject(failed('cancelled'))
    expect([(await spent()).articles, await works()]).toEqual([0, 0])
  })

  test('by pause-all ends, running or waiting, if it is automatic; a manual one goes on', async () => {
    const { tenantId, send, create, settled, article, spent } = await workspace()
    const mine = await create({ topic: 'mine' })
    await held.begun(1)
    const theirs = await create({ topic: 'theirs' })
    await app.owner`update work set origin = 'automatic' where tenant_id = ${tenantId}
      and ref_id = ${theirs}`
    await send('POST', 'automation/pause-all')
    expect(await article(theirs)).toMatchObject(failed('cancelled'))
    held.release()
    expect(await settled(mine)).toMatchObject({ status: 'ready' })
    expect((await spent()).articles).toBe(1)
  })
})

test('a tool call with a progress token reports progress and answers with the article', async () => {
  const { tenantId } = await workspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  await using mcp = await connectMcp(app.url, { key })
  await mcp.client.listTools()
  const progress: { progress: number; message?: string }[] = []
  const call = {
    name: 'growth_create_article',
    arguments: { topic: 'docks', length: 'short', outline: 'One\nTwo' },
  }
  const running = mcp.client.callTool(call, undefined, {
    onprogress: (one) => void progress.push(one),
  })
  await held.begun(1)
  held.release()
  const result = await running
  expect(result.structuredContent).toMatchObject({
    article: { status: 'ready', title: 'On docks' },
  })
  expect((result.content as { text: string }[])[0]!.text).toContain('On docks')
  expect(progress.at(-1)).toMatchObject({ progress: 100, message: 'ready' })
  expect(progress.length).toBeGreaterThan(1)
})
