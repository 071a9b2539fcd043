/**
 * C6 and C7: a process dies while it delivers an event. The event arrives at least once, always
 * under the same id.
 */
import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash, newStory } from '#test/support/growth/story'
import { hookOf, idOf } from '#test/support/http/hooks'
import { openReceiver } from '#test/support/http/receiver'
import { use } from '#test/support/use'

const db = use(freshDb)
const receiver = use(openReceiver)

const points = [
  {
    name: 'C6, when the post is committed and the event not yet delivered',
    failpoint: 'delivery.sending',
    delivered: 0,
  },
  {
    name: 'C7, when the event is delivered and that is not committed',
    failpoint: 'delivery.sent',
    delivered: 1,
  },
]

const openApp = (more: Parameters<typeof testApp>[0] = {}): Promise<TestApp> =>
  testApp({ database: db.options, env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` }, ...more })

test.each(points)('$name', async ({ failpoint, delivered }) => {
  receiver.requests.length = 0
  const stops = testStops()
  await using dying = await openApp({ overrides: { failpoints: stops.at } })
  const story = await newStory(dying)
  const secret = await hookOf(dying, story.tenantId).set(receiver.url)
  const stopped = stops.stopNext(failpoint)
  const item = await story.approved()
  expect((await story.send('POST', `items/${item}/post-now`)).body.item.status).toBe('posted')
  const goOn = await stopped
  expect(receiver.requests).toHaveLength(delivered)
  await crash(dying)

  await using next = await openApp()
  const hook = hookOf(next, story.tenantId)
  const requests = await receiver.received(delivered + 1)
  const [event, ...others] = await eventually(hook.outbox, ([row]) => row?.state === 'delivered')
  expect([event!.type, event!.attempts, others]).toEqual(['growth.item.posted', 1, []])
  expect(requests.map(idOf)).toEqual(requests.map(() => event!.id))
  expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
  const times = requests.map(({ headers }) => Number(headers['webhook-timestamp']))
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  for (const { body, headers } of requests) {
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      id: event!.id,
      type: 'growth.item.posted',
      workspace_id: story.tenantId,
      data: { item_id: item },
    })
  }
  expect(await hook.due()).toEqual({ run_at: null, wake_at: null })

  // If the process was only stopped it goes on now, delivers nothing and its late outcome is
  // dropped.
  goOn()
  const { event_id } = await hook.run('test')
  const all = await receiver.received(delivered + 2)
  expect(all.map(idOf)).toEqual([...requests.map(() => event!.id), event_id])
  expect(await story.posts()).toEqual({ [`Draft ${item}`]: 1 })
})

test('an event that falls due while no process runs is delivered by the next one', async () => {
  receiver.requests.length = 0
  const stops = testStops()
  await using first = await openApp({ overrides: { failpoints: stops.at } })
  const { tenantId } = await newStory(first)
  const hook = hookOf(first, tenantId)
  await hook.set(receiver.url)
  const stopped = stops.stopNext('delivery.sending')
  const { event_id } = await hook.run('test')
  const goOn = await stopped
  // In an orderly stop, a delivery that has not begun is left to others and is not counted as a
  // try.
  const ending = first.workplace.runtime[Symbol.asyncDispose]()
  goOn()
  await ending
  expect(receiver.requests).toEqual([])
  await using next = await openApp()
  expect((await receiver.received(1)).map(idOf)).toEqual([event_id])
  const [event] = await eventually(
    hookOf(next, tenantId).outbox,
    ([row]) => row?.state === 'delivered',
  )
  expect(event!.attempts).toBe(1)
})
