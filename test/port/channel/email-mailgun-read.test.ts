/** What the posts of Mailgun’s routes become. */
import { describe, expect, test } from 'bun:test'
import type { InboundPost } from '#port/channel/channel'
import { OURS, useMailgun } from '#test/support/channels/mail'
import type { MailgunPostChanges, RoutedMail } from '#test/support/channels/mailgun'
import { postOf } from '#test/support/channels/posts'

const { fake, adapter, connection } = useMailgun()
const { signal } = new AbortController()
const now = Date.parse('2026-11-23T10:00:00Z')
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const file = { name: 'agenda.md', type: 'text/markdown', bytes: Buffer.from('# Agenda') }

/** As the domain's spam filter marks mails. */
const checks = (spf: string, dkim?: string): [string, string][] => [
  ['X-Mailgun-Spf', spf],
  ...(dkim === undefined ? [] : ([['X-Mailgun-Dkim-Check-Result', dkim]] as [string, string][])),
]

const posted = (mail: RoutedMail = {}, changes: MailgunPostChanges = {}): Promise<InboundPost> =>
  postOf(fake.post(ADDRESS, mail, { at: new Date(now), ...changes }), now)

describe('messages', () => {
  const read = async (mail?: RoutedMail, changes?: MailgunPostChanges) =>
    adapter.read(await posted(mail, changes), connection)

  test('a mail', async () => {
    const headers: [string, string][] = [
      ['Message-Id', '<b@example.org>'],
      ['References', '<a@example.org>'],
    ]
    expect(
      await read({ headers, 'body-plain': 'Yes.\r\n\r\n> Shall I?', subject: 'Re: Plans' }),
    ).toEqual([
      {
        eventIds: [expect.stringMatching(/^event:/), expect.stringMatching(/^event:/)],
        sender: { id: 'ada@example.org', name: 'Ada' },
        thread: expect.stringMatching(/^thread:/),
        isShared: false,
        subject: 'Re: Plans',
        text: 'Yes.',
        attachments: [],
        replyTo: {
          to: 'ada@example.org',
          subject: 'Re: Plans',
          inReplyTo: '<b@example.org>',
          references: '<a@example.org> <b@example.org>',
        },
        directTo: { to: 'ada@example.org', subject: 'A message from your agent' },
        toFetch: null,
      },
    ])
  })

  test('a token counts once, whatever the post then says; so does a mail of a sender', async () => {
    const token = 'a'.repeat(50)
    const eventsOf = async (mail: RoutedMail, by: string) =>
      (await read(mail, { token: by }))[0]!.eventIds
    const headers: [string, string][] = [['Message-Id', '<m@example.org>']]
    const first = await eventsOf({ headers }, token)
    const forged = await eventsOf({ 'body-plain': 'pay', from: 'eve@example.org' }, token)
    expect(forged.filter((id) => first.includes(id))).toHaveLength(1)
    const again = await eventsOf({ headers }, 'b'.repeat(50))
    expect(again.filter((id) => first.includes(id))).toHaveLength(1)
    const others = await eventsOf({ headers, from: 'eve@example.org' }, 'c'.repeat(50))
    expect(others.filter((id) => first.includes(id))).toEqual([])
  })

  test('a mail to two of our addresses is one for each', async () => {
    const post = await posted({ recipient: `${OURS}, other@example.com` })
    const [one] = adapter.read(post, connection)
    const [other] = adapter.read(post, { ...connection, routingKey: 'other@example.com' })
    expect(one!.eventIds.some((id) => other!.eventIds.includes(id))).toBe(false)
  })

  test('files of text that came with the post are kept; others are named', async () => {
    const files = [file, { name: 'a"b\r\n.png', type: 'image/png', bytes: new Uint8Array(9) }]
    const [message] = await read({ files })
    expect(message!.attachments).toEqual([
      {
        name: 'agenda.md',
        mimeType: 'text/markdown',
        byteSize: 8,
        ref: { base64: Buffer.from('# Agenda').toString('base64') },
      },
      {
        name: expect.stringMatching(/^a"b.*\.png$/),
        mimeType: 'image/png',
        byteSize: 9,
        ref: null,
      },
    ])
    const got = await adapter.download!(connection, message!.attachments[0]!.ref!, signal)
    expect(Buffer.from((got as { value: Uint8Array }).value).toString()).toBe('# Agenda')
  })

  test('of files that came with the post no more than five, and none of more than 128 KiB, are kept', async () => {
    const small = Array.from({ length: 7 }, (_, at) => ({ ...file, name: `${at}.md` }))
    const [message] = await read({ files: [{ ...file, bytes: new Uint8Array(131_073) }, ...small] })
    expect(message!.attachments.map(({ ref }) => ref !== null)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })

  test('files that Mailgun keeps are downloaded with the key', async () => {
    const stored = fake.store('example.com', 'agenda.md', Buffer.from('# Stored'), 'text/markdown')
    const [message] = await read({ attachments: [stored] })
    expect(message!.attachments).toEqual([
      { name: 'agenda.md', mimeType: 'text/markdown', byteSize: 8, ref: { url: stored.url } },
    ])
    const got = await adapter.download!(connection, message!.attachments[0]!.ref!, signal)
    expect(Buffer.from((got as { value: Uint8Array }).value).toString()).toBe('# Stored')
  })

  test.each([
    ['another host', 'https://evil.example.com/v3/domains/example.com/messages/x/attachments/0'],
    [
      'a host whose name ends alike',
      'https://evilmailgun.net/v3/domains/example.com/messages/x/attachments/0',
    ],
    [
      'Mailgun without TLS',
      'http://storage.api.mailgun.net/v3/domains/example.com/messages/x/attachments/0',
    ],
    [
      'a user in the address',
      'https://api.mailgun.net@evil.example.com/v3/domains/example.com/messages/x/attachments/0',
    ],
    ['another domain’s mail', `${fake.url}/v3/domains/example.net/messages/x/attachments/0`],
    ['another resource', `${fake.url}/v4/domains/example.com`],
    [
      'a path that leads elsewhere',
      `${fake.url}/v3/domains/example.com/messages/../../../../v4/domains/attachments/`,
    ],
    ['no address', 'attachments'],
  ])('the key goes nowhere else: %s', async (_, url) => {
    const before = fake.requests.length
    expect(await adapter.download!(connection, { url }, signal)).toMatchObject({ kind: 'gone' })
    expect(fake.requests).toHaveLength(before)
  })

  test('HTML alone is read later, without asking anybody', async () => {
    const html = '<p>Yes, <b>do</b> it.</p><blockquote>Shall I?</blockquote>'
    const [message] = await read({ 'body-plain': '', 'body-html': html })
    expect(message).toMatchObject({ text: null, toFetch: { html } })
    expect(await adapter.fetch!(connection, message!.toFetch!, signal)).toEqual({
      kind: 'fetched',
      value: { text: 'Yes, do it.', attachments: [] },
    })
    expect(await adapter.fetch!(connection, {}, signal)).toMatchObject({ kind: 'gone' })
  })

  test('a mail of nothing but a subject', async () => {
    expect(await read({ 'body-plain': '', subject: 'What is due?' })).toMatchObject([
      { subject: 'What is due?', text: '' },
    ])
    expect(await read({ 'body-plain': '', subject: '' })).toEqual([])
  })

  test.each<[string, RoutedMail]>([
    ['an automatic answer', { headers: [['Auto-Submitted', 'auto-replied']] }],
    ['a mailing list', { headers: [['List-Id', '<x.example.org>']] }],
    ['bulk', { headers: [['Precedence', 'bulk']] }],
    ['a forged sender, by SPF and DKIM', { headers: checks('Fail', 'Fail') }],
    ['a forged sender, by SPF', { headers: checks('Fail') }],
    ['a forged sender, by DKIM', { headers: checks('SoftFail', 'Fail') }],
    ['no sender', { sender: '' }],
    ['the empty sender', { sender: '<>' }],
    ['a report', { headers: [['Content-Type', 'multipart/report; report-type=delivery-status']] }],
    ['a mailer daemon', { from: 'Mail Delivery Subsystem <mailer-daemon@example.org>' }],
    ['our own address', { from: OURS }],
    ['two senders', { from: 'ada@example.org, eve@example.org' }],
    ['another recipient', { recipient: 'other@example.com' }],
  ])('left out: %s', async (_, mail) => {
    expect(await read(mail)).toEqual([])
  })

  test.each<[string, RoutedMail]>([
    ['a mail that was passed on, with its signature', { headers: checks('Fail', 'Pass') }],
    [
      'a mail whose signature was broken on its way from its own server',
      { headers: checks('Pass', 'Fail') },
    ],
    ['a mail without a signature', { headers: checks('Neutral') }],
    ['a mail that was not checked', {}],
  ])('taken: %s', async (_, mail) => {
    expect(await read(mail)).toHaveLength(1)
  })

  test('the sender is who the head names, and not the envelope', async () => {
    const [message] = await read({
      sender: 'bounce+ada=example.org@mail.example.net',
      from: 'Ada <ada@example.org>',
    })
    expect(message!.sender.id).toBe('ada@example.org')
  })
})
