/** What we ask of Meta for WhatsApp, and what its answers mean. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { whatsappForm } from '#domain/agent/channel/forms/whatsapp'
import type { OpenConnection, Outgoing } from '#port/channel/channel'
import { whatsAppAdapter } from '#port/channel/whatsapp/adapter'
import { createEgress } from '#port/egress/egress'
import { graphError, openMeta } from '#test/support/channels/whatsapp'
import { business, NOW, whatsAppConnection } from '#test/support/channels/whatsapp-posts'
import { eventually } from '#test/support/eventually'
import type { ReceiverAnswer } from '#test/support/http/receiver'

const meta = await openMeta()
afterAll(() => meta[Symbol.asyncDispose]())
const egressTo = (url: string) => createEgress({ rules: { allow: new Set([new URL(url).host]), own: new Set() } })
const adapter = whatsAppAdapter({ egress: egressTo(meta.urls.whatsapp), urls: meta.urls, now: () => NOW })
const connection = whatsAppConnection()
const { signal } = new AbortController()

beforeEach(() => {
  meta.messages.length = 0
  meta.requests.length = 0
})

const withCredentials = (more: Record<string, string>, of: OpenConnection = connection) => ({
  ...of,
  credentials: { ...of.credentials, ...more },
})
const DAY_MS = 86_400_000
const replyTo = { to: '16505551234', messageId: 'wamid.HBgLMTQx', until: NOW + DAY_MS }
const part = (more: Partial<Outgoing> = {}): Outgoing => ({ id: 'r1', part: 0, text: 'two are due', replyTo, ...more })
const send = (message = part(), by = connection) => adapter.send(by, message, signal)

describe('a message', () => {
  test('quotes what it answers, and has no preview of its links', async () => {
    const sent = await send(part({ text: '*due*: https://example.com 👩‍🚀' }))
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
      ...{ messaging_product: 'whatsapp', recipient_type: 'individual', to: '16505551234', type: 'text' },
      ...{ text: { preview_url: false, body: '*due*: https://example.com 👩‍🚀' }, context: { message_id: 'wamid.HBgLMTQx' } },
      biz_opaque_callback_data: part().id,
    })
    expect(meta.requests[0]).toMatchObject({ method: 'POST', headers: { authorization: `Bearer ${business.accessToken}` } })
  })

  test('in parts quotes with the first alone', async () => {
    await send(part({ part: 1 }))
    expect(meta.messages[0]).not.toHaveProperty('quotes')
  })

  test('reaches a person without a number by the id of the user', async () => {
    await send(part({ replyTo: { recipient: 'US.13491208655302741918' } }))
    expect(meta.messages).toMatchObject([{ recipient: 'US.13491208655302741918' }])
  })

  test('is refused a day after the person wrote, without a request', async () => {
    expect((await send(part({ replyTo: { ...replyTo, until: NOW } }))).kind).toBe('sent')
    meta.requests.length = 0
    const late = await send(part({ replyTo: { ...replyTo, until: NOW - 1 } }))
    expect(late).toEqual({
      kind: 'refused',
      of: 'message',
      error: 'the person wrote more than 24 hours ago: WhatsApp takes no free text any more',
    })
    expect(meta.requests).toEqual([])
  })

  test('outside of a thread, which has no window that we know, is refused by Meta', async () => {
    meta.silent.add('4915112345678')
    const error = 'the person wrote more than 24 hours ago: WhatsApp takes templates only (error 131047)'
    expect(await send(part({ replyTo: { to: '4915112345678' } }))).toEqual({ kind: 'refused', of: 'message', error })
  })

  test.each([
    ['nobody', {}],
    ['something else', { to: 7 }],
  ])('to %s is refused', async (_, to) => {
    expect(await send(part({ replyTo: to }))).toMatchObject({ kind: 'refused', of: 'message' })
    expect(meta.requests).toEqual([])
  })

  test.each<[string, Record<string, string>, string]>([
    ['an expired token', { accessToken: 'EAAexpired' }, 'the access token has expired or was withdrawn (error 190)'],
    ['the secret of another app', { appSecret: 'other' }, 'the app secret is not that of the app which the access token was made for'],
  ])('with %s the connection is refused', async (_, credentials, error) => {
    expect(await send(part(), withCredentials(credentials))).toEqual({ kind: 'refused', of: 'connection', error })
    expect(meta.messages).toEqual([])
  })

  test('from a number that is gone, the connection is refused', async () => {
    const error = 'Meta has no such phone number, or the access token may not see it (error 33)'
    expect(await send(part(), { ...connection, routingKey: '999' })).toEqual({ kind: 'refused', of: 'connection', error })
  })

  test.each<[number, ReceiverAnswer, object]>([
    [130429, graphError(130429), { kind: 'unsent' }],
    [80007, graphError(80007), { kind: 'unsent' }],
    [4, graphError(4), { kind: 'unsent' }],
    [131048, graphError(131048), { kind: 'unsent' }],
    [131056, graphError(131056), { kind: 'unsent', retryAfterMs: 6_000 }],
    [131047, graphError(131047), { kind: 'refused', of: 'message' }],
    [131026, graphError(131026), { kind: 'refused', of: 'message' }],
    [131030, graphError(131030), { kind: 'refused', of: 'message' }],
    [100, graphError(100), { kind: 'refused', of: 'message', error: 'Meta refuses a parameter (error 100)' }],
    [131999, graphError(131999), { kind: 'refused', of: 'message', error: 'Meta refused (error 131999)' }],
    [0, graphError(0, { status: 401 }), { kind: 'refused', of: 'connection' }],
    [190, graphError(190, { status: 401 }), { kind: 'refused', of: 'connection' }],
    [10, graphError(10, { status: 403 }), { kind: 'refused', of: 'connection' }],
    [
      200,
      graphError(200, { status: 403 }),
      { kind: 'refused', of: 'connection', error: 'the access token lacks a permission (error 200)' },
    ],
    [131031, graphError(131031, { status: 403 }), { kind: 'refused', of: 'connection' }],
    [131042, graphError(131042), { kind: 'refused', of: 'connection' }],
    [368, graphError(368, { status: 403 }), { kind: 'refused', of: 'connection' }],
    [133010, graphError(133010), { kind: 'refused', of: 'connection' }],
  ])('error %d', async (_, answer, expected) => {
    meta.next.push(answer)
    expect(await send()).toMatchObject(expected)
  })

  test('waits as long as Meta asks', async () => {
    meta.next.push(
      { status: 429, headers: { 'retry-after': '12' }, body: 'slow down' },
      { ...graphError(130429, { status: 429 }), headers: { 'retry-after': '3' } },
    )
    expect(await send()).toMatchObject({ kind: 'unsent', retryAfterMs: 12_000 })
    expect(await send()).toMatchObject({ kind: 'unsent', retryAfterMs: 3_000 })
  })

  test.each<[string, ReceiverAnswer]>([
    ['error 1', graphError(1, { status: 500 })],
    ['error 2', graphError(2, { status: 503 })],
    ['error 131000', graphError(131000, { status: 500 })],
    ['error 131016', graphError(131016, { status: 500 })],
    ['any error with a status of 500', graphError(135000, { status: 500 })],
    ['a status of 502', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['an answer that is no JSON', { status: 200, body: 'OK' }],
    ['an answer that breaks off', { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"messages":' }],
    ['no answer', { raw: '' }],
  ])('is unknown after %s, and was perhaps sent', async (_, answer) => {
    meta.next.push({ ...answer, taken: true })
    expect((await send()).kind).toBe('unknown')
    expect(meta.messages).toHaveLength(1)
    expect(meta.requests).toHaveLength(1)
  })

  test('is unsent if Meta cannot be reached, and unknown if the wait was stopped', async () => {
    await using gone = await openMeta()
    const other = whatsAppAdapter({ egress: egressTo(gone.urls.whatsapp), urls: gone.urls, now: () => NOW })
    gone.next.push({ hang: 'before' })
    const stopping = new AbortController()
    const sending = other.send(connection, part(), stopping.signal)
    await eventually(
      async () => gone.requests.length,
      (count) => count > 0,
    )
    stopping.abort()
    expect((await sending).kind).toBe('unknown')
    await gone[Symbol.asyncDispose]()
    expect((await other.send(connection, part(), signal)).kind).toBe('unsent')
  })

  test('says nothing of the provider’s words or of the token in an error', async () => {
    const message = `Malformed access token ${business.accessToken}`
    meta.next.push(graphError(190, { message }), graphError(1, { message }), { status: 400, body: message })
    for (let i = 0; i < 3; i++) expect(JSON.stringify(await send())).not.toContain('EAAJ')
  })
})

describe('the check', () => {
  const check = (by = connection) => adapter.check(by, signal)

  test('proves the number, and learns it', async () => {
    expect(await check()).toEqual({ kind: 'proven', learned: { displayPhoneNumber: '15550783881', verifiedName: 'Jasper’s Market' } })
    expect(meta.requests[0]!.url).toStartWith('/v25.0/106540352242922?fields=id%2Cdisplay_phone_number%2Cverified_name&appsecret_proof=')
  })

  test.each<[string, OpenConnection, string]>([
    ['an expired token', withCredentials({ accessToken: 'EAAexpired' }), 'the access token has expired or was withdrawn (error 190)'],
    ['the secret of another app', withCredentials({ appSecret: 'other' }), 'the app secret is not that of the app'],
    [
      'a number of somebody else',
      { ...connection, routingKey: '999999' },
      'Meta has no such phone number, or the access token may not see it',
    ],
    [
      'a short verify token',
      withCredentials({ verifyToken: 'fifteen letters' }),
      'credentials.verifyToken must have at least 16 characters',
    ],
  ])('refuses %s', async (_, by, error) => {
    expect(await check(by)).toEqual({ kind: 'refused', error: expect.stringContaining(error) })
  })

  test('refuses the id of something that is no phone number', async () => {
    meta.next.push({ status: 200, body: JSON.stringify({ id: connection.routingKey, name: 'an app' }) })
    expect(await check()).toEqual({ kind: 'refused', error: '106540352242922 is not the id of a phone number' })
  })

  test('refuses an answer about another number', async () => {
    meta.next.push({ status: 200, body: JSON.stringify({ id: '999999', display_phone_number: '15550783881' }) })
    expect((await check()).kind).toBe('refused')
  })

  test.each<[string, ReceiverAnswer]>([
    ['is busy', graphError(4)],
    ['is broken', { status: 503 }],
    ['breaks off', { raw: '' }],
  ])('proves and refuses nothing if Meta %s', async (_, answer) => {
    meta.next.push(answer)
    expect((await check()).kind).toBe('unreachable')
  })
})

test('an answer in Markdown arrives as WhatsApp writes it, in parts that Meta takes', async () => {
  const parts = whatsappForm(`**Two** are due\n\n${'They are long. '.repeat(500)}`)
  expect(parts.length).toBe(2)
  for (const [at, text] of parts.entries()) expect((await send(part({ part: at, text }))).kind).toBe('sent')
  expect(meta.messages[0]!.text).toStartWith('*Two* are due\n')
})

test('the routing key is the id of a phone number', () => {
  expect(adapter.routingKeyOf(' 106540352242922 ')).toEqual({ key: '106540352242922' })
  for (const text of ['', '+15550783881', '123', '10654 035', 'x']) expect(adapter.routingKeyOf(text)).toHaveProperty('error')
})

test('what is learned must be text', () => {
  expect(adapter.configError({ displayPhoneNumber: '1', reply: 'auto' })).toBeUndefined()
  expect(adapter.configError({ verifiedName: [] })).toBe('verifiedName must be text')
})
