/** Replies to the programs of developers: the library of Standard Webhooks accepts what we sign. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { devAdapter } from '#port/channel/dev'
import { adapterCases, refused, unknown, unsent } from '#test/cases/channel-adapter'
import { devConnection, devHeaders } from '#test/support/channels/dev-channel'
import { egressTo } from '#test/support/http/egress'
import { openReceiver, type ReceiverAnswer } from '#test/support/http/receiver'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
beforeEach(() => {
  receiver.answer = {}
})
const { url } = receiver
const adapter = devAdapter(egressTo(url))
const connection = devConnection({ config: { url } })
const secret = connection.credentials.secret!
const { signal } = new AbortController()
const message = {
  id: 'r1-0',
  text: 'hi *there*',
  part: 0,
  replyTo: { sender: 'ada', thread: 't1' },
}

const posted = (body: Uint8Array, headers: Record<string, string>) => ({
  url: 'https://example.com/x',
  headers: new Headers(headers),
  body,
  now: Date.now(),
})
const TEXT = JSON.stringify({ routingKey: 'desk', id: 'e1', sender: 'ada', text: 'hello' })
/** What a stranger signs who knows how empty the secret is. */
const guessed = () => posted(Buffer.from(TEXT), devHeaders(TEXT, { secret: 'whsec_YWJj' }))
/** Of which no secret can be made: none, an empty one, one of 15 bytes, one of short base64. */
const weak: Record<string, string>[] = [
  ...[{}, { secret: '' }, { secret: 'x'.repeat(15) }, { secret: 'whsec_YWJj' }],
]
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .dictionary(fc.constantFrom('routingKey', 'id', 'sender', 'text', 'attachments'), fc.anything())
    .map((fields) => Buffer.from(JSON.stringify({ routingKey: 'desk', ...fields }))),
)
const header = fc.stringMatching(/^[!-~]{0,60}$/)
const later = (status: number): ReceiverAnswer => ({ status, headers: { 'retry-after': '7' } })

adapterCases<ReceiverAnswer>({
  adapter,
  connection,
  posts: {
    keyless: weak.map((credentials) => [credentials, guessed] as const),
    anything: fc.tuple(bytes, header, header).map(([body, id, signature]) => {
      const at = { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) }
      return posted(body, { ...at, 'webhook-id': id, 'webhook-signature': signature })
    }),
  },
  routingKeys: {
    read: Object.fromEntries(['desk', 'a.B-c_9', 'x'.repeat(64)].map((key) => [key, key])),
    refused: ['', 'a b', 'x'.repeat(65), 'ä', 'a/b'],
  },
  calls: {
    message,
    requests: receiver.requests,
    fail(answer) {
      receiver.answer = answer
    },
    outcomes: {
      200: [{ status: 200 }, { kind: 'sent', externalId: null }],
      302: [{ status: 302 }, refused('message')],
      400: [{ status: 400 }, refused('message')],
      401: [{ status: 401 }, refused('connection')],
      404: [{ status: 404 }, refused('connection')],
      410: [{ status: 410 }, refused('connection')],
      429: [later(429), { ...unsent(7_000), error: 'the receiver answered 429' }],
      500: [{ status: 500 }, unknown],
      502: [{ status: 502 }, unknown],
      503: [later(503), { ...unsent(7_000), error: 'the receiver answered 503' }],
      'an answer that breaks off after its status': [
        { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf' },
        { kind: 'sent' },
      ],
    },
    leaks: { secret, failures: [{ status: 400, body: secret }] },
    unaddressed: {},
  },
  check: {
    refused: Object.fromEntries(
      weak.map((credentials) => [
        `a secret that can be guessed: ${JSON.stringify(credentials)}`,
        [{ credentials }, 'secret'] as const,
      ]),
    ),
    unreachable: {},
  },
})

test.each([
  ['no text', { url: 5 }, 'config.url must be a string'],
  [
    'an address without TLS',
    { url: 'http://example.com/' },
    'config.url is refused: the URL must begin with https://',
  ],
  [
    'a private address',
    { url: 'https://10.0.0.1/' },
    'config.url is refused: the address is not public',
  ],
])('the address for replies cannot be %s', (_, config, error) => {
  expect(adapter.configError(config)).toBe(error)
})

test.each([[{}], [{ url: 'https://example.com/replies' }], [{ policy: 'anything' }]])(
  '%j is a configuration',
  (config) => {
    expect(adapter.configError(config)).toBeUndefined()
  },
)

test('a reply without an address is sent by being kept', async () => {
  expect(await adapter.send(devConnection(), message, signal)).toEqual({
    kind: 'sent',
    externalId: null,
  })
})

test('a reply is posted once, and the library of the receiver accepts its signature', async () => {
  receiver.requests.length = 0
  expect(await adapter.send(connection, message, signal)).toEqual({
    kind: 'sent',
    externalId: null,
  })
  expect(receiver.requests).toHaveLength(1)
  const { headers, body } = receiver.requests[0]!
  const read = new Webhook(secret).verify(body, headers as Record<string, string>)
  expect(read).toEqual({
    id: 'r1-0',
    routingKey: 'desk',
    sender: 'ada',
    thread: 't1',
    part: 0,
    text: 'hi *there*',
  })
  expect(headers['webhook-id']).toBe('r1-0')
  expect(headers['x-webhook-signature']).toBe(headers['webhook-signature']!)
})
