/**
 * Articles over HTTP, from a topic to the network: drafted, retitled on approval, posted once as
 * one long post.
 */
import { expect, test } from 'bun:test'
import { plans } from '#domain/app/plan'
import { eventually, testApp } from '#test/support/app'
import { softwareProfile } from '#test/support/growth/profiles'
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
