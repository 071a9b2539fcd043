/** What we ask of Meta for WhatsApp, and what its answers mean. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { whatsappForm } from '#domain/agent/channel/forms/whatsapp'
import type { Outgoing } from '#port/channel/channel'
import { adapterCases, refused, unknown, unsent } from '#test/cases/channel-adapter'
import { useMeta } from '#test/support/channels/adapters'
import { graphError } from '#test/support/channels/whatsapp'
import {
  business,
  change,
  messagesOf,
  NOW,
  of,
  postOf,
  said,
  signedByMeta,
  whatsAppPost,
} from '#test/support/channels/whatsapp-posts'
import type { ReceiverAnswer } from '#test/support/http/receiver'

const { meta, adapter, connection } = await useMeta()
const { signal } = new AbortController()

const DAY_MS = 86_400_000
const replyTo = { to: '16505551234', messageId: 'wamid.HBgLMTQx', until: NOW + DAY_MS }
const message: Outgoing = { id: 'r1', part: 0, text: 'two are due', replyTo }
const send = (more: Partial<Outgoing> = {}, by = connection) =>
  adapter.send(by, { ...message, ...more }, signal)
const withCredentials = (more: Record<string, string>) => ({
  credentials: { ...connection.credentials, ...more },
})
const json = (body: object): ReceiverAnswer => ({ status: 200, body: JSON.stringify(body) })

const value = fc.anything()
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.tuple(value, value, value).map(([a, b, c]) => {
    const odd = said('', { text: b, type: c, context: a })
    const messages = [odd, of('contacts', b), of('interactive', c)]
    return Buffer.from(JSON.stringify(postOf([change({ contacts: a, messages })])))
  }),
  fc.constant(Buffer.from('['.repeat(200_000))),
  fc.constant(
    Buffer.from(
      `{"object":"whatsapp_business_account","entry":[${'{"changes":[]},'.repeat(20_000)}{}]}`,
    ),
  ),
)
const anything = fc
  .tuple(bytes, fc.option(fc.stringMatching(/^(sha256=)?[!-~]{0,80}$/)))
  .map(([body, header]) => {
    const headers = new Headers(header === null ? {} : { 'x-hub-signature-256': header })
    return { url: 'https://tendril.example.com/x', headers, body, now: NOW }
  })
const emptily = () => whatsAppPost(messagesOf(said('x')), { secret: '' })

/** Errors of the Graph API by their code, with their status. */
const codes: [code: number, status: number, object][] = [
  [130429, 400, unsent()],
  [80007, 400, unsent()],
  [4, 400, unsent()],
  [131048, 400, unsent()],
  [131056, 400, unsent(6_000)],
  [131047, 400, refused('message')],
  [131026, 400, refused('message')],
  [131030, 400, refused('message')],
  [100, 400, refused('message', 'Meta refuses a parameter (error 100)')],
  [131999, 400, refused('message', 'Meta refused (error 131999)')],
  [0, 401, refused('connection')],
  [190, 401, refused('connection')],
  [10, 403, refused('connection')],
  [200, 403, refused('connection', 'the access token lacks a permission (error 200)')],
  [131031, 403, refused('connection')],
  [131042, 400, refused('connection')],
  [368, 403, refused('connection')],
  [133010, 400, refused('connection')],
  [1, 500, unknown],
  [2, 503, unknown],
  [131000, 500, unknown],
  [131016, 500, unknown],
  [135000, 500, unknown],
]
const leak = `Malformed access token ${business.accessToken}`

