/** The channel of developers: what the library of Standard Webhooks signs is taken, and it accepts what we sign. */
import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import type { InboundPost } from '#port/channel/channel'
import { devAdapter } from '#port/channel/dev'
import { createEgress } from '#port/egress/egress'
import { newWebhookSecret } from '#port/webhook'
import { devConnection, devHeaders } from '#test/support/channels/dev-channel'
import { openReceiver, type Receiver } from '#test/support/http/receiver'

const now = Date.parse('2026-11-23T12:00:00Z')
const egressTo = (receiver?: Receiver) =>
  createEgress({ rules: { allow: new Set(receiver ? [`127.0.0.1:${receiver.port}`] : []), own: new Set() } })
const adapter = devAdapter(egressTo())
const connection = devConnection()
const secret = connection.credentials.secret!

const usual = { routingKey: 'desk', id: 'e1', sender: 'ada', text: 'hello' }

interface Changes {
  body?: string | Buffer
  headers?: Record<string, string | undefined>
  by?: string
  at?: Date
}

/** A post of these fields, signed as it is and then changed. */
const postOf = (fields: object = usual, { body, headers = {}, by = secret, at = new Date(now) }: Changes = {}): InboundPost => {
  const text = JSON.stringify(fields)
  const all = { ...devHeaders(text, { secret: by, at, id: 'w1' }), ...headers }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { url: 'https://example.com/webhooks/channels/dev', headers: new Headers(given), body: Buffer.from(body ?? text), now }
}

test.each([
  ['as the library signs it', postOf()],
  ['five minutes ago', postOf(usual, { at: new Date(now - 300_000) })],
  ['under the header of our API document', byOurHeader(postOf())],
  ['text of many bytes a character', postOf({ ...usual, text: 'été ☕ 漢字' })],
])('verified: %s', (_, post) => {
  expect(adapter.verify(post, connection)).toBe(true)
})

function byOurHeader(post: InboundPost): InboundPost {
  const headers = new Headers(post.headers)
  headers.set('x-webhook-signature', headers.get('webhook-signature')!)
  headers.delete('webhook-signature')
  return { ...post, headers }
}

test.each([
  ['another secret', postOf(usual, { by: newWebhookSecret() })],
  ['another body', postOf(usual, { body: JSON.stringify({ ...usual, text: 'hallo' }) })],
  ['another id', postOf(usual, { headers: { 'webhook-id': 'w2' } })],
  ['another time', postOf(usual, { headers: { 'webhook-timestamp': String(now / 1_000 - 1) } })],
  ['six minutes ago', postOf(usual, { at: new Date(now - 360_000) })],
  ['in six minutes', postOf(usual, { at: new Date(now + 360_000) })],
  ['no signature', postOf(usual, { headers: { 'webhook-signature': undefined } })],
  ['a signature that is no text of the standard', postOf(usual, { headers: { 'webhook-signature': 'v1,' } })],
])('not verified: %s', (_, post) => {
  expect(adapter.verify(post, connection)).toBe(false)
})

test.each([
  ['none', {}],
  ['an empty one', { secret: '' }],
  ['one of 15 bytes', { secret: 'x'.repeat(15) }],
  ['one whose base64 is short', { secret: 'whsec_YWJj' }],
])('a connection whose secret is %s takes no post and is not proven', async (_, credentials: Record<string, string>) => {
  const weak = devConnection({ credentials })
  // What a stranger would sign who knows how empty the secret is.
  expect(adapter.verify(postOf(usual, { by: 'whsec_YWJj' }), weak)).toBe(false)
  expect(await adapter.check(weak, AbortSignal.timeout(1_000))).toMatchObject({ kind: 'refused', error: expect.stringContaining('secret') })
})

test('a secret may be any text of sixteen bytes, for programs without a library', async () => {
  const plain = devConnection({ credentials: { secret: 'correct horse battery' } })
  const { createHmac } = await import('node:crypto')
  const body = JSON.stringify(usual)
  const value = createHmac('sha256', 'correct horse battery')
    .update(`w1.${now / 1_000}.${body}`)
    .digest('base64')
  const post = postOf(usual, { headers: { 'webhook-signature': `v1,${value}` } })
  expect(adapter.verify(post, plain)).toBe(true)
  expect(await adapter.check(plain, AbortSignal.timeout(1_000))).toEqual({ kind: 'proven' })
})

test('a post names its connection by its routing key', () => {
  expect(adapter.route(postOf())).toEqual({ kind: 'keys', keys: ['desk'] })
})

