/**
 * Discarding, deleting and pausing never wait for a message that is on the wire: it is listed,
 * takes its outcome, and nothing follows it.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { testStops } from '#test/support/actors/stops'
import { eventually, testApp } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import { devChannel } from '#test/support/channels/dev-posts'
import { reply, replyOnce, replyRow } from '#test/support/channels/replies'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { openReceiver, type ReceiverAnswer } from '#test/support/http/receiver'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` }
const stops = testStops()
const app = useApp(() => ({ env, overrides: { failpoints: stops.at } }))

/** The provider answers when the test says so, and what it says. */
let hung: { promise: Promise<ReceiverAnswer>; resolve(answer: ReceiverAnswer): void }
beforeEach(() => {
  hung = Promise.withResolvers<ReceiverAnswer>()
  receiver.answer = () => hung.promise
})

const sentOf = (id: string): number =>
  receiver.requests.filter(({ body }) => JSON.parse(body).id.startsWith(id)).length

const LONG = ['first', 'second']
  .map((word) => `${word} ${'word '.repeat(4_000)}`.trim())
  .join('\n\n')

const place = async (at = app) => {
  const { tenantId } = await at.newWorkspace()
  const admin = await channelAdmin(at, tenantId)
  const { id: connection } = await devChannel(at, { config: { url: receiver.url } }, tenantId)
  const say = (text = LONG) => reply(at, { tenantId, connection, text })
  /** One whose first message is on the wire, and whose provider does not answer. */
  const onTheWire = async (text?: string) => {
    const id = await say(text)
    await eventually(
      () => sentOf(id),
      (count) => count === 1,
    )
    return id
  }
  const discard = (id: string, key = admin.key) =>
    at.send('POST', `/api/v1/channels/replies/${id}/discard`, { key })
  const isSettled = () =>
    eventually(
      () => at.owner`select 1 from work where kind = 'channel_reply' and tenant_id = ${tenantId}`,
      ({ length }) => length === 0,
    )
  return { tenantId, connection, say, onTheWire, discard, isSettled, ...admin }
}

const states = ({ parts }: Pick<ChannelReply, 'parts'>) => [
  ...new Set(parts.map(({ state }) => state)),
]
const listed = (id: string) => [{ reply_id: id, origin: 'manual', since: expect.any(String) }]

describe('discarding a reply', () => {
  test('that is on the wire answers at once and lists it; it takes its outcome, and nothing follows', async () => {
    const { onTheWire, discard, isSettled } = await place()
    const id = await onTheWire()
    const { status, body } = await discard(id)
    expect([status, body.reply.status, body.in_flight]).toEqual([200, 'sending', listed(id)])
    hung.resolve({})
    expect(states(await replyOnce(app, id, 'discarded'))).toEqual(['sent', 'failed'])
    await isSettled()
    expect(sentOf(id)).toBe(1)
  })

  test.each<[string, ReceiverAnswer, ChannelReply['status']]>([
    ['is said not to be sent', { status: 503 }, 'discarded'],
    ['is refused', { status: 400 }, 'discarded'],
    ['says nothing', { raw: 'HTTP/1.1 2' }, 'unknown'],
  ])('on the wire, which then %s, is not tried again', async (_, answer, status) => {
    const { onTheWire, discard, isSettled } = await place()
    const id = await onTheWire()
    await discard(id)
    hung.resolve(answer)
    expect((await replyOnce(app, id, 'discarded', 'unknown', 'failed', 'sent')).status).toBe(status)
    await isSettled()
    expect(sentOf(id)).toBe(1)
  })

  test('that is claimed and not on the wire yet stops it', async () => {
    const { say, discard, isSettled } = await place()
    hung.resolve({})
    const stopped = stops.stopNext('channel.reply.sending')
    const id = await say()
    const goOn = await stopped
    const { body } = await discard(id)
    expect([body.reply.status, body.in_flight]).toEqual(['discarded', []])
    goOn()
    await isSettled()
    expect([sentOf(id), (await replyRow(app, id)).status]).toEqual([0, 'discarded'])
  })

  test('that waits behind one on the wire takes it out', async () => {
    const { say, onTheWire, discard, isSettled } = await place()
    const first = await onTheWire('short')
    const second = await say('waits')
    expect((await discard(second)).body).toMatchObject({
      reply: { status: 'discarded' },
      in_flight: [],
    })
    hung.resolve({})
    await replyOnce(app, first, 'sent')
    await isSettled()
    expect(sentOf(second)).toBe(0)
  })

  test('by two people at once gives both the same answer', async () => {
    const { onTheWire, discard, tenantId } = await place()
    const id = await onTheWire()
    const { key } = await signedIn(app, tenantId, 'approver')
    const [one, other] = await Promise.all([discard(id), discard(id, key)])
    expect([one.body.in_flight, other.body.in_flight]).toEqual([listed(id), listed(id)])
    expect([
      one.body.reply.decidedBy === other.body.reply.decidedBy,
      one.body.reply.status,
    ]).toEqual([true, 'sending'])
    hung.resolve({})
    expect(await replyOnce(app, id, 'discarded')).toMatchObject({ status: 'discarded' })
  })
})

