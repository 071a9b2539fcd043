/** The posts of the channel of developers: what the library of Standard Webhooks signs is taken. */
import { expect, test } from 'bun:test'
import type { InboundPost } from '#port/channel/channel'
import { devAdapter } from '#port/channel/dev'
import { newWebhookSecret } from '#port/webhook'
import { devConnection, devHeaders } from '#test/support/channels/dev-channel'
import { egressTo } from '#test/support/http/egress'

const now = Date.parse('2026-11-23T12:00:00Z')
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
const postOf = (
  fields: object = usual,
  { body, headers = {}, by = secret, at = new Date(now) }: Changes = {},
): InboundPost => {
  const text = JSON.stringify(fields)
  const all = { ...devHeaders(text, { secret: by, at, id: 'w1' }), ...headers }
  const given = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return {
    url: 'https://example.com/webhooks/channels/dev',
    headers: new Headers(given),
    body: Buffer.from(body ?? text),
    now,
  }
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
  [
    'a signature that is no text of the standard',
    postOf(usual, { headers: { 'webhook-signature': 'v1,' } }),
  ],
])('not verified: %s', (_, post) => {
  expect(adapter.verify(post, connection)).toBe(false)
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
  expect(await adapter.check(plain, AbortSignal.timeout(30_000))).toEqual({ kind: 'proven' })
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
      eventIds: ['e1'],
      sender: { id: 'ada', name: 'Ada' },
      thread: 't1',
      isShared: true,
      subject: null,
      text: 'hello',
      attachments: [],
      replyTo: { sender: 'ada', thread: 't1' },
      directTo: { sender: 'ada', thread: null },
      toFetch: null,
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
  expect(adapter.read(postOf({ ...usual, text: 'a\0b\ud800' }), connection)[0]?.text).toBe(
    'ab\ufffd',
  )
})

test.each([
  ['a sender', { sender: '' }],
  ['a sender that is text', { sender: 5 }],
  ['a sender of at most 320 characters', { sender: 'x'.repeat(321) }],
  ['a sender that is no object', { sender: { toString: '' } }],
  ['a sender of its own', { sender: 'page:01a206cc-abf0-7000-8000-000000000000' }],
  ['a sender of its own, spaces aside', { sender: ' page:01a206cc-abf0-7000-8000-000000000000' }],
  ['a text', { text: ' \n ' }],
  ['a text that is text', { text: ['x'] }],
  ['a text of at most 100,000 characters', { text: 'x'.repeat(100_001) }],
  ['an id of at most 256 characters', { id: 'x'.repeat(257) }],
  ['a name that is text', { name: 5 }],
  ['a thread of at most 256 characters', { thread: 'x'.repeat(257) }],
  ['attachments that are a list', { attachments: {} }],
  ['attachments that have names', { attachments: [{ text: 'x' }] }],
  [
    'at most twenty attachments',
    {
      attachments: Array.from({ length: 21 }, (_, index) => ({ name: `${index}.txt`, text: 'x' })),
    },
  ],
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
  expect(
    adapter.flawOf!(
      postOf({
        ...usual,
        id: undefined,
        name: 'Ada',
        thread: 't',
        attachments: [{ name: 'a.pdf' }],
      }),
    ),
  ).toBeUndefined()
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
  const got = await adapter.download!(
    connection,
    message!.attachments[0]!.ref!,
    AbortSignal.timeout(30_000),
  )
  expect(got).toEqual({ kind: 'fetched', value: Buffer.from('# é') })
})