test.each([
  ['no JSON', Buffer.from('{')],
  ['no UTF-8', Buffer.of(0x22, 0xff, 0x22)],
  ['no object', Buffer.from('["desk"]')],
  ['null', Buffer.from('null')],
  ['nothing', Buffer.of()],
  ['no routing key', Buffer.from('{"text":"x"}')],
  ['a routing key that is no text', Buffer.from('{"routingKey":{"a":1}}')],
  ['a routing key that no connection can have', Buffer.from('{"routingKey":"a b"}')],
  ['nesting without end', Buffer.from('['.repeat(500_000))],
])('a post with %s names no connection and holds no message', (_, body) => {
  const post = { ...postOf(), body }
  expect(adapter.route(post)).toEqual({ kind: 'unknown' })
  expect(adapter.read(post, connection)).toEqual([])
})

test('a message has its sender, its text and where its answer goes', () => {
  expect(adapter.read(postOf({ ...usual, name: ' Ada ', thread: 't1' }), connection)).toEqual([
    {
      ...{ eventIds: ['e1'], sender: { id: 'ada', name: 'Ada' }, thread: 't1', isShared: true, subject: null, text: 'hello' },
      ...{ attachments: [], replyTo: { sender: 'ada', thread: 't1' }, directTo: { sender: 'ada', thread: null }, toFetch: null },
    },
  ])
})

test('without a thread, a message belongs to a conversation that its sender shares with nobody', () => {
  expect(adapter.read(postOf(), connection)[0]).toMatchObject({
    thread: 'direct',
    isShared: false,
    replyTo: { sender: 'ada', thread: null },
  })
})

test('without an id, a message is known by the id under which it was signed', () => {
  expect(adapter.read(postOf({ ...usual, id: undefined }), connection)[0]?.eventIds).toEqual(['w1'])
})

test('text that Postgres cannot keep is mended', () => {
  expect(adapter.read(postOf({ ...usual, text: 'a\0b\ud800' }), connection)[0]?.text).toBe('ab\ufffd')
})

test.each([
  ['a sender', { sender: '' }],
  ['a sender that is text', { sender: 5 }],
  ['a sender of at most 320 characters', { sender: 'x'.repeat(321) }],
  ['a sender of its own', { sender: 'page:01a206cc-abf0-7000-8000-000000000000' }],
  ['a text', { text: ' \n ' }],
  ['a text that is text', { text: ['x'] }],
  ['a text of at most 100,000 characters', { text: 'x'.repeat(100_001) }],
  ['an id of at most 256 characters', { id: 'x'.repeat(257) }],
  ['a name that is text', { name: 5 }],
  ['a thread of at most 256 characters', { thread: 'x'.repeat(257) }],
  ['attachments that are a list', { attachments: {} }],
  ['attachments that have names', { attachments: [{ text: 'x' }] }],
  ['at most twenty attachments', { attachments: Array.from({ length: 21 }, (_, index) => ({ name: `${index}.txt`, text: 'x' })) }],
])('a post without %s holds no message, and the field is named', (_, change) => {
  const post = postOf({ ...usual, ...change })
  expect(adapter.read(post, connection)).toEqual([])
  expect(adapter.flawOf!(post)).toMatch(new RegExp(`^${Object.keys(change)[0]} must (not )?be`))
})

test('a post for another connection holds no message for this one', () => {
  expect(adapter.read(postOf({ ...usual, routingKey: 'other' }), connection)).toEqual([])
})

test('a post without flaws has none', () => {
  expect(adapter.flawOf!(postOf())).toBeUndefined()
  expect(adapter.flawOf!(postOf({ ...usual, id: undefined, name: 'Ada', thread: 't', attachments: [{ name: 'a.pdf' }] }))).toBeUndefined()
})

test('attachments come with their text, and can be read', async () => {
  const attachments = [
    { name: 'a.md', mimeType: 'text/markdown', text: '# é' },
    { name: 'b.pdf', mimeType: 'application/pdf' },
  ]
  const [message] = adapter.read(postOf({ ...usual, attachments }), connection)
  expect(message?.attachments).toEqual([
    { name: 'a.md', mimeType: 'text/markdown', byteSize: 4, ref: { text: '# é' } },
    { name: 'b.pdf', mimeType: 'application/pdf', byteSize: null, ref: null },
  ])
  const got = await adapter.download!(connection, message!.attachments[0]!.ref!, AbortSignal.timeout(1_000))
  expect(got).toEqual({ kind: 'fetched', value: Buffer.from('# é') })
})

test.each(['desk', 'a.B-c_9', 'x'.repeat(64)])('a routing key can be %s', (key) => {
  expect(adapter.routingKeyOf(key)).toEqual({ key })
})

