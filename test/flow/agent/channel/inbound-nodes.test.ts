/**
 * Messages of channels that come at once, to several servers, and to one that dies: each event is
 * taken once.
 */
import { expect, test } from 'bun:test'
import type { Channel } from '#domain/agent/channel/channel'
import type { ChannelAdapter, InboundMessage } from '#port/channel/channel'
import { type Stops, testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { eventually, type TestApp, testApp } from '#test/support/app'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  linked,
  messagesOf,
  postDev,
} from '#test/support/channels/dev-posts'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
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

const options = (stops: Stops = testStops()) => ({
  overrides: {
    thinker: scriptedModel(() => ({ text: 'Seen.' })),
    failpoints: stops.at,
    channels: leavingFiles,
  },
  env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
})

/** A workspace of the database that no server has made. */
const channelIn = async (app: TestApp): Promise<DevChannel> =>
  devChannel(app, {}, (await app.newWorkspace()).tenantId)

/** What the receiver of replies would have got. */
const replies = async ({ owner }: TestApp, { id }: DevChannel) =>
  owner`select status, text, parts from channel_reply where connection_id = ${id}`

test('fifty deliveries of one event at once over two servers begin one job, and one reply', async () => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(await freshDb())
  const [one, other] = [
    stack.use(await testApp({ database: db.options, ...options() })),
    stack.use(await testApp({ database: db.options, ...options() })),
  ]
  const channel = await channelIn(one)
  await linked(one, channel, 'ada')
  const posts = Array.from({ length: 50 }, (_, nth) =>
    postDev(nth % 2 === 0 ? one.url : other.url, channel, { id: 'evt_1' }),
  )
  expect((await Promise.all(posts)).map(({ status }) => status)).toEqual(Array(50).fill(200))
  const jobs = await channelJobs(one, channel)
  expect(jobs).toHaveLength(1)
  expect((await overJob(one, jobs[0]!.id)).status).toBe('completed')
  const sent = await eventually(
    () => replies(one, channel),
    (all) => all.some(({ status }) => status === 'sent'),
  )
  expect(sent.map(({ status, text }) => [status, text])).toEqual([['sent', 'Seen.']])
  expect(await messagesOf(one, channel)).toHaveLength(1)
  expect(await brokenInvariants(one.owner)).toEqual([])
})

test('events sent again until a server has taken them, while the servers die in turn, begin one job each', async () => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(await freshDb())
  const start = async (): Promise<TestApp> =>
    stack.use(await testApp({ database: db.options, ...options() }))
  const servers = [await start(), await start()]
  const channel = await channelIn(servers[0]!)
  const { statuses, crashes, server } = await sendWhileServersDie(
    start,
    servers,
    async (url, nth) => {
      return (await postDev(url, channel, { id: `evt_${nth % 10}`, sender: `sender ${nth % 10}` }))
        .status
    },
  )
  expect([statuses, crashes]).toEqual([Array(50).fill(200), 2])
  const jobs = await channelJobs(server, channel)
  expect(jobs).toHaveLength(10)
  for (const { id } of jobs) expect((await overJob(server, id)).status).toBe('completed')
  expect(await messagesOf(server, channel)).toHaveLength(10)
  expect(await brokenInvariants(server.owner)).toEqual([])
})

/** `failpoint`: where the first server dies. `before`: messages that it has recorded by then. */
const points: [name: string, failpoint: string, before: number, files: boolean][] = [
  ['before its letter is committed', 'letter.deciding:operator.inbound.channel', 0, false],
  ['when it is committed, and the sender has heard nothing of it', 'agent.claimed', 1, false],
  ['before its files are fetched', 'agent.channel.fetching', 1, true],
  ['when its files are fetched, and nothing of them is kept', 'agent.channel.fetched', 1, true],
  ['while its files become documents', 'letter.deciding:channel_fetch.settle', 1, true],
]

test.each(points)(
  'A18: a server dies %s; sent again, the message has begun one job',
  async (_, failpoint, before, files) => {
    await using stack = new AsyncDisposableStack()
    const db = stack.use(await freshDb())
    const stops = testStops()
    const start = async (): Promise<TestApp> =>
      stack.use(await testApp({ database: db.options, ...options(stops) }))
    const app = await start()
    const channel = await channelIn(app)
    await linked(app, channel, 'ada')
    const attachments = files
      ? [{ name: 'notes.md', mimeType: 'text/markdown', text: '# Notes\n\nOpen on Sundays.' }]
      : []
    const message = { id: 'evt_1', attachments }
    const stopped = stops.stopNext(failpoint)
    const first = postDev(app.url, channel, message).catch(() => undefined)
    const goOn = await stopped
    await crash(app)
    expect(await messagesOf(app, channel)).toHaveLength(before)
    const next = await start()
    expect((await postDev(next.url, channel, message)).status).toBe(200)
    const jobs = await eventually(
      () => channelJobs(next, channel),
      ({ length }) => length > 0,
    )
    expect((await overJob(next, jobs[0]!.id)).status).toBe('completed')
    goOn()
    await first
    expect(
      [await channelJobs(next, channel), await messagesOf(next, channel)].map(
        ({ length }) => length,
      ),
    ).toEqual([1, 1])
    const documents =
      await next.owner`select file_name from document where tenant_id = ${channel.tenantId}`
    expect(documents.map(({ file_name }) => file_name)).toEqual(files ? ['notes.md'] : [])
    expect(await brokenInvariants(next.owner)).toEqual([])
  },
)
