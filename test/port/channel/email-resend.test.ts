/** Mail by Resend: its SDK and Svix's library sign for us and verify what our tests sign, and the SDK gets the same answers of the server that plays it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Resend } from 'resend'
import { Webhook } from 'svix'
import type { InboundPost } from '#port/channel/channel'
import { newWebhookSecret } from '#port/webhook'
import { mailAdapter, OURS, resendConnection } from '../../support/channels/mail.ts'
import { postOf } from '../../support/channels/posts.ts'
import { openResend, type ReceivedMail, type ResendFailure, type ResendPostChanges } from '../../support/channels/resend.ts'
import { runs } from '../../support/property.ts'

const fake = openResend()
afterAll(() => fake[Symbol.asyncDispose]())
beforeAll(() => {
  fake.domains.push({ id: 'd1', name: 'example.com', status: 'verified', capabilities: { sending: 'enabled', receiving: 'enabled' } })
})

const adapter = mailAdapter({ resend: fake })
const connection = resendConnection(fake)
const { signal } = new AbortController()
const now = Date.parse('2026-11-23T10:00:00Z')
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const sdk = new Resend(fake.apiKey, { baseUrl: fake.url } as never)

const posted = (mail: Partial<ReceivedMail> = {}, changes: ResendPostChanges = {}): Promise<InboundPost> =>
  postOf(fake.post(ADDRESS, fake.receive(mail), { at: new Date(now), ...changes }), now)
const headersOf = ({ headers }: InboundPost) =>
  Object.fromEntries(['id', 'timestamp', 'signature'].map((name) => [`svix-${name}`, headers.get(`svix-${name}`)!]))

describe('signatures', () => {
  test.each([
    ['as Svix signs it', {}],
    ['five minutes ago', { at: new Date(now - 300_000) }],
    ['in five minutes', { at: new Date(now + 300_000) }],
    ['text of many bytes a character', { data: { subject: 'été ☕ 漢字' } }],
  ] as const)('taken: %s', async (_, changes) => {
    expect(adapter.verify(await posted({}, changes), connection)).toBe(true)
  })

  test('taken: several signatures, one of which is ours', async () => {
    const post = await posted()
    const other = (await posted({}, { by: newWebhookSecret() })).headers.get('svix-signature')
    const headers = new Headers(post.headers)
    headers.set('svix-signature', `${other} ${post.headers.get('svix-signature')}`)
    expect(adapter.verify({ ...post, headers }, connection)).toBe(true)
  })

  test('what the test signs is right for Svix and for the SDK', async () => {
    const post = await posted({}, { at: new Date() })
    const payload = Buffer.from(post.body).toString()
    expect(new Webhook(fake.signingSecret).verify(payload, headersOf(post))).toMatchObject({ type: 'email.received' })
    const { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature } = headersOf(post)
    const headers = { id: id!, timestamp: timestamp!, signature: signature! }
    expect(sdk.webhooks.verify({ payload, headers, webhookSecret: fake.signingSecret })).toMatchObject({ type: 'email.received' })
  })

  test('what Svix signs is taken', async () => {
    const post = await posted()
    const signature = new Webhook(fake.signingSecret).sign('msg_1', new Date(now), Buffer.from(post.body).toString())
    const headers = new Headers({
      'content-type': 'application/json',
      'svix-id': 'msg_1',
      'svix-timestamp': String(now / 1_000),
      'svix-signature': signature,
    })
    expect(adapter.verify({ ...post, headers }, connection)).toBe(true)
  })

  const changed = async (change: (post: InboundPost) => Partial<InboundPost>): Promise<InboundPost> => {
    const post = await posted()
    return { ...post, ...change(post) }
  }
  const withHeader = (name: string, value: string) =>
    changed(({ headers }) => {
      const all = new Headers(headers)
      all.set(name, value)
      return { headers: all }
    })
  test.each([
    ['another secret', () => posted({}, { by: newWebhookSecret() })],
    ['six minutes ago', () => posted({}, { at: new Date(now - 360_000) })],
    ['in six minutes', () => posted({}, { at: new Date(now + 360_000) })],
    ['a changed body', () => changed(({ body }) => ({ body: Buffer.concat([body, Buffer.from(' ')]) }))],
    ['another id', () => withHeader('svix-id', 'msg_2')],
    ['another time', () => withHeader('svix-timestamp', String(now / 1_000 - 1))],
    ['no signature', () => withHeader('svix-signature', '')],
    [
      'a signature of another version',
      async () => withHeader('svix-signature', (await posted()).headers.get('svix-signature')!.replace('v1,', 'v2,')),
    ],
    ['a form, such as Mailgun sends', () => changed(() => ({ body: Buffer.from('recipient=agent%40example.com') }))],
  ] as const)('refused: %s', async (_, make) => {
    expect(adapter.verify(await make(), connection)).toBe(false)
  })

  test('nothing is taken for a connection without a secret, or with one that can be guessed', async () => {
    for (const signingSecret of ['', 'whsec_', 'whsec_AAAA']) {
      const post = await posted({}, { by: signingSecret === '' ? 'whsec_' : signingSecret })
      expect(adapter.verify(post, { ...connection, credentials: { signingSecret } })).toBe(false)
    }
  })
})

describe('routes', () => {
  test.each([
    ['the recipient', { data: { received_for: [OURS], to: [OURS] } }, [OURS]],
    ['a blind copy', { data: { received_for: [OURS], to: ['list@example.org'] } }, [OURS, 'list@example.org']],
    [
      'names and capitals',
      { data: { received_for: [], to: ['"The Agent" <Agent@Example.COM>'], cc: ['b@example.com'] } },
      [OURS, 'b@example.com'],
    ],
    ['what follows a +', { data: { received_for: ['agent+berlin@example.com'], to: [] } }, ['agent+berlin@example.com', OURS]],
    ['the sender of a mail of ours', { type: 'email.delivered', data: { from: `Agent <${OURS}>`, to: ['ada@example.org'] } }, [OURS]],
  ] as const)('a post names its connections: %s', async (_, changes, keys) => {
    expect(adapter.route(await posted({}, changes as ResendPostChanges))).toEqual({ kind: 'keys', keys: [...keys] })
  })

  test('a post to hundreds names some', async () => {
    const to = Array.from({ length: 500 }, (_, at) => `a${at}@example.com`)
    const routed = adapter.route(await posted({ to }))
    expect(routed).toMatchObject({ kind: 'keys' })
    expect((routed as { keys: string[] }).keys.length).toBeLessThanOrEqual(50)
  })

  test('nobody', async () => {
    expect(adapter.route(await posted({ to: [] }))).toEqual({ kind: 'unknown' })
  })

  test.each([
    [' Agent@Example.COM ', OURS],
    ['é@example.com', 'é@example.com'],
  ])('an address is the same however it is written: %s', (text, key) => {
    expect(adapter.routingKeyOf(text)).toEqual({ key })
  })

  test.each(['agent', '@example.com', 'a b@example.com', 'a@b@c', '"a b"@example.com', 'agent+x@example.com', 'a\u200b@example.com', ''])(
    'no address of ours: %p',
    (text) => {
      expect(adapter.routingKeyOf(text)).toHaveProperty('error')
    },
  )
})

describe('messages', () => {
  const read = async (mail?: Partial<ReceivedMail>, changes?: ResendPostChanges) => adapter.read(await posted(mail, changes), connection)

  test('a mail, whose text is to be fetched', async () => {
    const mail = fake.receive({ subject: ' Two\tlines\n of it ' })
    const [message, ...others] = adapter.read(await postOf(fake.post(ADDRESS, mail)), connection)
    expect(others).toEqual([])
    expect(message).toEqual({
      eventIds: [expect.stringMatching(/^event:/), expect.stringMatching(/^event:/)],
      sender: { id: 'ada@example.org', name: 'Ada' },
      ...{ thread: expect.stringMatching(/^thread:/), isShared: false, subject: 'Two lines of it', text: null, attachments: [] },
      replyTo: { to: 'ada@example.org', subject: 'Re: Two lines of it', inReplyTo: mail.message_id, references: mail.message_id },
      directTo: { to: 'ada@example.org', subject: 'A message from your agent' },
      toFetch: { email: mail.id },
    })
  })

  test('another try has the same names, and so has the mail by another event; a forged id of another sender has not', async () => {
    const mail = fake.receive({})
    const eventsOf = async (given: ReceivedMail, id?: string) =>
      adapter.read(await postOf(fake.post(ADDRESS, given, id === undefined ? {} : { id })), connection)[0]!.eventIds
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
    ['"Eve, of <ada@example.com>" <eve@example.org>', 'eve@example.org', 'Eve, of <ada@example.com>'],
    ['аda@example.com', 'аda@example.com', null],
    ['ADA@Example.ORG', 'ada@example.org', null],
  ])('a name that looks like an address is none: %s', async (from, id, name) => {
    expect((await read({ from }))[0]!.sender).toEqual({ id, name })
  })
})

describe('what is fetched', () => {
  const fetched = async (mail: Partial<ReceivedMail>) => {
    const received = fake.receive(mail)
    const [message] = adapter.read(await postOf(fake.post(ADDRESS, received)), connection)
    const got = await adapter.fetch!(connection, message!.toFetch!, signal)
    return {
      message: message!,
      got,
      value: (got as { value: unknown }).value as {
        text: string
        thread: string
        isAutomatic: boolean
        attachments: object[]
        replyTo: object
      },
    }
  }

  test('the text, without its quotation', async () => {
    const { value } = await fetched({
      text: 'Yes, do it.\n\nOn Mon, Nov 23, 2026 at 10:00 AM Agent <agent@example.com> wrote:\n> Shall I?\n',
    })
    expect(value.text).toBe('Yes, do it.')
  })

  test('a mail that forwards another keeps it', async () => {
    const text = 'What is this?\n\n---------- Forwarded message ---------\nFrom: Bob <bob@example.org>\nSubject: Prices\n\nTwo euros.'
    expect((await fetched({ subject: 'Fwd: Prices', text })).value.text).toContain('Two euros.')
  })

  test('all of a mail that has nothing but a quotation', async () => {
    expect((await fetched({ text: '> a question' })).value.text).toBe('> a question')
  })

  test('HTML alone', async () => {
    const html = `<style>p { color: red }</style><p>Yes, <b>do</b> it.</p><script>alert(1)</script><div class="gmail_quote">On Mon, Nov 23, 2026 at 10:00 AM Agent &lt;agent@example.com&gt; wrote:<br><blockquote>Shall I?<br>Or not?</blockquote></div>`
    expect((await fetched({ text: null, html })).value.text).toBe('Yes, do it.')
  })

  test('a very long mail is cut, and says so', async () => {
    const { value } = await fetched({ text: `${'word '.repeat(20_000)}` })
    expect(value.text.length).toBeLessThanOrEqual(10_000)
    expect(value.text).toEndWith('[The mail goes on; the rest was left out.]')
  })

  test('threads: what began them names them', async () => {
    const first = await fetched({ message_id: '<root@example.org>' })
    const second = await fetched({ headers: { References: '<root@example.org>\r\n <x@example.com>', 'In-Reply-To': '<x@example.com>' } })
    const third = await fetched({ headers: { 'in-reply-to': '<root@example.org>' } })
    const other = await fetched({})
    expect(first.value.thread).toBe(first.message.thread)
    expect(second.value.thread).toBe(first.value.thread)
    expect(third.value.thread).toBe(first.value.thread)
    expect(other.value.thread).not.toBe(first.value.thread)
    expect(second.value.replyTo).toMatchObject({
      references: expect.stringMatching(/^<root@example.org> <x@example.com> <.+@example.org>$/),
    })
  })

  test('a thread of hundreds has references of bounded length', async () => {
    const ids = Array.from({ length: 300 }, (_, at) => `<${at}@example.org>`)
    const { value } = await fetched({ headers: { References: ids.join(' ') }, message_id: '<last@example.org>' })
    const { references } = value.replyTo as { references: string }
    expect(references.length).toBeLessThanOrEqual(1_000)
    expect(references).toStartWith('<0@example.org> ')
    expect(references).toEndWith(' <last@example.org>')
  })

  test.each([
    { 'Auto-Submitted': 'auto-replied' },
    { 'auto-submitted': 'auto-generated; x=y' },
    { Precedence: 'bulk' },
    { Precedence: 'List' },
    { 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
    { 'List-Id': '<news.example.org>' },
    { 'Return-Path': '<>' },
    { 'Content-Type': 'multipart/report; report-type=delivery-status' },
    { 'X-Autoreply': 'yes' },
  ])('a machine’s mail is known: %p', async (headers) => {
    expect((await fetched({ headers: headers as unknown as Record<string, string> })).value.isAutomatic).toBe(true)
  })

  test.each([
    { 'Auto-Submitted': 'no' },
    { 'X-Auto-Response-Suppress': 'None' },
    { Precedence: 'normal' },
    { 'Return-Path': '<ada@example.org>' },
    {},
  ])('a person’s mail is known: %p', async (headers) => {
    expect((await fetched({ headers: headers as Record<string, string> })).value.isAutomatic).toBe(false)
  })

  test('Reply-To is not followed: answers go to the sender', async () => {
    const { value } = await fetched({ headers: { 'Reply-To': 'eve@example.org' } })
    expect(value.replyTo).toMatchObject({ to: 'ada@example.org' })
  })

  test('files, which are downloaded where Resend leads, without credentials', async () => {
    const file = { id: 'f1', filename: 'agenda.md', content_type: 'text/markdown; charset=utf-8', bytes: Buffer.from('# Agenda') }
    const { message, value } = await fetched({ files: [file] })
    const ref = { email: expect.any(String), attachment: 'f1' }
    expect(message.attachments).toEqual([{ name: 'agenda.md', mimeType: 'text/markdown', byteSize: null, ref }])
    expect(value.attachments).toEqual([{ name: 'agenda.md', mimeType: 'text/markdown', byteSize: 8, ref }])
    const got = await adapter.download!(connection, (value.attachments[0] as { ref: Record<string, unknown> }).ref, signal)
    expect(Buffer.from((got as { value: Uint8Array }).value).toString()).toBe('# Agenda')
    const { data } = await sdk.emails.receiving.attachments.get({ emailId: message.toFetch!.email as string, id: 'f1' })
    expect(data).toMatchObject({ filename: 'agenda.md', size: 8 })
  })

  test('the SDK reads the same mail', async () => {
    const { message, value } = await fetched({ text: 'by the SDK' })
    const { data } = await sdk.emails.receiving.get(message.toFetch!.email as string)
    expect(data).toMatchObject({ text: value.text, message_id: message.replyTo.inReplyTo as string })
  })

  test.each<[string, ResendFailure, string]>([
    ['deleted at Resend', { status: 404, name: 'not_found' }, 'gone'],
    ['too many requests', { status: 429, name: 'rate_limit_exceeded' }, 'unreachable'],
    ['a failure', { status: 500 }, 'unreachable'],
    ['credentials that are no longer good', { status: 401, name: 'invalid_api_key' }, 'unreachable'],
    ['a mail that is too long', { status: 200, body: `{"text":"${'x'.repeat(2_100_000)}"}` }, 'gone'],
    ['an answer that is no JSON', { status: 200, body: 'ok' }, 'unreachable'],
  ])('not fetched: %s', async (_, failure, kind) => {
    const mail = fake.receive({})
    fake.fail(failure)
    expect(await adapter.fetch!(connection, { email: mail.id }, signal)).toMatchObject({ kind, error: expect.any(String) })
  })

  test.each([{}, { email: '../domains' }, { email: 1 }])('nothing is asked about %p', async (toFetch) => {
    const before = fake.requests.length
    expect(await adapter.fetch!(connection, toFetch, signal)).toMatchObject({ kind: 'gone' })
    expect(await adapter.download!(connection, { ...toFetch, attachment: 'f1' }, signal)).toMatchObject({ kind: 'gone' })
    expect(fake.requests).toHaveLength(before)
  })
})

describe('sending', () => {
  let count = 0
  const outgoing = (changes: object = {}) => ({
    ...{ id: `r${count++}:0`, text: 'Two **items** are due.', part: 0 },
    replyTo: { to: 'ada@example.org', subject: 'Re: Plans', inReplyTo: '<b@example.org>', references: '<a@example.org> <b@example.org>' },
    ...changes,
  })

  test('a mail of the thread, which tells machines not to answer', async () => {
    const sent = await adapter.send(resendConnection(fake, { fromName: 'Tendril of Acme' }), outgoing(), signal)
    const mail = fake.mails.at(-1)!
    expect(sent).toEqual({ kind: 'sent', externalId: mail.id })
    expect(mail).toEqual({
      id: mail.id,
      ...{ from: `"Tendril of Acme" <${OURS}>`, to: ['ada@example.org'], subject: 'Re: Plans', text: 'Two items are due.' },
      html: expect.stringContaining('<strong>items</strong>'),
      headers: {
        ...{ 'In-Reply-To': '<b@example.org>', References: '<a@example.org> <b@example.org>' },
        ...{ 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' },
      },
    })
  })

  test('the SDK sends the same', async () => {
    await adapter.send(connection, outgoing(), signal)
    const { id: _, ...ours } = fake.mails.at(-1)!
    await sdk.emails.send({ ...ours, html: ours.html!, text: ours.text! } as never)
    const { id: __, ...theirs } = fake.mails.at(-1)!
    expect(theirs).toEqual(ours)
  })

  test('the same message again is sent once', async () => {
    const message = outgoing()
    const [first, second] = [await adapter.send(connection, message, signal), await adapter.send(connection, message, signal)]
    expect(second).toEqual(first)
    expect(fake.mails.filter(({ id }) => id === (first as { externalId: string }).externalId)).toHaveLength(1)
    expect(adapter.repeatableForMs!(connection)).toBe(86_400_000)
  })

  test('another text under the same name may have been sent before', async () => {
    const message = outgoing()
    await adapter.send(connection, message, signal)
    expect(await adapter.send(connection, { ...message, text: 'changed' }, signal)).toMatchObject({ kind: 'unknown' })
  })

  test('no header can be added', async () => {
    const replyTo = {
      to: 'ada@example.org',
      subject: 'x\r\nBcc: eve@example.org',
      inReplyTo: '<a>\nBcc: eve@example.org',
      references: '<a>',
    }
    await adapter.send(resendConnection(fake, { fromName: 'x\r\nBcc: eve@example.org' }), outgoing({ replyTo }), signal)
    const { from, subject, headers } = fake.mails.at(-1)!
    for (const value of [from, subject, ...Object.values(headers!)]) expect(value).not.toMatch(/[\r\n]/)
  })

  test.each<[string, ResendFailure, object]>([
    [
      'too many requests',
      { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '2' } },
      { kind: 'unsent', retryAfterMs: 2_000 },
    ],
    [
      'a day’s quota',
      { status: 429, name: 'daily_quota_exceeded' },
      { kind: 'unsent', retryAfterMs: 3_600_000, error: expect.stringContaining('quota') },
    ],
    ['another key', { status: 403, name: 'invalid_api_key' }, { kind: 'refused', of: 'connection' }],
    ['no key', { status: 401, name: 'missing_api_key' }, { kind: 'refused', of: 'connection' }],
    ['a domain that is not verified', { status: 403, name: 'validation_error' }, { kind: 'refused', of: 'connection' }],
    ['a sender that is none', { status: 422, name: 'invalid_from_address' }, { kind: 'refused', of: 'connection' }],
    ['a field that is wrong', { status: 422, name: 'validation_error' }, { kind: 'refused', of: 'message' }],
    ['a suspicious mail', { status: 451, name: 'security_error' }, { kind: 'refused', of: 'message' }],
    ['an earlier request under way', { status: 409, name: 'concurrent_idempotent_requests' }, { kind: 'unknown' }],
    ['a failure', { status: 500, name: 'internal_server_error' }, { kind: 'unknown' }],
    ['a gateway', { status: 502, body: '<html>' }, { kind: 'unknown' }],
    ['an answer that is no JSON', { status: 200, body: 'ok' }, { kind: 'sent', externalId: null }],
  ])('%s', async (_, failure, expected) => {
    fake.fail(failure)
    expect(await adapter.send(connection, outgoing(), signal)).toMatchObject(expected)
  })

  test.each([{}, { to: 'nobody' }, { to: 'a@example.org, b@example.org' }, { to: 7 }])('no recipient: %p', async (replyTo) => {
    const before = fake.requests.length
    expect(await adapter.send(connection, outgoing({ replyTo }), signal)).toMatchObject({ kind: 'refused', of: 'message' })
    expect(fake.requests).toHaveLength(before)
  })
})

describe('the check', () => {
  const check = (changes: object = {}) => adapter.check({ ...connection, ...changes }, signal)

  test('a verified domain is proven, as the SDK lists it', async () => {
    expect(await check()).toEqual({ kind: 'proven' })
    const { data } = await sdk.domains.list()
    expect(data!.data.map(({ name }) => name)).toContain('example.com')
  })

  test('a domain on a later page', async () => {
    const others = Array.from({ length: 250 }, (_, at) => ({ id: `o${at}`, name: `o${at}.example.net`, status: 'verified' }))
    fake.domains.unshift(...others)
    expect(await check()).toEqual({ kind: 'proven' })
    fake.domains.splice(0, 250)
  })

  test('the domains of more accounts than anybody has are not all read', async () => {
    const others = Array.from({ length: 1_100 }, (_, at) => ({ id: `o${at}`, name: `o${at}.example.net`, status: 'verified' }))
    fake.domains.unshift(...others)
    expect(await check()).toMatchObject({ kind: 'refused' })
    fake.domains.splice(0, 1_100)
  })

  test.each([
    ['a subdomain', 'agent@sub.example.com', 'is not a domain'],
    ['somebody else’s domain', 'agent@example.net', 'is not a domain'],
  ])('refused: %s', async (_, routingKey, error) => {
    expect(await check({ routingKey })).toMatchObject({ kind: 'refused', error: expect.stringContaining(error) })
  })

  test.each([
    [{ status: 'pending' }, 'DNS'],
    [{ status: 'verified', capabilities: { sending: 'enabled', receiving: 'disabled' } }, 'receiving'],
  ])('a domain that cannot be used: %p', async (changes, error) => {
    fake.domains.push({ id: 'd2', name: 'half.example.com', ...changes })
    expect(await check({ routingKey: 'a@half.example.com' })).toMatchObject({ kind: 'refused', error: expect.stringContaining(error) })
    fake.domains.pop()
  })

  test.each([
    [{}, 'apiKey'],
    [{ apiKey: 'x' }, 'signingSecret'],
    [{ apiKey: 'x', signingSecret: 'not Svix’s' }, 'whsec_'],
    [{ apiKey: 'x', signingSecret: fake.signingSecret }, 'apiKey'],
  ])('credentials that are missing or wrong are named', async (credentials, error) => {
    expect(await check({ credentials })).toMatchObject({ kind: 'refused', error: expect.stringContaining(error) })
  })

  test.each<[ResendFailure, string]>([
    [{ status: 401, name: 'restricted_api_key' }, 'refused'],
    [{ status: 500 }, 'unreachable'],
    [{ status: 429, name: 'rate_limit_exceeded' }, 'unreachable'],
  ])('an answer without domains: %p', async (failure, kind) => {
    fake.fail(failure)
    expect(await check()).toMatchObject({ kind })
  })
})

test.each([
  [{ provider: 'postmark' }, 'provider'],
  [{ provider: 'mailgun', region: 'asia' }, 'region'],
  [{ provider: 'resend', fromName: 'a\nb' }, 'fromName'],
  [{ provider: 'resend', fromName: 7 }, 'fromName'],
  [{ provider: 'resend', fromName: 'x'.repeat(101) }, 'fromName'],
])('a configuration that is wrong: %p', (config, name) => {
  expect(adapter.configError(config)).toContain(name)
})

test('a configuration that is right', () => {
  expect(adapter.configError({})).toBeUndefined()
  expect(adapter.configError({ provider: 'resend', fromName: 'Ünal & Co.', other: 1 })).toBeUndefined()
  expect(adapter.configError({ provider: 'mailgun', region: 'eu' })).toBeUndefined()
})

test('no bytes make it throw', () => {
  const json = fc.record(
    {
      type: fc.constantFrom('email.received', 'email.sent'),
      data: fc.oneof(
        fc.jsonValue(),
        fc.record(
          { to: fc.jsonValue(), from: fc.jsonValue(), email_id: fc.jsonValue(), attachments: fc.jsonValue(), message_id: fc.jsonValue() },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  )
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    json.map((value) => Buffer.from(JSON.stringify(value))),
  )
  const header = fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^ -~]/g, ''))
  fc.assert(
    fc.property(
      bodies,
      fc.constantFrom('application/json', 'application/x-www-form-urlencoded', ''),
      header,
      header,
      (body, type, id, signature) => {
        const headers = new Headers({
          'content-type': type,
          'svix-id': id,
          'svix-timestamp': String(now / 1_000),
          'svix-signature': signature,
        })
        const post = { url: ADDRESS, headers, body, now }
        adapter.route(post)
        expect(adapter.verify(post, connection)).toBe(false)
        expect(adapter.verify(post, { ...connection, config: {} })).toBe(false)
        adapter.read(post, connection)
      },
    ),
    runs(500),
  )
})
