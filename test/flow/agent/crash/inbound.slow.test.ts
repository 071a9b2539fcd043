/**
 * Messages of channels and posts to webhook rules that come at once, to several servers, and to
 * those that die: each event begins one job, and its files are read once.
 */
import { expect, test } from 'bun:test'
import type { Channel } from '#domain/agent/channel/channel'
import type { ChannelAdapter, InboundMessage } from '#port/channel/channel'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { runsOf } from '#test/support/agent/schedules'
import { useSuccession } from '#test/support/agent/succession'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { eventually, type TestApp, testApp } from '#test/support/app'
import {
  channelJobs,
  devChannel,
  linked,
  messagesOf,
  postDev,
} from '#test/support/channels/dev-posts'
import { freshDb } from '#test/support/database/db'
import { scriptedModel } from '#test/support/model/scripted-model'
import { sendWhileServersDie } from '#test/support/processes/dying-servers'

type Adapters = Partial<Record<Channel, ChannelAdapter>>

/** Files are with the provider. */
const leavingFiles = ({ dev, ...others }: Adapters): Adapters => ({
  ...others,
  dev: {
    ...dev!,
    read: (...args) =>
      dev!.read(...args).map(
        (message): InboundMessage => ({
          ...message,
          attachments: message.attachments.map((file) => ({ ...file, byteSize: null })),
        }),
      ),
  },
})

const stops = testStops()
const options = {
  model: scriptedModel(() => ({ text: 'Seen.' })),
  overrides: { failpoints: stops.at, channels: leavingFiles },
}

const FILE = { name: 'notes.md', mimeType: 'text/markdown', text: '# Notes\n\nOpen on Sundays.' }

/** Where events come in, in a workspace of its own. */
interface Entrance {
  send(url: string, id: string, files?: object[]): Promise<{ status: number }>
  jobs(app: TestApp): Promise<{ id: string }[]>
  /** Events that are recorded. */
  taken(app: TestApp): Promise<number>
  documents(app: TestApp): Promise<string[]>
}

const entrances = {
  async channel(app: TestApp) {
    const channel = await devChannel(app, {}, (await app.newWorkspace()).tenantId)
    await linked(app, channel, 'ada')
    const documents = async ({ owner }: TestApp) =>
      (await owner`select file_name from document where tenant_id = ${channel.tenantId}`).map(
        ({ file_name }) => file_name,
      )
    return {
      channel,
      documents,
      send: (url: string, id: string, attachments: object[] = []) =>
        postDev(url, channel, { id, attachments }),
      jobs: (at: TestApp) => channelJobs(at, channel),
      taken: async (at: TestApp) => (await messagesOf(at, channel)).length,
    }
  },
  async rule(app: TestApp) {
    const { tenantId } = await app.newWorkspace()
    const { id } = await app.newKey(['api:read', 'workspace:use'], tenantId)
    const by = { kind: 'key', id, personId: null } as const
    const rule = await makeWebhookRule({ app, tenantId }, { by })
    const taken = async ({ owner }: TestApp) =>
      (await owner`select received from webhook_rule where id = ${rule.id}`)[0]!.received
    return {
      taken,
      send: (url: string, event: string) => post(url, rule, { id: event }),
      jobs: (at: TestApp) => runsOf({ app: at }, rule.id),
      documents: async () => [],
    }
  },
} satisfies Record<string, (app: TestApp) => Promise<Entrance>>

const servers = async (stack: AsyncDisposableStack) => {
  const db = stack.use(await freshDb())
  const start = async (): Promise<TestApp> =>
    stack.use(await testApp({ ...options, database: db.options }))
  return { start, both: [await start(), await start()] as [TestApp, TestApp] }
}

