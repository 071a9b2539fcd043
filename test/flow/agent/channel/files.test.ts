/** Files that come with a message, which its provider keeps: those of members become documents. */
import { describe, expect, test } from 'bun:test'
import { messagesIn, overJob } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  linked,
  messagesOf,
  postDev,
  settledMessages,
} from '#test/support/channels/dev-posts'
import { type Download, leftWithProvider } from '#test/support/channels/left-with-provider'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const { options, downloads, asked } = leftWithProvider()
const app = useApp(options)

const place = async (more: Record<string, unknown> = {}) =>
  devChannel(app, more, (await app.newWorkspace()).tenantId)

const documentsOf = async ({ tenantId }: DevChannel) => [
  ...(await app.owner`select id, file_name, mime_type, content, trusted, author, metadata, status
    from document where tenant_id = ${tenantId} order by id`),
]

const contentOf = async (channel: DevChannel, nth = 0): Promise<string> => {
  const job = (await channelJobs(app, channel))[nth]!
  return (await messagesIn(app, job))[0]!.content
}

const FILES = [
  {
    name: 'notes.md',
    mimeType: 'text/markdown; charset=utf-8',
    text: '# Plans\n\nOpen on Sundays.',
  },
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
      file_name: 'notes.md',
      mime_type: 'text/markdown',
      content: FILES[0]!.text,
      trusted: false,
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
    expect(JSON.stringify((await messagesOf(app, channel))[0]!.attachments)).not.toContain(
      'Sundays',
    )
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
    expect(
      (await contentOf(channel, 1)).match(/its text is the document \S+, "copy0\.md"/g),
    ).toHaveLength(2)
    expect(await contentOf(channel, 2)).toContain('not read: viewers cannot add documents')
  })

  test('beyond what a message may bring are named', async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    const many = Array.from({ length: 7 }, (_, nth) => ({
      name: `${nth}.txt`,
      mimeType: 'text/plain',
      text: `text ${nth}`,
    }))
    await postDev(app.url, channel, { attachments: many })
    await settledMessages(app, channel, 1)
    expect(await documentsOf(channel)).toHaveLength(5)
    expect((await contentOf(channel)).match(/not read: the message has too many/g)).toHaveLength(2)
  })

  test.each([
    [
      'not UTF-8',
      () => ({ kind: 'fetched', value: Buffer.from([0xff, 0xfe, 0x00]) }),
      'it is not UTF-8',
    ],
    ['empty', () => ({ kind: 'fetched', value: Buffer.from(' \n') }), 'it is empty'],
    [
      'too large',
      () => ({ kind: 'fetched', value: Buffer.alloc(1_048_577, 'x') }),
      'it is larger than 1 MiB',
    ],
    ['gone', () => ({ kind: 'gone', error: 'the file was deleted' }), 'the file was deleted'],
  ] as [string, Download, string][])(
    'that are %s are named with the reason',
    async (name, answer, reason) => {
      const channel = await place()
      await linked(app, channel, 'ada')
      downloads.set(`${name}.txt`, answer)
      await postDev(app.url, channel, {
        attachments: [{ name: `${name}.txt`, mimeType: 'text/plain', text: 'x' }],
      })
      await settledMessages(app, channel, 1)
      expect([await documentsOf(channel), await contentOf(channel)]).toEqual([
        [],
        `Hello\n\n[Attachment: "${name}.txt", text/plain, 1 bytes; not read: ${reason}]`,
      ])
    },
  )

  test('with names of paths and control characters get plain ones', async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    await postDev(app.url, channel, {
      attachments: [
        { name: '../../etc/pass\u0000wd\u202e.txt', mimeType: 'text/plain', text: 'x y' },
      ],
    })
    await settledMessages(app, channel, 1)
    expect((await documentsOf(channel))[0]!.file_name).toBe('.. .. etc passwd .txt')
  })
})
