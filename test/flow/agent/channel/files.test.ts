/** What a post leaves with its provider: the text of a message, and files, of which those of members become documents. */
import { describe, expect, test } from 'bun:test'
import { channelFetchLane } from '#actors/work/agent/channel-fetch'
import { FairLimit } from '#kernel/fair-limit'
import type { Fetched, FetchedMessage } from '#port/channel/channel'
import { messagesIn, overJob } from '#test/support/agent/agent'
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
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

type Fetch = () => Fetched<FetchedMessage>
type Download = () => Fetched<Uint8Array> | undefined

/** What the provider answers, by the text of the message; and by the name of a file. */
const fetches = new Map<string, Fetch>()
const downloads = new Map<string, Download>()
const asked: string[] = []

/** The dev channel, but that texts that begin with "later" are left with its provider, and files as well. */
const app = useApp({
  overrides: {
    thinker: scriptedModel(() => ({ text: 'Seen.' })),
    channels: ({ dev, ...others }) => ({
      ...others,
      dev: {
        ...dev!,
        read: (post, open) =>
          dev!.read(post, open).map((message) => ({
            ...message,
            ...(message.text?.startsWith('later') ? { text: null, toFetch: { of: message.text } } : {}),
            attachments: message.attachments.map((file) => ({ ...file, ref: file.ref && { ...file.ref, name: file.name } })),
          })),
        async fetch(_, { of }) {
          asked.push(String(of))
          return fetches.get(String(of))!()
        },
        async download(open, ref, signal) {
          asked.push(String(ref.name))
          return downloads.get(String(ref.name))?.() ?? dev!.download!(open, ref, signal)
        },
      },
    }),
  },
  env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
})

const place = async (more: Record<string, unknown> = {}) => devChannel(app, more, (await app.newWorkspace()).tenantId)

const documentsOf = async ({ tenantId }: DevChannel) => [
  ...(await app.owner`select id, file_name, mime_type, content, trusted, author, metadata, status from document where tenant_id = ${tenantId} order by id`),
]

/** What its senders were told besides answers. */
const lines = async ({ id }: DevChannel): Promise<[string, string][]> =>
  (await app.owner`select recipient, text from channel_reply where connection_id = ${id} and job_id is null order by id`).map(
    ({ recipient, text }) => [recipient, text],
  )

const contentOf = async (channel: DevChannel, nth = 0): Promise<string> => {
  const job = (await channelJobs(app, channel))[nth]!
  return (await messagesIn(app, job))[0]!.content
}

const FILES = [
  { name: 'notes.md', mimeType: 'text/markdown; charset=utf-8', text: '# Plans\n\nOpen on Sundays.' },
  { name: 'logo.png', mimeType: 'image/png', text: 'x' },
]

describe('files', () => {
  test('of a member become documents that nobody vouches for, and the message names each', async () => {
    const channel = await place()
    const identity = await linked(app, channel, 'ada')
    expect((await postDev(app.url, channel, { text: 'Look', attachments: FILES })).status).toBe(200)
    const [message] = await settledMessages(app, channel, 1)
    expect(message).toMatchObject({ state: 'taken', identity_id: identity, to_fetch: null })
    const [document, ...others] = await documentsOf(channel)
    expect(others).toEqual([])
    expect(document).toMatchObject({
      ...{ file_name: 'notes.md', mime_type: 'text/markdown', content: FILES[0]!.text, trusted: false },
      metadata: { channel: 'dev', connectionId: channel.id, messageId: message!.id },
    })
    expect(document!.author).toMatchObject({ kind: 'channel', id: identity })
    expect(await contentOf(channel)).toBe(
      `Look\n\n[Attachment: "notes.md", text/markdown; charset=utf-8, ${FILES[0]!.text.length} bytes; its text is the document ${document!.id}, "notes.md"]` +
        '\n\n[Attachment: "logo.png", image/png, 1 bytes; not read: only text and Markdown are read]',
    )
    const ready = await eventually(
      () => documentsOf(channel),
      ([one]) => one!.status === 'ready',
    )
    expect(ready).toHaveLength(1)
    // The text is kept once, as the document's.
    expect(JSON.stringify((await messagesOf(app, channel))[0]!.attachments)).not.toContain('Sundays')
    expect((await overJob(app, (await channelJobs(app, channel))[0]!.id)).status).toBe('completed')
  })

  test('of a stranger are named and never asked for', async () => {
    const channel = await place()
    asked.length = 0
    await postDev(app.url, channel, { text: 'Look', attachments: FILES })
    expect(await contentOf(channel)).toContain(
      '[Attachment: "notes.md", text/markdown; charset=utf-8, 25 bytes; not read: only those of members are read]',
    )
    expect([await documentsOf(channel), asked]).toEqual([[], []])
  })

  test('of equal content, or of a member who only views, make no second document', async () => {
    const channel = await place()
    const viewer = await signedIn(app, channel.tenantId, 'viewer')
    await linked(app, channel, 'ada')
    await linked(app, channel, 'vic', viewer.personId)
    for (const [nth, sender] of ['ada', 'ada', 'vic'].entries()) {
      await postDev(app.url, channel, {
        sender,
        attachments: [
          { ...FILES[0], name: `copy${nth}.md` },
          { ...FILES[0], name: 'again.md' },
        ],
      })
      await settledMessages(app, channel, nth + 1)
    }
    const documents = await documentsOf(channel)
    expect(documents.map(({ file_name }) => file_name)).toEqual(['copy0.md'])
    expect((await contentOf(channel, 1)).match(/its text is the document \S+, "copy0\.md"/g)).toHaveLength(2)
    expect(await contentOf(channel, 2)).toContain('not read: viewers cannot add documents')
  })

  test('beyond what a message may bring are named', async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    const many = Array.from({ length: 7 }, (_, nth) => ({ name: `${nth}.txt`, mimeType: 'text/plain', text: `text ${nth}` }))
    await postDev(app.url, channel, { attachments: many })
    await settledMessages(app, channel, 1)
    expect(await documentsOf(channel)).toHaveLength(5)
    expect((await contentOf(channel)).match(/not read: the message has too many/g)).toHaveLength(2)
  })

  test.each([
    ['not UTF-8', () => ({ kind: 'fetched', value: Buffer.from([0xff, 0xfe, 0x00]) }), 'it is not UTF-8'],
    ['empty', () => ({ kind: 'fetched', value: Buffer.from(' \n') }), 'it is empty'],
    ['too large', () => ({ kind: 'fetched', value: Buffer.alloc(1_048_577, 'x') }), 'it is larger than 1 MiB'],
    ['gone', () => ({ kind: 'gone', error: 'the file was deleted' }), 'the file was deleted'],
  ] as [string, Download, string][])('that are %s are named with the reason', async (name, answer, reason) => {
    const channel = await place()
    await linked(app, channel, 'ada')
    downloads.set(`${name}.txt`, answer)
    await postDev(app.url, channel, { attachments: [{ name: `${name}.txt`, mimeType: 'text/plain', text: 'x' }] })
    await settledMessages(app, channel, 1)
    expect([await documentsOf(channel), await contentOf(channel)]).toEqual([
      [],
      `Hello\n\n[Attachment: "${name}.txt", text/plain, 1 bytes; not read: ${reason}]`,
    ])
  })

  test('with names of paths and control characters get plain ones', async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    await postDev(app.url, channel, { attachments: [{ name: '../../etc/pass\u0000wd\u202e.txt', mimeType: 'text/plain', text: 'x y' }] })
    await settledMessages(app, channel, 1)
    expect((await documentsOf(channel))[0]!.file_name).toBe('.. .. etc passwd .txt')
  })
})

