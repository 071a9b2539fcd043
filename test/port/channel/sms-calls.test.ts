/** What we ask of Twilio. Its SDK gets the same answers of the server that plays it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import twilio from 'twilio'
import type RequestClient from 'twilio/lib/base/RequestClient'
import type { OpenConnection, SendResult } from '#port/channel/channel'
import { smsAdapter } from '#port/channel/sms/adapter'
import { openTwilio, type TwilioFailure } from '#test/support/channels/twilio'
import { newSid, smsConnection } from '#test/support/channels/twilio-posts'
import { egressTo } from '#test/support/http/egress'
import { openReceiver } from '#test/support/http/receiver'

const fake = openTwilio()
afterAll(() => fake[Symbol.asyncDispose]())

const [OURS, SENDER] = ['+14155550100', '+4915112345678']
beforeAll(() => {
  fake.numbers.push({
    phone_number: OURS,
    capabilities: { voice: true, sms: true, mms: true, fax: false },
  })
})

const adapter = smsAdapter({ egress: egressTo(fake.url, fake.cdnUrl), urls: { twilio: fake.url } })
const connection = smsConnection(fake)
const { signal } = new AbortController()
const message = { id: 'r1:0', replyTo: { to: SENDER }, text: 'Two items are due.', part: 0 }

/** The SDK, whose requests go to the server of the test. */
const sdk = twilio(fake.accountSid, fake.authToken, {
  httpClient: {
    async request({ method, uri, data, username, password }: RequestClient.RequestOptions) {
      const target = uri.replace('https://api.twilio.com', fake.url)
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
      const body =
        method === 'get'
          ? undefined
          : new URLSearchParams(data as Record<string, string>).toString()
      const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
      const response = await fetch(target, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      return {
        statusCode: response.status,
        body: await response.text(),
        headers: Object.fromEntries(response.headers),
      }
    },
  } as never,
})

describe('sending', () => {
  test('a message arrives once, as the SDK would send it', async () => {
    const sent = await adapter.send(connection, message, signal)
    const bySdk = await sdk.messages.create({ to: SENDER, from: OURS, body: message.text })
    expect(sent).toEqual({ kind: 'sent', externalId: expect.stringMatching(/^SM[0-9a-f]{32}$/) })
    const [ours, theirs] = fake.messages.slice(-2)
    expect({ ...ours, sid: '' }).toEqual({ ...theirs!, sid: '' })
    expect(theirs!.sid).toBe(bySdk.sid)
    expect(ours).toMatchObject({ to: SENDER, from: OURS, body: 'Two items are due.' })
  })

  test('text arrives as it is', async () => {
    const text = 'été & 100% = "so" + 漢字\n👩‍🚀'
    await adapter.send(connection, { ...message, text }, signal)
    expect(fake.messages.at(-1)!.body).toBe(text)
  })

  test('a recipient who wrote STOP gets nothing, and the error says so', async () => {
    fake.optedOut.add('+4915100000000')
    const sent = await adapter.send(
      connection,
      { ...message, replyTo: { to: '+4915100000000' } },
      signal,
    )
    expect(sent).toEqual({ kind: 'refused', of: 'message', error: expect.stringContaining('STOP') })
    await expect(
      sdk.messages.create({ to: '+4915100000000', from: OURS, body: 'x' }),
    ).rejects.toMatchObject({ code: 21610 })
  })

  const refused = (of: 'message' | 'connection') =>
    ({ kind: 'refused', of, error: expect.any(String) }) as const
  test.each<[string, TwilioFailure, object]>([
    [
      'too many requests',
      { status: 429, code: 20429, headers: { 'retry-after': '7' } },
      { kind: 'unsent', retryAfterMs: 7_000 },
    ],
    ['too many requests, without a time', { status: 429, code: 20429 }, { kind: 'unsent' }],
    [
      'a wait beyond reason',
      { status: 429, code: 20429, headers: { 'retry-after': '999999' } },
      { kind: 'unsent', retryAfterMs: 3_600_000 },
    ],
    ['a full queue of the number', { status: 400, code: 21611 }, { kind: 'unsent' }],
    ['a full queue', { status: 400, code: 30001 }, { kind: 'unsent' }],
    ['other credentials', { status: 401, code: 20003 }, refused('connection')],
    ['no permission', { status: 403, code: 0 }, refused('connection')],
    ['a suspended account', { status: 400, code: 30002 }, refused('connection')],
    ['an account that is not active', { status: 401, code: 20005 }, refused('connection')],
    ['a number of another account', { status: 400, code: 21660 }, refused('connection')],
    ['a number without SMS', { status: 400, code: 21606 }, refused('connection')],
    ['a number that is not registered', { status: 400, code: 30034 }, refused('connection')],
    ['a landline', { status: 400, code: 21614 }, refused('message')],
    ['a number that is none', { status: 400, code: 21211 }, refused('message')],
    ['a country that is not switched on', { status: 403, code: 21408 }, refused('message')],
    ['a number that is not verified for a trial', { status: 400, code: 21608 }, refused('message')],
    ['a filter', { status: 400, code: 30007 }, refused('message')],
    ['a phone that is off', { status: 400, code: 30003 }, refused('message')],
    ['an error that nobody knows yet', { status: 400, code: 29999 }, refused('message')],
    ['an error that is no JSON', { status: 400, body: '<html>' }, refused('message')],
    ['a failure of Twilio', { status: 500, code: 20500 }, { kind: 'unknown' }],
    ['a gateway', { status: 502, body: '<html>' }, { kind: 'unknown' }],
    ['a service that is not there', { status: 503, code: 20503 }, { kind: 'unknown' }],
    [
      'a redirect, which is not followed',
      { status: 302, body: '', headers: { location: 'https://evil.example.com/' } },
      { kind: 'unknown' },
    ],
    ['an answer that is no JSON', { status: 201, body: 'ok' }, { kind: 'sent', externalId: null }],
  ])('%s', async (_, failure, expected) => {
    const before = fake.messages.length
    fake.fail(failure)
    const sent: SendResult = await adapter.send(connection, message, signal)
    expect(sent).toMatchObject(expected)
    if (!('retryAfterMs' in expected)) expect(sent).not.toHaveProperty('retryAfterMs')
    expect(fake.messages).toHaveLength(before)
  })

  test('errors hold nothing of the credentials, and no text of the provider', async () => {
    fake.fail({
      status: 401,
      body: JSON.stringify({ code: 20003, message: `Authenticate ${fake.authToken}` }),
    })
    expect(JSON.stringify(await adapter.send(connection, message, signal))).not.toContain(
      fake.authToken,
    )
    fake.fail({ status: 400, body: JSON.stringify({ code: 1, message: `no ${fake.authToken}` }) })
    expect(JSON.stringify(await adapter.send(connection, message, signal))).not.toContain(
      fake.authToken,
    )
  })

  test('an answer that breaks off in its body was one', async () => {
    await using receiver = await openReceiver()
    receiver.answer = {
      raw: 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"sid":"SM',
    }
    const twilio = `http://127.0.0.1:${receiver.port}`
    const cut = smsAdapter({ egress: egressTo(twilio), urls: { twilio } })
    expect(await cut.send(connection, message, signal)).toEqual({ kind: 'sent', externalId: null })
  })

  test.each([
    ['no account', { authToken: 'x' }, { to: SENDER }, 'connection'],
    [
      'an account that is a path',
      { accountSid: '../../x', authToken: 'x' },
      { to: SENDER },
      'connection',
    ],
    ['no auth token', { accountSid: fake.accountSid }, { to: SENDER }, 'connection'],
    ['no recipient', connection.credentials, {}, 'message'],
    ['a recipient that is no number', connection.credentials, { to: 'ada@example.com' }, 'message'],
  ] as const)('nothing is asked with %s', async (_, credentials, replyTo, of) => {
    const before = fake.requests.length
    const given = credentials as Record<string, string>
    expect(
      await adapter.send({ ...connection, credentials: given }, { ...message, replyTo }, signal),
    ).toMatchObject({
      kind: 'refused',
      of,
    })
    expect(fake.requests).toHaveLength(before)
  })
})

describe('the check', () => {
  const check = (changes: Partial<OpenConnection> = {}) =>
    adapter.check({ ...connection, ...changes }, signal)

  test('a number of the account is proven, as the SDK finds it', async () => {
    expect(await check()).toEqual({ kind: 'proven' })
    const [found] = await sdk.incomingPhoneNumbers.list({ phoneNumber: OURS, limit: 5 })
    expect(found!.phoneNumber).toBe(OURS)
  })

  test('a number of which ours is only a part is not ours', async () => {
    fake.numbers.push({ phone_number: '+141555501001', capabilities: { sms: true } })
    expect(await check({ routingKey: '+1415555010' })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining('not a number of'),
    })
  })

  test('a number of nobody', async () => {
    expect(await check({ routingKey: '+14155550999' })).toMatchObject({ kind: 'refused' })
  })

  test('a number that cannot send SMS', async () => {
    fake.numbers.push({ phone_number: '+14155550555', capabilities: { voice: true, sms: false } })
    expect(await check({ routingKey: '+14155550555' })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining('SMS'),
    })
  })

  test('other credentials', async () => {
    const credentials = { accountSid: fake.accountSid, authToken: 'f'.repeat(32) }
    expect(await check({ credentials })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining('authToken'),
    })
    expect(
      await check({ credentials: { ...credentials, accountSid: newSid('AC') } }),
    ).toMatchObject({ kind: 'refused' })
  })

  test.each([
    [{}, 'accountSid'],
    [{ accountSid: 'AC12' }, 'accountSid'],
    [{ accountSid: fake.accountSid }, 'authToken'],
  ] as const)('credentials that are missing are named', async (credentials, named) => {
    expect(await check({ credentials })).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining(named),
    })
  })

  test.each([{ status: 500 }, { status: 503 }, { status: 429, code: 20429 }])(
    'a Twilio that does not say: %p',
    async (failure) => {
      fake.fail(failure)
      expect(await check()).toMatchObject({ kind: 'unreachable' })
    },
  )
})
