/**
 * Texts of messages that are left with a provider: fetched once, asked for during a day, and given
 * up then.
 */
import { expect, test } from 'bun:test'
import { channelFetchLane } from '#actors/work/agent/channel-fetch'
import { FairLimit } from '#kernel/fair-limit'
import { messagesIn } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  hasten,
  hastenedMessages,
  linked,
  messagesOf,
  postDev,
  settledMessages,
} from '#test/support/channels/dev-posts'
import { leftWithProvider } from '#test/support/channels/left-with-provider'
import { useApp } from '#test/support/use'

const { options, fetches, downloads, asked } = leftWithProvider()
const app = useApp(options)

const place = async () => devChannel(app, {}, (await app.newWorkspace()).tenantId)

/** What its senders were told besides answers. */
const lines = async ({ id }: DevChannel): Promise<[string, string][]> =>
  (
    await app.owner`select recipient, text from channel_reply where connection_id = ${id}
      and job_id is null order by id`
  ).map(({ recipient, text }) => [recipient, text])

test('begins the job once it has been fetched, in the thread that it names', async () => {
  const channel = await place()
  fetches.set('later one', () => ({
    kind: 'fetched',
    value: {
      text: 'From the fetch',
      attachments: [],
      thread: 'fetched thread',
      replyTo: { to: 'fetched' },
    },
  }))
  expect((await postDev(app.url, channel, { text: 'later one', id: 'e1' })).status).toBe(200)
  const [message] = await settledMessages(app, channel, 1)
  expect(message).toMatchObject({
    state: 'taken',
    text: 'From the fetch',
    thread: 'fetched thread',
    reply_to: { to: 'fetched' },
  })
  expect((await channelJobs(app, channel))[0]).toMatchObject({
    goal: 'From the fetch',
    cause: { kind: 'channel', id: message!.id },
  })
})

test('that comes again while it is fetched is fetched once', async () => {
  const channel = await place()
  const { promise, resolve } = Promise.withResolvers<void>()
  asked.length = 0
  fetches.set('later twice', () => ({ kind: 'fetched', value: { text: 'Once', attachments: [] } }))
  const first = postDev(app.url, channel, { text: 'later twice', id: 'e1' })
  resolve()
  await Promise.all([first, promise, postDev(app.url, channel, { text: 'later twice', id: 'e1' })])
  await postDev(app.url, channel, { text: 'later twice', id: 'e1' })
  await settledMessages(app, channel, 1)
  expect([asked, (await channelJobs(app, channel)).length]).toEqual([['later twice'], 1])
})

test('is asked for during a day; then it is given up, and its linked sender and the connection are told', async () => {
  const channel = await place()
  await linked(app, channel, 'ada')
  asked.length = 0
  fetches.set('later never', () => ({ kind: 'unreachable', error: 'the provider answered 500' }))
  for (const sender of ['ada', 'bob', 'ada'])
    await postDev(app.url, channel, { text: 'later never', sender })
  await eventually(
    () => hasten(app, channel),
    () => asked.length >= 24,
  )
  expect((await messagesOf(app, channel)).map(({ state }) => state)).toEqual(
    Array(3).fill('fetching'),
  )
  await app.owner`update channel_message set created_at = created_at - interval '24 hours'
    where connection_id = ${channel.id}`
  for (const message of await hastenedMessages(app, channel))
    expect(message).toMatchObject({
      state: 'failed',
      error: 'it could not be read: the provider answered 500',
      job_id: null,
    })
  expect(await channelJobs(app, channel)).toEqual([])
  expect(await lines(channel)).toEqual([
    ['ada', expect.stringContaining('could not read a message that you sent')],
  ])
  const { get } = await channelAdmin(app, channel.tenantId)
  const lastError = 'a message was given up: it could not be read: the provider answered 500'
  expect(await get(channel.id)).toMatchObject({ status: 'active', lastError })
})

test('is asked for again however often its work was claimed in vain', async () => {
  const channel = await place()
  let isAway = true
  fetches.set('later back', () =>
    isAway
      ? { kind: 'unreachable', error: 'away' }
      : { kind: 'fetched', value: { text: 'Here', attachments: [] } },
  )
  await postDev(app.url, channel, { text: 'later back' })
  const counted = await eventually(
    () =>
      app.owner`select payload from work where tenant_id = ${channel.tenantId}
        and kind = 'channel_fetch' and state = 'queued'`,
    ([work]) => work?.payload.failures === 1,
  )
  expect(counted).toHaveLength(1)
  await app.owner`update work set attempt = 60 where tenant_id = ${channel.tenantId}
    and kind = 'channel_fetch'`
  await app.owner`update channel_message set created_at = created_at - interval '23 hours'
    where connection_id = ${channel.id}`
  isAway = false
  expect((await hastenedMessages(app, channel)).map(({ state, text }) => [state, text])).toEqual([
    ['taken', 'Here'],
  ])
})

test('waits for its turn again if the process fetches too much else', async () => {
  const fetching = new FairLimit({ name: 'fetching', total: 1, bound: 1, withinMs: 1 })
  await fetching.enter('another')
  const lane = channelFetchLane({ fetching } as never)
  expect(await lane.run({} as never, { tenantId: 'one' } as never)).toEqual({ kind: 'stopped' })
})

test('that is gone is not asked for again', async () => {
  const channel = await place()
  asked.length = 0
  fetches.set('later gone', () => ({ kind: 'gone', error: 'it was deleted' }))
  await postDev(app.url, channel, { text: 'later gone' })
  const [message] = await settledMessages(app, channel, 1)
  expect([message!.error, asked]).toEqual(['it could not be read: it was deleted', ['later gone']])
})

test('of a machine begins nothing', async () => {
  const channel = await place()
  fetches.set('later machine', () => ({
    kind: 'fetched',
    value: { text: 'I am away', attachments: [], isAutomatic: true },
  }))
  await postDev(app.url, channel, { text: 'later machine' })
  const [message] = await settledMessages(app, channel, 1)
  expect([message!.error, await channelJobs(app, channel)]).toEqual(['a machine wrote it', []])
})

test('is given without a file that never comes', async () => {
  const channel = await place()
  await linked(app, channel, 'ada')
  downloads.set('away.txt', () => ({ kind: 'unreachable', error: 'the provider is away' }))
  await postDev(app.url, channel, {
    text: 'Look',
    attachments: [{ name: 'away.txt', mimeType: 'text/plain', text: 'x' }],
  })
  await hastenedMessages(app, channel)
  const [job] = await channelJobs(app, channel)
  expect((await messagesIn(app, job!))[0]!.content).toBe(
    'Look\n\n[Attachment: "away.txt", text/plain, 1 bytes; not read: the provider is away]',
  )
})