describe('a text that is with the provider', () => {
  test('begins the job once it has been fetched, in the thread that it names', async () => {
    const channel = await place()
    fetches.set('later one', () => ({
      kind: 'fetched',
      value: { text: 'From the fetch', attachments: [], thread: 'fetched thread', replyTo: { to: 'fetched' } },
    }))
    expect((await postDev(app.url, channel, { text: 'later one', id: 'e1' })).status).toBe(200)
    const [message] = await settledMessages(app, channel, 1)
    expect(message).toMatchObject({ state: 'taken', text: 'From the fetch', thread: 'fetched thread', reply_to: { to: 'fetched' } })
    expect((await channelJobs(app, channel))[0]).toMatchObject({ goal: 'From the fetch', cause: { kind: 'channel', id: message!.id } })
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
    for (const sender of ['ada', 'bob', 'ada']) await postDev(app.url, channel, { text: 'later never', sender })
    await eventually(
      () => hasten(app, channel),
      () => asked.length >= 24,
    )
    expect((await messagesOf(app, channel)).map(({ state }) => state)).toEqual(Array(3).fill('fetching'))
    await app.owner`update channel_message set created_at = created_at - interval '24 hours' where connection_id = ${channel.id}`
    for (const message of await hastenedMessages(app, channel))
      expect(message).toMatchObject({ state: 'failed', error: 'it could not be read: the provider answered 500', job_id: null })
    expect(await channelJobs(app, channel)).toEqual([])
    expect(await lines(channel)).toEqual([['ada', expect.stringContaining('could not read a message that you sent')]])
    const { get } = await channelAdmin(app, channel.tenantId)
    const lastError = 'a message was given up: it could not be read: the provider answered 500'
    expect(await get(channel.id)).toMatchObject({ status: 'active', lastError })
  })

  test('is asked for again however often its work was claimed in vain', async () => {
    const channel = await place()
    let isAway = true
    fetches.set('later back', () =>
      isAway ? { kind: 'unreachable', error: 'away' } : { kind: 'fetched', value: { text: 'Here', attachments: [] } },
    )
    await postDev(app.url, channel, { text: 'later back' })
    const counted = await eventually(
      () => app.owner`select payload from work where tenant_id = ${channel.tenantId} and kind = 'channel_fetch' and state = 'queued'`,
      ([work]) => work?.payload.failures === 1,
    )
    expect(counted).toHaveLength(1)
    await app.owner`update work set attempt = 60 where tenant_id = ${channel.tenantId} and kind = 'channel_fetch'`
    await app.owner`update channel_message set created_at = created_at - interval '23 hours' where connection_id = ${channel.id}`
    isAway = false
    expect((await hastenedMessages(app, channel)).map(({ state, text }) => [state, text])).toEqual([['taken', 'Here']])
  })

  test('waits for its turn again if the process fetches too much else', async () => {
    const fetching = new FairLimit({ name: 'fetching', limit: 1, bound: 1, withinMs: 1 })
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
    fetches.set('later machine', () => ({ kind: 'fetched', value: { text: 'I am away', attachments: [], isAutomatic: true } }))
    await postDev(app.url, channel, { text: 'later machine' })
    const [message] = await settledMessages(app, channel, 1)
    expect([message!.error, await channelJobs(app, channel)]).toEqual(['a machine wrote it', []])
  })

  test('is given without a file that never comes', async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    downloads.set('away.txt', () => ({ kind: 'unreachable', error: 'the provider is away' }))
    await postDev(app.url, channel, { text: 'Look', attachments: [{ name: 'away.txt', mimeType: 'text/plain', text: 'x' }] })
    await hastenedMessages(app, channel)
    expect(await contentOf(channel)).toBe('Look\n\n[Attachment: "away.txt", text/plain, 1 bytes; not read: the provider is away]')
  })
})
