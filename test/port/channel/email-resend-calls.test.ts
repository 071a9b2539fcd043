/**
 * What we send by Resend, and ask of it; its SDK gets the same answers of the server that plays it.
 */
import { describe, expect, test } from 'bun:test'
import { Resend } from 'resend'
import { OURS, resendConnection, useResend } from '#test/support/channels/mail'
import type { ResendFailure } from '#test/support/channels/resend'

const { fake, adapter, connection } = useResend()
const { signal } = new AbortController()
const sdk = new Resend(fake.apiKey, { baseUrl: fake.url } as never)

describe('sending', () => {
  let count = 0
  const outgoing = (changes: object = {}) => ({
    ...{
      id: `r${count++}:0`,
      text: 'Two items are due.',
      html: '<p>Two <strong>items</strong> are due.</p>',
      part: 0,
    },
    replyTo: {
      to: 'ada@example.org',
      subject: 'Re: Plans',
      inReplyTo: '<b@example.org>',
      references: '<a@example.org> <b@example.org>',
    },
    ...changes,
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
      ...{
        from: `"Tendril of Acme" <${OURS}>`,
        to: ['ada@example.org'],
        subject: 'Re: Plans',
        text: 'Two items are due.',
      },
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
    [
      'another key',
      { status: 403, name: 'invalid_api_key' },
      { kind: 'refused', of: 'connection' },
    ],
    ['no key', { status: 401, name: 'missing_api_key' }, { kind: 'refused', of: 'connection' }],
    [
      'a domain that is not verified',
      { status: 403, name: 'validation_error' },
      { kind: 'refused', of: 'connection' },
    ],
    [
      'a sender that is none',
      { status: 422, name: 'invalid_from_address' },
      { kind: 'refused', of: 'connection' },
    ],
    [
      'a field that is wrong',
      { status: 422, name: 'validation_error' },
      { kind: 'refused', of: 'message' },
    ],
    [
      'a suspicious mail',
      { status: 451, name: 'security_error' },
      { kind: 'refused', of: 'message' },
    ],
    [
      'an earlier request under way',
      { status: 409, name: 'concurrent_idempotent_requests' },
      { kind: 'unknown' },
    ],
    ['a failure', { status: 500, name: 'internal_server_error' }, { kind: 'unknown' }],
    ['a gateway', { status: 502, body: '<html>' }, { kind: 'unknown' }],
    ['an answer that is no JSON', { status: 200, body: 'ok' }, { kind: 'sent', externalId: null }],
  ])('%s', async (_, failure, expected) => {
    fake.fail(failure)
    expect(await adapter.send(connection, outgoing(), signal)).toMatchObject(expected)
  })

  test.each([{}, { to: 'nobody' }, { to: 'a@example.org, b@example.org' }, { to: 7 }])(
    'no recipient: %p',
    async (replyTo) => {
      const before = fake.requests.length
      expect(await adapter.send(connection, outgoing({ replyTo }), signal)).toMatchObject({
        kind: 'refused',
        of: 'message',
      })
      expect(fake.requests).toHaveLength(before)
    },
  )
})

describe('the check', () => {
  const check = (changes: object = {}) => adapter.check({ ...connection, ...changes }, signal)

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
    ['a subdomain', 'agent@sub.example.com', 'is not a domain'],
    ['somebody else’s domain', 'agent@example.net', 'is not a domain'],
  ])('refused: %s', async (_, routingKey, error) => {
    expect(await check({ routingKey })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining(error),
    })
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

  test.each([
    [{}, 'apiKey'],
    [{ apiKey: 'x' }, 'signingSecret'],
    [{ apiKey: 'x', signingSecret: 'not Svix’s' }, 'whsec_'],
    [{ apiKey: 'x', signingSecret: fake.signingSecret }, 'apiKey'],
  ])('credentials that are missing or wrong are named', async (credentials, error) => {
    expect(await check({ credentials })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining(error),
    })
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
  expect(
    adapter.configError({ provider: 'resend', fromName: 'Ünal & Co.', other: 1 }),
  ).toBeUndefined()
  expect(adapter.configError({ provider: 'mailgun', region: 'eu' })).toBeUndefined()
})