test('fifty deliveries of one event at once over two servers begin one job, and one reply', async () => {
  await using stack = new AsyncDisposableStack()
  const { both } = await servers(stack)
  const [one] = both
  const { channel, ...messages } = await entrances.channel(one)
  for (const { send, jobs, taken } of [messages, await entrances.rule(one)]) {
    const sent = Array.from({ length: 50 }, (_, nth) => send(both[nth % 2]!.url, 'evt_1'))
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(50).fill(200))
    const begun = await jobs(one)
    expect([begun.length, await taken(one)]).toEqual([1, 1])
    expect((await overJob(one, begun[0]!.id)).status).toBe('completed')
  }
  const replies = await eventually(
    () => one.owner`select status, text from channel_reply where connection_id = ${channel.id}`,
    (all) => all.some(({ status }) => status === 'sent'),
  )
  expect(replies.map(({ status, text }) => [status, text])).toEqual([['sent', 'Seen.']])
  expect(await brokenInvariants(one.owner)).toEqual([])
})

test('events sent again until a server has taken them, while the servers die in turn, begin one job each', async () => {
  await using stack = new AsyncDisposableStack()
  const { start, both } = await servers(stack)
  const ways: Entrance[] = [await entrances.channel(both[0]), await entrances.rule(both[0])]
  const { statuses, crashes, server } = await sendWhileServersDie(
    start,
    both,
    async (url, nth) => (await ways[nth % 2]!.send(url, `evt_${nth % 10}`)).status,
  )
  expect([statuses, crashes]).toEqual([Array(50).fill(200), 2])
  for (const { jobs, taken } of ways) {
    const begun = await jobs(server)
    expect([begun.length, await taken(server)]).toEqual([5, 5])
    for (const { id } of begun) expect((await overJob(server, id)).status).toBe('completed')
  }
  expect(await brokenInvariants(server.owner)).toEqual([])
})

interface Point {
  name: string
  at: string
  /** Events that are recorded by then. */
  before: 0 | 1
  files?: object[]
}

const points: Record<keyof typeof entrances, Point[]> = {
  channel: [
    {
      name: 'before its letter is committed',
      at: 'letter.deciding:operator.inbound.channel',
      before: 0,
    },
    {
      name: 'when it is committed, and the sender has heard nothing of it',
      at: 'agent.claimed',
      before: 1,
    },
    {
      name: 'before its files are fetched',
      at: 'agent.channel.fetching',
      before: 1,
      files: [FILE],
    },
    {
      name: 'when its files are fetched, and nothing of them is kept',
      at: 'agent.channel.fetched',
      before: 1,
      files: [FILE],
    },
    {
      name: 'while its files become documents',
      at: 'letter.deciding:channel_fetch.settle',
      before: 1,
      files: [FILE],
    },
  ],
  rule: [
    {
      name: 'before its letter is committed',
      at: 'letter.deciding:operator.inbound.receive',
      before: 0,
    },
    {
      name: 'when it is committed, and the sender has heard nothing of it',
      at: 'agent.claimed',
      before: 1,
    },
  ],
}

const processes = useSuccession(options)

test.each(
  (['channel', 'rule'] as const).flatMap((way) => points[way].map((point) => ({ ...point, way }))),
)('A18, $way: a server dies $name; sent again, the event has begun one job', async (point) => {
  const { at, before, files = [] } = point
  const app = processes.running
  const { send, jobs, taken, documents }: Entrance = await entrances[point.way](app)
  const stopped = stops.stopNext(at)
  const first = send(app.url, 'evt_1', files).catch(() => undefined)
  const goOn = await stopped
  const next = await processes.die()
  expect(await taken(next)).toBe(before)
  expect((await send(next.url, 'evt_1', files)).status).toBe(200)
  const [job] = await eventually(
    () => jobs(next),
    ({ length }) => length > 0,
  )
  expect((await overJob(next, job!.id)).status).toBe('completed')
  goOn()
  await first
  expect([(await jobs(next)).length, await taken(next)]).toEqual([1, 1])
  expect(await documents(next)).toEqual(files.length > 0 ? [FILE.name] : [])
  expect(await brokenInvariants(next.owner)).toEqual([])
})