test.each(['', 'a b', 'x'.repeat(65), 'ä', 'a/b'])('a routing key cannot be "%s"', (key) => {
  expect(adapter.routingKeyOf(key)).toMatchObject({ error: expect.stringContaining('1 to 64') })
})

test.each([
  ['no text', { url: 5 }, 'config.url must be a string'],
  ['an address without TLS', { url: 'http://example.com/' }, 'config.url is refused: the URL must begin with https://'],
  ['a private address', { url: 'https://10.0.0.1/' }, 'config.url is refused: the address is not public'],
])('the address for replies cannot be %s', (_, config, error) => {
  expect(adapter.configError(config)).toBe(error)
})

test.each([[{}], [{ url: 'https://example.com/replies' }], [{ policy: 'anything' }]])('%j is a configuration', (config) => {
  expect(adapter.configError(config)).toBeUndefined()
})

const outgoing = { id: 'r1-0', replyTo: { sender: 'ada', thread: 't1' }, text: 'hi *there*', part: 0 }
const sendTo = (receiver: Receiver, signal = AbortSignal.timeout(5_000)) =>
  devAdapter(egressTo(receiver)).send({ ...connection, config: { url: receiver.url } }, outgoing, signal)

test('a reply without an address is sent by being kept', async () => {
  expect(await adapter.send(connection, outgoing, AbortSignal.timeout(1_000))).toEqual({ kind: 'sent', externalId: null })
})

test('a reply is posted once, and the library of the receiver accepts its signature', async () => {
  await using receiver = await openReceiver()
  expect(await sendTo(receiver)).toEqual({ kind: 'sent', externalId: null })
  expect(receiver.requests).toHaveLength(1)
  const { headers, body } = receiver.requests[0]!
  const read = new Webhook(secret).verify(body, headers as Record<string, string>)
  expect(read).toEqual({ id: 'r1-0', routingKey: 'desk', sender: 'ada', thread: 't1', part: 0, text: 'hi *there*' })
  expect(headers['webhook-id']).toBe('r1-0')
  expect(headers['x-webhook-signature']).toBe(headers['webhook-signature']!)
})

test.each([
  [200, { kind: 'sent' }],
  [400, { kind: 'refused', of: 'message' }],
  [401, { kind: 'refused', of: 'connection' }],
  [404, { kind: 'refused', of: 'connection' }],
  [410, { kind: 'refused', of: 'connection' }],
  [302, { kind: 'refused', of: 'message' }],
  [500, { kind: 'unknown' }],
  [502, { kind: 'unknown' }],
])('after the answer %i the reply is %j', async (status, expected) => {
  await using receiver = await openReceiver()
  receiver.answer = { status }
  expect(await sendTo(receiver)).toMatchObject(expected as { kind: 'sent' })
  expect(receiver.requests).toHaveLength(1)
})

test.each([429, 503])('a receiver that answers %i gets it later', async (status) => {
  await using receiver = await openReceiver()
  receiver.answer = { status, headers: { 'retry-after': '7' } }
  expect(await sendTo(receiver)).toEqual({ kind: 'unsent', error: `the receiver answered ${status}`, retryAfterMs: 7_000 })
})

test('a receiver that cannot be reached has got nothing', async () => {
  const receiver = await openReceiver()
  await receiver[Symbol.asyncDispose]()
  expect(await sendTo(receiver)).toMatchObject({ kind: 'unsent', error: 'the connection failed: ECONNREFUSED' })
})

test('of a reply that met a hanging or a broken receiver nothing is known', async () => {
  await using receiver = await openReceiver()
  receiver.answer = { hang: 'before' }
  const stopping = new AbortController()
  const sending = sendTo(receiver, stopping.signal)
  await receiver.received(1)
  stopping.abort()
  expect(await sending).toMatchObject({ kind: 'unknown' })
  receiver.answer = { raw: 'HTTP/1.1 2' }
  expect(await sendTo(receiver)).toMatchObject({ kind: 'unknown' })
})

test('an answer that breaks off after its status has taken the reply', async () => {
  await using receiver = await openReceiver()
  receiver.answer = { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf' }
  expect(await sendTo(receiver)).toMatchObject({ kind: 'sent' })
})

test('an address that is no longer allowed is a fault of the connection', async () => {
  const gone = { ...connection, config: { url: 'https://10.0.0.1/' } }
  expect(await adapter.send(gone, outgoing, AbortSignal.timeout(1_000))).toMatchObject({ kind: 'refused', of: 'connection' })
})
