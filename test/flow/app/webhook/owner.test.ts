/** Owners manage the webhook endpoint over HTTP, with a real receiver. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { newId } from '#kernel/ids'
import { eventually, type Send } from '#test/support/app'
import { eventOf, type Hook, hookOf, idOf, quickRetries } from '#test/support/http/hooks'
import { openReceiver, type Received, type Receiver } from '#test/support/http/receiver'
import { type SignedIn, signedIn } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const receiver = use(openReceiver)
const other = use(openReceiver)
const app = useApp(() => {
  const env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port},127.0.0.1:${other.port}` }
  return { env, overrides: { webhookTimes: quickRetries } }
})
beforeEach(() => {
  for (const one of [receiver, other]) Object.assign(one, { answer: {} }).requests.length = 0
})

const PATH = '/api/v1/app/webhook'

interface Desk {
  tenantId: string
  hook: Hook
  owner: SignedIn
  /** Sends as the owner, to a path below the endpoint's. */
  send(
    method: string,
    below?: string,
    more?: Send,
    // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  ): Promise<{ status: number; text: string; headers: Headers; body: any }>
  events(query?: string): Promise<{ id: string; state: string; type: string }[]>
  /**
   * This workspace's requests, oldest first, once there are so many; events of other tests may
   * still be retried.
   */
  requestsTo(at: Receiver, count: number): Promise<Received[]>
  /** Resolves once no event is pending. */
  settled(): Promise<void>
}

const newDesk = async (): Promise<Desk> => {
  const { tenantId } = await app.newWorkspace()
  const owner = await signedIn(app, tenantId, 'owner')
  const send: Desk['send'] = (method, below = '', more = {}) =>
    app.send(method, `${PATH}${below}`, { key: owner.key, ...more })
  return {
    tenantId,
    hook: hookOf(app, tenantId),
    owner,
    send,
    events: async (query = '') => (await send('GET', `/events${query}`)).body.events,
    requestsTo: (at, count) =>
      eventually(
        async () => at.requests.filter(({ body }) => body.includes(tenantId)),
        (all) => all.length >= count,
      ),
    async settled() {
      await eventually(
        () => send('GET', '/events?state=pending'),
        ({ body }) => body.events.length === 0,
      )
    },
  }
}

const set = async ({ send }: Desk, url = receiver.url, events: string[] = []): Promise<string> => {
  const { status, body } = await send('PUT', '', { body: { url, events } })
  expect(status).toBe(200)
  return body.secret
}

const libraries = [StandardWebhook, SvixWebhook]
const verifies = (secret: string, { body, headers }: Received): boolean[] =>
  libraries.map((Library) => {
    try {
      return Boolean(new Library(secret).verify(body, headers as Record<string, string>))
    } catch {
      return false
    }
  })
const BOTH = [true, true]

const refusalOf = ({ status, body }: Awaited<ReturnType<Desk['send']>>) => [
  status,
  body.error?.code,
]

