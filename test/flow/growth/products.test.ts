/** Products over HTTP: added, changed, archived; and how the next batch uses them. */
import { describe, expect, test } from 'bun:test'
import { createComposer } from '#port/model/composer/composer'
import { type Gate, newGate } from '#test/support/actors/letters'
import { newStory } from '#test/support/growth/story'
import { inlineWorker } from '#test/support/model/inline-worker'
import { useApp } from '#test/support/use'

const composer = createComposer(inlineWorker)

/** The drafter waits for it. */
let gate: Gate
let drafting: Gate
const app = useApp(() => {
  const draft = async (...[brief, signal]: Parameters<typeof composer.draft>) => {
    drafting.open()
    const set = await composer.draft({ ...brief, recent: [] }, signal)
    await gate.opened
    return set
  }
  return { overrides: { drafter: { ...composer, draft } } }
})

const setUp = async () => {
  const story = await newStory(app)
  ;[gate, drafting] = [newGate(), newGate()]
  gate.open()
  const send = (method: string, path: string, body?: unknown) => story.send(method, path, { body })
  return {
    tenantId: story.tenantId,
    send,
    add: (name: string, more: object = {}) =>
      send('POST', 'products', { name, one_liner: 'Onboarding that asks one question', ...more }),
    change: (id: string, patch: object) => send('PUT', `products/${id}`, patch),
    list: async (query = '') => (await send('GET', `products${query}`)).body.products,
    begin: async (count = 1): Promise<string> =>
      (await send('POST', 'batches', { count })).body.batch.id,
    settled: (id: string) => story.ended(`batches/${id}`),
  }
}

const refusal = ({
  status,
  body,
}: {
  status: number
  body: { error?: { code: string; message: string } }
}) => [status, body.error?.code, body.error?.message]

describe('products', () => {
  test('are added, changed in part, archived and listed newest first', async () => {
    const { send, add, change, list } = await setUp()
    const first = await add(' Loopline ', { url: 'https://loopline.example/demo' })
    expect(first.status).toBe(201)
    expect(first.body.product).toMatchObject({
      name: 'Loopline',
      url: 'https://loopline.example/demo',
      status: 'active',
    })
    const { product: second } = (await add('Reports')).body
    expect(second.url).toBeNull()
    const { id } = first.body.product
    const changed = await change(id, { one_liner: 'Asks one question', url: null })
    expect([changed.status, changed.body.product]).toMatchObject([
      200,
      { name: 'Loopline', one_liner: 'Asks one question', url: null },
    ])
    expect((await change(id, { status: 'archived' })).body.product).toMatchObject({
      one_liner: 'Asks one question',
      status: 'archived',
    })
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual([
      'Reports',
      'Loopline',
    ])
    expect((await list('?status=active')).map(({ name }: { name: string }) => name)).toEqual([
      'Reports',
    ])
    expect((await send('GET', 'products?limit=1')).body.next_cursor).toBeString()
  })

  test('cannot share a name while active, in any case; archiving frees the name', async () => {
    const { add, change } = await setUp()
    const { id } = (await add('Loopline')).body.product
    expect(refusal(await add('LOOPLINE'))).toEqual([
      409,
      'conflict',
      'cannot add: an active product is named LOOPLINE',
    ])
    expect((await change(id, { name: 'LoopLine', status: 'archived' })).status).toBe(200)
    const { product } = (await add('Loopline')).body
    expect(refusal(await change(id, { status: 'active' }))).toEqual([
      409,
      'conflict',
      'cannot change: an active product is named LoopLine',
    ])
    expect((await change(id, { status: 'active', name: 'Loopline Classic' })).status).toBe(200)
    expect(refusal(await change(product.id, { name: 'loopline classic' }))[0]).toBe(409)
  })
})

describe('drafts', () => {
  test('mention an active product in its own words, and no archived one', async () => {
    const { add, change, begin, settled } = await setUp()
    const { id } = (await add('Loopline', { url: 'https://loopline.example/demo' })).body.product
    const { items } = await settled(await begin())
    expect(items.map(({ body }: { body: string }) => body)).toEqual([
      'Loopline: Onboarding that asks one question.\n\nhttps://loopline.example/demo',
    ])
    await change(id, { status: 'archived' })
    // The product is all there is to write about.
    expect(await settled(await begin())).toMatchObject({ status: 'failed', items: [] })
  })

  test('written while their product is archived are dropped', async () => {
    const { add, change, begin, settled } = await setUp()
    const { id } = (await add('Loopline')).body.product
    await add('Reports')
    gate = newGate()
    const batch = await begin(2)
    await drafting.opened
    expect((await change(id, { status: 'archived' })).status).toBe(200)
    gate.open()
    const { status, delivered, items } = await settled(batch)
    expect([status, delivered, items.length]).toEqual(['ready', 1, 1])
    expect(items[0].body).toStartWith('Reports:')
  })
})
