/**
 * What we send by Resend, and ask of it; its SDK gets the same answers of the server that plays it.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Resend } from 'resend'
import { adapterCases, refused, unknown, unsent } from '#test/cases/channel-adapter'
import { OURS, resendConnection, useResend } from '#test/support/channels/mail'
import { postOf } from '#test/support/channels/posts'
import type { ResendFailure } from '#test/support/channels/resend'

const { fake, adapter, connection } = useResend()
const { signal } = new AbortController()
const now = Date.parse('2026-11-23T10:00:00Z')
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const sdk = new Resend(fake.apiKey, { baseUrl: fake.url } as never)
const check = (changes: object = {}) => adapter.check({ ...connection, ...changes }, signal)

const json = fc.record(
  {
    type: fc.constantFrom('email.received', 'email.sent'),
    data: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          to: fc.jsonValue(),
          from: fc.jsonValue(),
          email_id: fc.jsonValue(),
          attachments: fc.jsonValue(),
          message_id: fc.jsonValue(),
        },
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
const anything = fc
  .tuple(
    bodies,
    fc.constantFrom('application/json', 'application/x-www-form-urlencoded', ''),
    header,
    header,
  )
  .map(([body, type, id, signature]) => {
    const headers = new Headers({
      'content-type': type,
      'svix-id': id,
      'svix-signature': signature,
      'svix-timestamp': String(now / 1_000),
    })
    return { url: ADDRESS, headers, body, now }
  })
const by = (secret: string) => () =>
  postOf(fake.post(ADDRESS, fake.receive({}), { at: new Date(now), by: secret }), now)

let count = 0
const outgoing = (changes: object = {}) => ({
  id: `r${count++}:0`,
  text: 'Two items are due.',
  html: '<p>Two <strong>items</strong> are due.</p>',
  part: 0,
  replyTo: {
    to: 'ada@example.org',
    subject: 'Re: Plans',
    inReplyTo: '<b@example.org>',
    references: '<a@example.org> <b@example.org>',
  },
  ...changes,
})

const of = (status: number, name: string, headers = {}): ResendFailure => ({
  status,
  name,
  headers,
})
const given = (credentials: Record<string, string>) => ({ credentials })
const { signingSecret } = fake

adapterCases<ResendFailure>({
  adapter,
  connection,
  posts: {
    keyless: [
      [{ signingSecret: '' }, by('whsec_')],
      [{ signingSecret: 'whsec_' }, by('whsec_')],
      [{ signingSecret: 'whsec_AAAA' }, by('whsec_AAAA')],
    ],
    anything,
  },
  routingKeys: {
    read: { ' Agent@Example.COM ': OURS, 'é@example.com': 'é@example.com' },
    refused: [
      ...['agent', '@example.com', 'a b@example.com', 'a@b@c', '"a b"@example.com'],
      ...['agent+x@example.com', 'a\u200b@example.com', ''],
    ],
  },
  calls: {
    message: outgoing(),
    requests: fake.requests,
    fail: fake.fail,
    outcomes: {
      'too many requests': [of(429, 'rate_limit_exceeded', { 'retry-after': '2' }), unsent(2_000)],
      'a day’s quota': [
        of(429, 'daily_quota_exceeded'),
        { ...unsent(3_600_000), error: expect.stringContaining('quota') },
      ],
      'another key': [of(403, 'invalid_api_key'), refused('connection')],
      'no key': [of(401, 'missing_api_key'), refused('connection')],
      'a domain that is not verified': [of(403, 'validation_error'), refused('connection')],
      'a sender that is none': [of(422, 'invalid_from_address'), refused('connection')],
      'a field that is wrong': [of(422, 'validation_error'), refused('message')],
      'a suspicious mail': [of(451, 'security_error'), refused('message')],
      'an earlier request under way': [of(409, 'concurrent_idempotent_requests'), unknown],
      'a failure': [of(500, 'internal_server_error'), unknown],
      'a gateway': [{ status: 502, body: '<html>' }, unknown],
      'an answer that is no JSON': [
        { status: 200, body: 'ok' },
        { kind: 'sent', externalId: null },
      ],
    },
    leaks: {
      secret: fake.apiKey,
      failures: [{ status: 422, body: JSON.stringify({ message: `bad ${fake.apiKey}` }) }],
    },
    unaddressed: {
      'no recipient': [{ replyTo: {} }],
      nobody: [{ replyTo: { to: 'nobody' } }],
      'two recipients': [{ replyTo: { to: 'a@example.org, b@example.org' } }],
      'something else': [{ replyTo: { to: 7 } }],
    },
  },
  check: {
    refused: {
      'a subdomain': [{ routingKey: 'agent@sub.example.com' }, 'is not a domain'],
      'somebody else’s domain': [{ routingKey: 'agent@example.net' }, 'is not a domain'],
      'no key': [given({}), 'apiKey'],
      'no secret': [given({ apiKey: 'x' }), 'signingSecret'],
      'another secret than Svix’s': [given({ apiKey: 'x', signingSecret: 'not Svix’s' }), 'whsec_'],
      'another key': [given({ apiKey: 'x', signingSecret }), 'apiKey'],
    },
    unreachable: { 500: { status: 500 }, 429: of(429, 'rate_limit_exceeded') },
  },
})

test('a mail of the thread, which tells machines not to answer', async () => {
  const sent = await adapter.send(
    resendConnection(fake, { fromName: 'Tendril of Acme' }),
    outgoing(),
    signal,
  )
  const mail = fake.mails.at(-1)!
  expect(sent).toEqual({ kind: 'sent', externalId: mail.id })
  expect(mail).toEqual({
    id: mail.id,
    from: `"Tendril of Acme" <${OURS}>`,
    to: ['ada@example.org'],
    subject: 'Re: Plans',
    text: 'Two items are due.',
    html: expect.stringContaining('<strong>items</strong>'),
    headers: {
      'In-Reply-To': '<b@example.org>',
      References: '<a@example.org> <b@example.org>',
      'Auto-Submitted': 'auto-replied',
      'X-Auto-Response-Suppress': 'All',
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
  const [first, second] = [
    await adapter.send(connection, message, signal),
    await adapter.send(connection, message, signal),
  ]
  expect(second).toEqual(first)
  expect(
    fake.mails.filter(({ id }) => id === (first as { externalId: string }).externalId),
  ).toHaveLength(1)
  expect(adapter.repeatableForMs!(connection)).toBe(86_400_000)
})

test('another text under the same name may have been sent before', async () => {
  const message = outgoing()
  await adapter.send(connection, message, signal)
  expect(await adapter.send(connection, { ...message, text: 'changed' }, signal)).toMatchObject({
    kind: 'unknown',
  })
})

test('no header can be added', async () => {
  const replyTo = {
    to: 'ada@example.org',
    subject: 'x\r\nBcc: eve@example.org',
    inReplyTo: '<a>\nBcc: eve@example.org',
    references: '<a>',
  }
  expect(
    await adapter.send(
      resendConnection(fake, { fromName: 'x\r\nBcc: eve@example.org' }),
      outgoing({ replyTo }),
      signal,
    ),
  ).toMatchObject({ kind: 'sent' })
  const { from, subject, headers } = fake.mails.at(-1)!
  for (const value of [from, subject, ...Object.values(headers!)])
    expect(value).not.toMatch(/[\r\n]/)
})

test('a verified domain is proven, as the SDK lists it', async () => {
  expect(await check()).toEqual({ kind: 'proven' })
  const { data } = await sdk.domains.list()
  expect(data!.data.map(({ name }) => name)).toContain('example.com')
})

test('a domain on a later page', async () => {
  const others = Array.from({ length: 250 }, (_, at) => ({
    id: `o${at}`,
    name: `o${at}.example.net`,
    status: 'verified',
  }))
  fake.domains.unshift(...others)
  expect(await check()).toEqual({ kind: 'proven' })
  fake.domains.splice(0, 250)
})

test('the domains of more accounts than anybody has are not all read', async () => {
  const others = Array.from({ length: 1_100 }, (_, at) => ({
    id: `o${at}`,
    name: `o${at}.example.net`,
    status: 'verified',
  }))
  fake.domains.unshift(...others)
  expect(await check()).toMatchObject({ kind: 'refused' })
  fake.domains.splice(0, 1_100)
})

test.each([
  [{ status: 'pending' }, 'DNS'],
  [
    { status: 'verified', capabilities: { sending: 'enabled', receiving: 'disabled' } },
    'receiving',
  ],
])('a domain that cannot be used: %p', async (changes, error) => {
  fake.domains.push({ id: 'd2', name: 'half.example.com', ...changes })
  expect(await check({ routingKey: 'a@half.example.com' })).toMatchObject({
    kind: 'refused',
    error: expect.stringContaining(error),
  })
  fake.domains.pop()
})

test('the check refuses a key that may not list domains', async () => {
  fake.fail({ status: 401, name: 'restricted_api_key' })
  expect(await check()).toMatchObject({ kind: 'refused' })
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
  expect(
    adapter.configError({ provider: 'resend', fromName: 'Ünal & Co.', other: 1 }),
  ).toBeUndefined()
  expect(adapter.configError({ provider: 'mailgun', region: 'eu' })).toBeUndefined()
})