test('an owner sets, tests, rotates, disables, reads, updates and replays', async () => {
  const desk = await newDesk()
  const { send } = desk
  expect(refusalOf(await send('GET'))).toEqual([404, 'not_found'])
  const { body: created } = await send('PUT', '', {
    body: { url: receiver.url, events: ['growth.item.posted', 'growth.item.posted'] },
  })
  expect(created).toEqual({
    webhook: {
      url: receiver.url,
      host: new URL(receiver.url).host,
      events: ['growth.item.posted'],
      status: 'active',
      disabled_reason: null,
      failing_since: null,
      held_until: null,
      previous_secret_until: null,
      waiting: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
    secret: expect.stringMatching(/^whsec_/),
  })
  expect((await send('GET')).body).toEqual({ webhook: created.webhook })

  const { body: tried } = await send('POST', '/test')
  expect(tried.event).toMatchObject({
    type: 'webhook.test',
    subject: null,
    state: 'pending',
    attempts: 0,
    expires_at: null,
  })
  const [first] = await desk.requestsTo(receiver, 1)
  expect([idOf(first!), verifies(created.secret, first!)]).toEqual([tried.event.id, BOTH])
  await desk.settled()
  expect(await desk.events()).toMatchObject([
    { id: tried.event.id, state: 'delivered', attempts: 1, last_error: null, next_at: null },
  ])

  const { body: rotated } = await send('POST', '/rotate')
  expect(
    Date.parse(rotated.webhook.previous_secret_until) - Date.parse(rotated.webhook.updated_at),
  ).toBe(86_400_000)
  expect((await send('GET')).body).toEqual({ webhook: rotated.webhook })
  await desk.hook.emit(eventOf('a'))
  const [, second] = await desk.requestsTo(receiver, 2)
  expect([created.secret, rotated.secret].map((secret) => verifies(secret, second!))).toEqual([
    BOTH,
    BOTH,
  ])
  await desk.settled()

  receiver.answer = { status: 429, headers: { 'retry-after': '3600' } }
  await desk.hook.emit(eventOf('b', 1), eventOf('b', 2))
  const held = await eventually(
    () => send('GET'),
    ({ body }) => body.webhook.held_until !== null,
  )
  expect(held.body.webhook).toMatchObject({ waiting: 2, failing_since: expect.any(String) })
  expect((await send('DELETE')).body.webhook).toMatchObject({
    status: 'disabled',
    disabled_reason: 'an owner disabled it',
  })
  await desk.settled()
  const dead = await desk.events('?state=dead')
  expect(dead).toMatchObject([
    { last_error: 'the endpoint is disabled' },
    { last_error: 'the endpoint is disabled' },
  ])

  const replay = () => send('POST', `/events/${dead[0]!.id}/replay`)
  for (const reply of [await replay(), await send('POST', '/test'), await send('POST', '/rotate')])
    expect(refusalOf(reply)).toEqual([409, 'conflict'])
  receiver.answer = {}
  expect((await send('PATCH', '', { body: {} })).body.webhook).toMatchObject({
    status: 'active',
    failing_since: null,
    held_until: null,
  })
  expect((await replay()).body.event).toMatchObject({
    id: dead[0]!.id,
    subject: 'b',
    state: 'pending',
    attempts: 0,
    expires_at: null,
  })
  const last = (await desk.requestsTo(receiver, 4))[3]!
  await eventually(
    async () => (await send('GET', `/events/${dead[0]!.id}`)).body,
    ({ event }) => event.state === 'delivered' && event.attempts === 1,
  )
  expect(refusalOf(await send('GET', `/events/${newId()}`))).toEqual([404, 'not_found'])
  expect([idOf(last), verifies(rotated.secret, last)]).toEqual([dead[0]!.id, BOTH])
})

describe('an update', () => {
  test('keeps the secret, and sends pending events to the new address', async () => {
    const desk = await newDesk()
    const secret = await set(desk, receiver.url, ['growth.item.posted'])
    receiver.answer = { status: 500 }
    await desk.hook.emit(eventOf('a'))
    await desk.requestsTo(receiver, 1)
    const { body } = await desk.send('PATCH', '', { body: { url: other.url } })
    expect(body.webhook).toMatchObject({
      url: other.url,
      events: ['growth.item.posted'],
      failing_since: null,
    })
    const [moved] = await desk.requestsTo(other, 1)
    expect(verifies(secret, moved!)).toEqual(BOTH)
  })

  test("of the kinds of events keeps the address and the endpoint's history", async () => {
    const desk = await newDesk()
    await set(desk)
    const id = async () =>
      (await app.owner`select id from webhook_endpoint where tenant_id = ${desk.tenantId}`)[0]!.id
    const before = await id()
    const { body } = await desk.send('PATCH', '', { body: { events: ['growth.batch.settled'] } })
    expect(body.webhook).toMatchObject({ url: receiver.url, events: ['growth.batch.settled'] })
    expect(await id()).toBe(before)
    await desk.hook.emit(eventOf('a'))
    expect(await desk.events()).toEqual([])
  })
})

test('the list of events says whether an endpoint is set, and whether it is active', async () => {
  const desk = await newDesk()
  const endpoint = async () => (await desk.send('GET', '/events?limit=1')).body.endpoint
  expect(await endpoint()).toBeNull()
  await set(desk)
  expect(await endpoint()).toBe('active')
  await desk.send('DELETE')
  expect(await endpoint()).toBe('disabled')
})

test('the list of events filters by state and kind', async () => {
  const desk = await newDesk()
  await set(desk)
  receiver.answer = ({ body }) => ({ status: body.includes('growth.batch.settled') ? 500 : 200 })
  await desk.hook.emit({ type: 'growth.batch.settled', data: { batch_id: 'b' } })
  for (const n of [1, 2, 3]) await desk.hook.emit(eventOf('a', n))
  const delivered = await eventually(
    () => desk.events('?state=delivered&limit=100'),
    (events) => events.length === 3,
  )
  expect(await desk.events('?type=growth.item.posted')).toEqual(delivered)
  expect(await desk.events('?state=pending')).toMatchObject([
    { type: 'growth.batch.settled', subject: 'b' },
  ])
  expect(await desk.events('?state=dead')).toEqual([])
})
