/** What we ask of Twilio. Its SDK gets the same answers of the server that plays it. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import twilio from 'twilio'
import type RequestClient from 'twilio/lib/base/RequestClient'
import { smsAdapter } from '#port/channel/sms/adapter'
import { adapterCases, refused, unknown, unsent } from '#test/cases/channel-adapter'
import { useTwilio } from '#test/support/channels/adapters'
import { postOf } from '#test/support/channels/posts'
import type { TwilioFailure } from '#test/support/channels/twilio'
import { newSid } from '#test/support/channels/twilio-posts'
import { egressTo } from '#test/support/http/egress'
import { openReceiver } from '#test/support/http/receiver'

const { fake, adapter, connection, ours: OURS, sender: SENDER, sms } = useTwilio()
const { signal } = new AbortController()
const message = { id: 'r1:0', replyTo: { to: SENDER }, text: 'Two items are due.', part: 0 }
const ADDRESS = 'https://tendril.example.com/webhooks/channels/sms'

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

const types = fc.constantFrom(
  'application/x-www-form-urlencoded',
  'application/json',
  'multipart/form-data; boundary=x',
  'text/plain',
  '',
)
const urls = fc.constantFrom(
  ADDRESS,
  `${ADDRESS}?bodySHA256=00`,
  `${ADDRESS}?%`,
  'https://[::1]:8443/a?b',
)
const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .array(
      fc.tuple(
        fc.constantFrom('To', 'From', 'Body', 'NumMedia', 'MediaUrl0', 'MessageSid'),
        fc.string(),
      ),
    )
    .map((pairs) => Buffer.from(pairs.map((pair) => pair.join('=')).join('&'))),
)
const anything = fc.tuple(types, urls, bodies, fc.string()).map(([type, url, body, signature]) => {
  const text = Buffer.from(signature)
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '')
  const headers = new Headers({ 'content-type': type, 'x-twilio-signature': text })
  return { url, headers, body, now: 0 }
})
const emptily = () => postOf(fake.post(ADDRESS, sms(), { by: '' }))

const by = (status: number, code: number, more: object = {}): TwilioFailure => ({
  status,
  code,
  ...more,
})
const after = (seconds: string) => ({ headers: { 'retry-after': seconds } })
const { accountSid, authToken } = fake
const given = (credentials: Record<string, string>) => ({ credentials })

adapterCases<TwilioFailure>({
  adapter,
  connection,
  posts: {
    keyless: [
      [{}, emptily],
      [{ authToken: '' }, emptily],
    ],
    anything,
  },
  routingKeys: {
    read: {
      '+1 (415) 555-0100': '+14155550100',
      '+14155550100': '+14155550100',
      ' +49 151 1234.5678 ': '+4915112345678',
    },
    refused: ['4155550100', '+0123456789', '+14155550100123456', '12345', 'Tendril', ''],
  },
  calls: {
    message,
    requests: fake.requests,
    fail: fake.fail,
    outcomes: {
      'too many requests': [by(429, 20429, after('7')), unsent(7_000)],
      'too many requests, without a time': [by(429, 20429), unsent()],
      'a wait beyond reason': [by(429, 20429, after('999999')), unsent(3_600_000)],
      'a full queue of the number': [by(400, 21611), unsent()],
      'a full queue': [by(400, 30001), unsent()],
      'other credentials': [by(401, 20003), refused('connection')],
      'no permission': [by(403, 0), refused('connection')],
      'a suspended account': [by(400, 30002), refused('connection')],
      'an account that is not active': [by(401, 20005), refused('connection')],
      'a number of another account': [by(400, 21660), refused('connection')],
      'a number without SMS': [by(400, 21606), refused('connection')],
      'a number that is not registered': [by(400, 30034), refused('connection')],
      'a landline': [by(400, 21614), refused('message')],
      'a number that is none': [by(400, 21211), refused('message')],
      'a country that is not switched on': [by(403, 21408), refused('message')],
      'a number that is not verified for a trial': [by(400, 21608), refused('message')],
      'a filter': [by(400, 30007), refused('message')],
      'a phone that is off': [by(400, 30003), refused('message')],
      'an error that nobody knows yet': [by(400, 29999), refused('message')],
      'an error that is no JSON': [{ status: 400, body: '<html>' }, refused('message')],
      'a failure of Twilio': [by(500, 20500), unknown],
      'a gateway': [{ status: 502, body: '<html>' }, unknown],
      'a service that is not there': [by(503, 20503), unknown],
      'a redirect, which is not followed': [
        { status: 302, body: '', headers: { location: 'https://evil.example.com/' } },
        unknown,
      ],
      'an answer that is no JSON': [
        { status: 201, body: 'ok' },
        { kind: 'sent', externalId: null },
      ],
    },
    leaks: {
      secret: authToken,
      failures: [20003, 1].map((code) => {
        const body = JSON.stringify({ code, message: `Authenticate ${authToken}` })
        return { status: code === 1 ? 400 : 401, body }
      }),
    },
    unaddressed: {
      'no account': [{}, { authToken: 'x' }],
      'an account that is a path': [{}, { accountSid: '../../x', authToken: 'x' }],
      'no auth token': [{}, { accountSid }],
      'no recipient': [{ replyTo: {} }],
      'a recipient that is no number': [{ replyTo: { to: 'ada@example.com' } }],
    },
  },
  check: {
    refused: {
      'a number of nobody': [{ routingKey: '+14155550999' }, 'not a number of'],
      'another auth token': [given({ accountSid, authToken: 'f'.repeat(32) }), 'authToken'],
      'another account': [given({ accountSid: newSid('AC'), authToken: 'f'.repeat(32) }), ''],
      'no credentials': [given({}), 'accountSid'],
      'an account that is none': [given({ accountSid: 'AC12' }), 'accountSid'],
      'no auth token': [given({ accountSid }), 'authToken'],
    },
    unreachable: { 500: { status: 500 }, 503: { status: 503 }, 429: by(429, 20429) },
  },
})

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

test('an answer that breaks off in its body was one', async () => {
  await using receiver = await openReceiver()
  receiver.answer = {
    raw: 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"sid":"SM',
  }
  const twilio = `http://127.0.0.1:${receiver.port}`
  const cut = smsAdapter({ egress: egressTo(twilio), urls: { twilio } })
  expect(await cut.send(connection, message, signal)).toEqual({ kind: 'sent', externalId: null })
})

test('a number of the account is proven, as the SDK finds it', async () => {
  expect(await adapter.check(connection, signal)).toEqual({ kind: 'proven' })
  const [found] = await sdk.incomingPhoneNumbers.list({ phoneNumber: OURS, limit: 5 })
  expect(found!.phoneNumber).toBe(OURS)
})

test('a number of which ours is only a part is not ours', async () => {
  fake.numbers.push({ phone_number: '+141555501001', capabilities: { sms: true } })
  expect(await adapter.check({ ...connection, routingKey: '+1415555010' }, signal)).toMatchObject({
    kind: 'refused',
    error: expect.stringContaining('not a number of'),
  })
})

test('a number that cannot send SMS', async () => {
  fake.numbers.push({ phone_number: '+14155550555', capabilities: { voice: true, sms: false } })
  expect(await adapter.check({ ...connection, routingKey: '+14155550555' }, signal)).toMatchObject({
    kind: 'refused',
    error: expect.stringContaining('SMS'),
  })
})
