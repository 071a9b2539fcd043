/** What the posts of Resend become. */
import { describe, expect, test } from 'bun:test'
import type { InboundPost } from '#port/channel/channel'
import { OURS, useResend } from '#test/support/channels/mail'
import { postOf } from '#test/support/channels/posts'
import type { ReceivedMail, ResendPostChanges } from '#test/support/channels/resend'

const { fake, adapter, connection } = useResend()
const now = Date.parse('2026-11-23T10:00:00Z')
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'

const posted = (
  mail: Partial<ReceivedMail> = {},
  changes: ResendPostChanges = {},
): Promise<InboundPost> =>
  postOf(fake.post(ADDRESS, fake.receive(mail), { at: new Date(now), ...changes }), now)

describe('messages', () => {
  const read = async (mail?: Partial<ReceivedMail>, changes?: ResendPostChanges) =>
    adapter.read(await posted(mail, changes), connection)

  test('a mail, whose text is to be fetched', async () => {
    const mail = fake.receive({ subject: ' Two\tlines\n of it ' })
    const [message, ...others] = adapter.read(await postOf(fake.post(ADDRESS, mail)), connection)
    expect(others).toEqual([])
    expect(message).toEqual({
      eventIds: [expect.stringMatching(/^event:/), expect.stringMatching(/^event:/)],
      sender: { id: 'ada@example.org', name: 'Ada' },
      thread: expect.stringMatching(/^thread:/),
      isShared: false,
      subject: 'Two lines of it',
      text: null,
      attachments: [],
      replyTo: {
        to: 'ada@example.org',
        subject: 'Re: Two lines of it',
        inReplyTo: mail.message_id,
        references: mail.message_id,
      },
      directTo: { to: 'ada@example.org', subject: 'A message from your agent' },
      toFetch: { email: mail.id, from: 'ada@example.org' },
    })
  })

  test('another try has the same names, and so has the mail by another event; a forged id of another sender has not', async () => {
    const mail = fake.receive({})
    const eventsOf = async (given: ReceivedMail, id?: string) =>
      adapter.read(
        await postOf(fake.post(ADDRESS, given, id === undefined ? {} : { id })),
        connection,
      )[0]!.eventIds
    const first = await eventsOf(mail)
    expect(await eventsOf(mail, 'msg_again')).toEqual(first)
    const again = await eventsOf({ ...mail, id: fake.receive({}).id })
    expect(again.filter((id) => first.includes(id))).toHaveLength(1)
    const forged = await eventsOf({ ...mail, id: fake.receive({}).id, from: 'eve@example.org' })
    expect(forged.filter((id) => first.includes(id))).toEqual([])
  })

  test('a mail to two of our addresses is one for each', async () => {
    const post = await posted({ to: [OURS, 'other@example.com'] })
    const [one] = adapter.read(post, connection)
    const [other] = adapter.read(post, { ...connection, routingKey: 'other@example.com' })
    expect(one!.eventIds.some((id) => other!.eventIds.includes(id))).toBe(false)
  })

  test.each([
    ['another event', {}, { type: 'email.delivered' }],
    ['our own address', { from: OURS }, {}],
    ['our own address with a name', { from: `Agent <${OURS.toUpperCase()}>` }, {}],
    ['a mailer daemon', { from: 'MAILER-DAEMON@example.org' }, {}],
    ['no-reply', { from: 'Shop <no-reply@example.org>' }, {}],
    ['a sender that is no address', { from: 'Ada' }, {}],
    ['two senders', { from: 'ada@example.org, eve@example.org' }, {}],
    ['an address with what nobody sees', { from: 'ad\u200ba@example.org' }, {}],
    ['nobody’s sender', { from: '' }, {}],
    ['a mail to others', { to: ['other@example.com'] }, {}],
    ['a mail without an id', {}, { data: { email_id: '../x' } }],
  ] as const)('left out: %s', async (_, mail, changes) => {
    expect(await read(mail as Partial<ReceivedMail>, changes)).toEqual([])
  })

  test.each([
    ['"ada@example.com" <eve@example.org>', 'eve@example.org', 'ada@example.com'],
    ['ada@example.com <eve@example.org>', 'eve@example.org', 'ada@example.com'],
    ['Eve (ada@example.com) <eve@example.org>', 'eve@example.org', 'Eve'],
    [
      '"Eve, of <ada@example.com>" <eve@example.org>',
      'eve@example.org',
      'Eve, of <ada@example.com>',
    ],
    ['аda@example.com', 'аda@example.com', null],
    ['ADA@Example.ORG', 'ada@example.org', null],
  ])('a name that looks like an address is none: %s', async (from, id, name) => {
    expect((await read({ from }))[0]!.sender).toEqual({ id, name })
  })
})