adapterCases<ReceiverAnswer & { taken?: boolean }>({
  adapter,
  connection,
  posts: {
    keyless: [
      [{}, emptily],
      [{ appSecret: '' }, emptily],
    ],
    anything,
  },
  routingKeys: {
    read: { ' 106540352242922 ': '106540352242922' },
    refused: ['', '+15550783881', '123', '10654 035', 'x'],
  },
  calls: {
    message,
    requests: meta.requests,
    fail: (failure) => void meta.next.push(failure),
    outcomes: {
      ...Object.fromEntries(
        codes.map(([code, status, outcome]) => [
          `error ${code}`,
          [{ ...graphError(code, { status }), taken: outcome === unknown }, outcome] as const,
        ]),
      ),
      'a pause': [
        { status: 429, headers: { 'retry-after': '12' }, body: 'slow down' },
        unsent(12_000),
      ],
      'an error with a pause': [
        { ...graphError(130429, { status: 429 }), headers: { 'retry-after': '3' } },
        unsent(3_000),
      ],
      'a status of 502': [{ status: 502, body: '<html>Bad Gateway</html>' }, unknown],
      'an answer that is no JSON': [{ status: 200, body: 'OK' }, unknown],
      'an answer that breaks off': [
        { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"messages":' },
        unknown,
      ],
      'no answer': [{ raw: '' }, unknown],
    },
    leaks: {
      secret: 'EAAJ',
      failures: [
        graphError(190, { message: leak }),
        graphError(1, { message: leak }),
        { status: 400, body: leak },
      ],
    },
    unaddressed: { nobody: [{ replyTo: {} }], 'something else': [{ replyTo: { to: 7 } }] },
  },
  check: {
    refused: {
      'an expired token': [
        withCredentials({ accessToken: 'EAAexpired' }),
        'the access token has expired or was withdrawn (error 190)',
      ],
      'the secret of another app': [
        withCredentials({ appSecret: 'other' }),
        'the app secret is not that of the app',
      ],
      'a number of somebody else': [
        { routingKey: '999999' },
        'Meta has no such phone number, or the access token may not see it',
      ],
      'a short verify token': [
        withCredentials({ verifyToken: 'fifteen letters' }),
        'credentials.verifyToken must have at least 16 characters',
      ],
    },
    unreachable: { 'that it is busy': graphError(4), 'that it is broken': { status: 503 } },
  },
})

test('whatever the bytes are, they are taken if they are signed', () => {
  fc.assert(
    fc.property(anything, (post) => {
      const headers = new Headers(signedByMeta(business.appSecret, post.body))
      expect(adapter.verify({ ...post, headers }, connection)).toBe(true)
    }),
  )
})

test('a message quotes what it answers, and has no preview of its links', async () => {
  const sent = await send({ text: '*due*: https://example.com 👩‍🚀' })
  expect(sent).toEqual({ kind: 'sent', externalId: meta.messages[0]!.id })
  expect(meta.messages).toEqual([
    {
      id: expect.any(String),
      from: '106540352242922',
      to: '16505551234',
      text: '*due*: https://example.com 👩‍🚀',
      quotes: 'wamid.HBgLMTQx',
      ours: expect.any(String),
    },
  ])
  expect(JSON.parse(meta.requests[0]!.body)).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '16505551234',
    type: 'text',
    text: { preview_url: false, body: '*due*: https://example.com 👩‍🚀' },
    context: { message_id: 'wamid.HBgLMTQx' },
    biz_opaque_callback_data: message.id,
  })
  expect(meta.requests[0]).toMatchObject({
    method: 'POST',
    headers: { authorization: `Bearer ${business.accessToken}` },
  })
})

test('a message in parts quotes with the first alone', async () => {
  await send({ part: 1 })
  expect(meta.messages[0]).not.toHaveProperty('quotes')
})

test('a message reaches a person without a number by the id of the user', async () => {
  await send({ replyTo: { recipient: 'US.13491208655302741918' } })
  expect(meta.messages).toMatchObject([{ recipient: 'US.13491208655302741918' }])
})

test('a message is refused a day after the person wrote, without a request', async () => {
  expect((await send({ replyTo: { ...replyTo, until: NOW } })).kind).toBe('sent')
  meta.requests.length = 0
  const late = await send({ replyTo: { ...replyTo, until: NOW - 1 } })
  expect(late).toEqual({
    kind: 'refused',
    of: 'message',
    error: 'the person wrote more than 24 hours ago: WhatsApp takes no free text any more',
  })
  expect(meta.requests).toEqual([])
})

test('a message outside of a thread, which has no window that we know, is refused by Meta', async () => {
  meta.silent.add('4915112345678')
  const error =
    'the person wrote more than 24 hours ago: WhatsApp takes templates only (error 131047)'
  expect(await send({ replyTo: { to: '4915112345678' } })).toEqual({
    kind: 'refused',
    of: 'message',
    error,
  })
})

test.each([
  [
    withCredentials({ accessToken: 'EAAexpired' }),
    'the access token has expired or was withdrawn (error 190)',
  ],
  [
    withCredentials({ appSecret: 'other' }),
    'the app secret is not that of the app which the access token was made for',
  ],
  [
    { routingKey: '999' },
    'Meta has no such phone number, or the access token may not see it (error 33)',
  ],
])('a message is refused for the connection if that has %j', async (changes, error) => {
  expect(await send({}, { ...connection, ...changes })).toEqual({
    kind: 'refused',
    of: 'connection',
    error,
  })
  expect(meta.messages).toEqual([])
})

test('an answer in Markdown arrives as WhatsApp writes it, in parts that Meta takes', async () => {
  const parts = whatsappForm(`**Two** are due\n\n${'They are long. '.repeat(500)}`)
  expect(parts.length).toBe(2)
  for (const [at, text] of parts.entries())
    expect((await send({ part: at, text })).kind).toBe('sent')
  expect(meta.messages[0]!.text).toStartWith('*Two* are due\n')
})

test('the check proves the number, and learns it', async () => {
  expect(await adapter.check(connection, signal)).toEqual({
    kind: 'proven',
    learned: { displayPhoneNumber: '15550783881', verifiedName: 'Jasper’s Market' },
  })
  expect(meta.requests[0]!.url).toStartWith(
    '/v25.0/106540352242922?fields=id%2Cdisplay_phone_number%2Cverified_name&appsecret_proof=',
  )
})

test.each([
  { id: connection.routingKey, name: 'an app' },
  { id: '999999', display_phone_number: '15550783881' },
])('the check refuses what is not the id of this phone number: %j', async (found) => {
  meta.next.push(json(found))
  expect(await adapter.check(connection, signal)).toEqual({
    kind: 'refused',
    error: '106540352242922 is not the id of a phone number',
  })
})

test('what is learned must be text', () => {
  expect(adapter.configError({ displayPhoneNumber: '1', reply: 'auto' })).toBeUndefined()
  expect(adapter.configError({ verifiedName: [] })).toBe('verifiedName must be text')
})
