/**
 * A process dies on the way of a reply, and a receiver counts: no message is ever sent twice, and
 * what is not known is said.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { type TestApp, testApp } from '#test/support/app'
import { devChannel } from '#test/support/channels/dev-posts'
import { reply, replyOnce, replyRow } from '#test/support/channels/replies'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { openWire } from '#test/support/database/lost-commit'
import { eventually } from '#test/support/eventually'
import { crash } from '#test/support/growth/story'
import { openReceiver, type Receiver } from '#test/support/http/receiver'

type PartState = 'sent' | 'unknown'

interface Point {
  name: string
  at: [failpoint: string, nth?: number]
  parts: [PartState, PartState]
  /** Requests for each part. */
  wire: [number, number]
}

const points: Point[] = [
  {
    name: 'when the intent is written and the turn has not come',
    at: ['channel.reply.claimed'],
    parts: ['unknown', 'sent'],
    wire: [0, 1],
  },
  {
    name: 'when the intent is written and nothing was sent',
    at: ['channel.reply.sending'],
    parts: ['unknown', 'sent'],
    wire: [0, 1],
  },
  {
    name: 'when it was sent and the answer is unread',
    at: ['test.received'],
    parts: ['unknown', 'sent'],
    wire: [1, 1],
  },
  {
    name: 'when the answer is read and not settled',
    at: ['channel.reply.sent'],
    parts: ['unknown', 'sent'],
    wire: [1, 1],
  },
  {
    name: 'between two messages',
    at: ['channel.reply.sending', 2],
    parts: ['sent', 'unknown'],
    wire: [1, 0],
  },
  {
    name: 'when the last message was sent',
    at: ['channel.reply.sent', 2],
    parts: ['sent', 'unknown'],
    wire: [1, 1],
  },
  // The last, for it stops in a transaction, which the database soon ends.
  {
    name: 'before the intent',
    at: ['channel.reply.claiming'],
    parts: ['sent', 'sent'],
    wire: [1, 1],
  },
]

/** Two messages of the dev channel. */
const LONG = ['first', 'second']
  .map((word) => `${word} ${'word '.repeat(1_000)}`.trim())
  .join('\n\n')
const twoParts = (name: string): string => `${name}\n\n${`${LONG}\n\n`.repeat(3)}`.trim()

const wireOf = (receiver: Receiver, id: string, count: number): number[] =>
  Array.from(
    { length: count },
    (_, part) =>
      receiver.requests.filter(({ body }) => JSON.parse(body).id === `${id}.${part}`).length,
  )

describe('a process that dies', () => {
  const world = new AsyncDisposableStack()
  const stops = testStops()
  let receiver: Receiver
  let next: TestApp
  const found = new Map<string, { id: string; goOn(): void }>()

  const start = async ({ options }: TestDatabase): Promise<TestApp> =>
    world.use(
      await testApp({
        database: options,
        env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` },
        overrides: { failpoints: stops.at },
      }),
    )

  const begin = async (app: TestApp, { name, at }: Point) => {
    const { tenantId } = await app.newWorkspace()
    const { id: connection } = await devChannel(app, { config: { url: receiver.url } }, tenantId)
    const stopped = stops.stopNext(...at)
    const id = await reply(app, { tenantId, connection, text: twoParts(name) })
    return { id, goOn: await stopped }
  }

  beforeAll(async () => {
    receiver = world.use(await openReceiver())
    receiver.answer = async () => {
      await stops.at('test.received')
      return {}
    }
    const db = world.use(await freshDb())
    const dying = await start(db)
    for (const point of points) found.set(point.name, await begin(dying, point))
    await crash(dying)
    next = await start(db)
  })
  afterAll(() => world.disposeAsync())

  test.each(points)('$name', async ({ name, parts, wire }) => {
    const { id, goOn } = found.get(name)!
    const expected = parts.includes('unknown') ? 'unknown' : 'sent'
    const check = async () => {
      const row = await replyOnce(next, id, 'sent', 'unknown', 'failed')
      expect([row.status, row.parts.map(({ state }) => state)]).toEqual([expected, parts])
      expect(wireOf(receiver, id, 2)).toEqual(wire)
    }
    await check()
    // If the process was only stopped it goes on now, and what it brings is too late.
    goOn()
    await check()
  })

  test('and nothing is left open', async () => {
    await eventually(
      () => next.owner`select 1 from work where kind = 'channel_reply'`,
      (rows) => rows.length === 0,
    )
  })
})

/**
 * Where the letter is held, or the lane before it, until the connection is ready to lose its
 * commit.
 */
const commits: [
  name: string,
  failpoint: string,
  nth: number,
  parts: PartState[],
  wire: number[],
][] = [
  ['of the intent', 'channel.reply.claiming', 1, ['unknown', 'sent'], [0, 1]],
  [
    'of the first outcome, and of the intent that is claimed with it',
    'channel.reply.sent',
    1,
    ['sent', 'unknown'],
    [1, 0],
  ],
  ['of the last outcome', 'channel.reply.sent', 2, ['sent', 'sent'], [1, 1]],
]

describe('the answer to a commit is lost', () => {
  const world = new AsyncDisposableStack()
  const stops = testStops()
  let receiver: Receiver
  let app: TestApp
  const found = new Map<string, string>()

  beforeAll(async () => {
    receiver = world.use(await openReceiver())
    const db = world.use(await freshDb())
    const wire = world.use(await openWire(db.options))
    const env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` }
    app = world.use(
      await testApp({ database: wire.options, env, overrides: { failpoints: stops.at } }),
    )
    for (const [name, failpoint, nth] of commits) {
      const { tenantId } = await app.newWorkspace()
      const { id: connection } = await devChannel(app, { config: { url: receiver.url } }, tenantId)
      const stopped = stops.stopNext(failpoint, nth)
      const id = await reply(app, { tenantId, connection, text: twoParts(name) })
      const goOn = await stopped
      const lost = wire.loseCommitOf(id)
      goOn()
      await lost
      found.set(name, id)
      await replyOnce(app, id, 'sent', 'unknown', 'failed')
    }
  })
  afterAll(() => world.disposeAsync())

  test.each(commits)('%s', async (name, _failpoint, _nth, parts, wire) => {
    const { parts: states } = await replyRow(app, found.get(name)!)
    expect(states.map(({ state }) => state) as string[]).toEqual(parts)
    expect(wireOf(receiver, found.get(name)!, 2)).toEqual(wire)
  })
})