test('deleting a channel lists what is on the wire, whose reply stays and takes its outcome; the rest goes, and nothing is sent', async () => {
  const { say, onTheWire, send, connection, isSettled } = await place()
  const [id, waits] = [await onTheWire(), await say('waits')]
  const { status, body } = await send('DELETE', `channels/${connection}`)
  expect([status, body.in_flight]).toEqual([200, listed(id)])
  expect((await send('GET', `channels/${connection}`)).status).toBe(404)
  expect((await send('GET', `channels/replies/${waits}`)).status).toBe(404)
  expect((await send('GET', `channels/replies/${id}`)).body.reply).toMatchObject({
    status: 'sending',
    connectionId: null,
    channel: 'dev',
  })
  expect((await send('GET', 'channels/replies')).body.replies).toMatchObject([{ id }])
  hung.resolve({})
  expect(states(await replyOnce(app, id, 'discarded'))).toEqual(['sent', 'failed'])
  await isSettled()
  expect([sentOf(id), sentOf(waits)]).toEqual([1, 0])
})

test('deleting a channel by two people at once answers both, and a message refused for its credentials changes nothing then', async () => {
  const { onTheWire, send, connection, tenantId, isSettled } = await place()
  const id = await onTheWire('short')
  const { key } = await signedIn(app, tenantId, 'approver')
  const all = await Promise.all([
    send('DELETE', `channels/${connection}`),
    app.send('DELETE', `/api/v1/channels/${connection}`, { key }),
  ])
  expect(all.map(({ status }) => status).toSorted()).toEqual([200, 404])
  hung.resolve({ status: 401 })
  await isSettled()
  expect((await replyRow(app, id)).status).toBe('discarded')
})

test('pausing everything lists replies on the wire, which go on: people asked for them', async () => {
  const { onTheWire, send } = await place()
  const id = await onTheWire('short')
  for (const path of ['pause-all', 'resume-all'])
    expect((await send('POST', `growth/automation/${path}`)).body.automation.in_flight).toEqual(
      listed(id),
    )
  expect((await send('GET', 'growth/automation')).body.automation.in_flight).toEqual(listed(id))
  hung.resolve({})
  await replyOnce(app, id, 'sent')
  expect((await send('POST', 'growth/automation/pause-all')).body.automation.in_flight).toEqual([])
})

test('asking for the deletion of a workspace lists what is on the wire', async () => {
  const { onTheWire, send, tenantId } = await place()
  const id = await onTheWire('short')
  const [{ name }] =
    (await app.owner`select name from tenant where id = ${tenantId}`) as unknown as [
      { name: string },
    ]
  const { status, body } = await send('POST', 'app/workspace/deletion', { name })
  expect([status, body.deletion.automation.in_flight]).toEqual([200, listed(id)])
  hung.resolve({})
  await replyOnce(app, id, 'sent')
})

test('across a restart what was on the wire is in doubt, whatever was decided, and nothing follows it', async () => {
  await using db = await freshDb()
  const start = () => testApp({ database: db.options, env })
  await using dying = await start()
  const [one, other] = [await place(dying), await place(dying)]
  const [discarded, deleted] = [await one.onTheWire(), await other.onTheWire()]
  await one.discard(discarded)
  await other.send('DELETE', `channels/${other.connection}`)
  await crash(dying)
  await using next = await start()
  for (const id of [discarded, deleted]) {
    const row = await replyOnce(next, id, 'unknown', 'sent', 'discarded', 'failed')
    expect([row.status, states(row), sentOf(id)]).toEqual(['unknown', ['unknown', 'failed'], 1])
  }
  hung.resolve({})
})
