/** What we ask of Meta for WhatsApp, and what its answers mean. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { whatsappForm } from '#domain/agent/channel/forms/whatsapp'
import type { OpenConnection, Outgoing } from '#port/channel/channel'
import { whatsAppAdapter } from '#port/channel/whatsapp/adapter'
import { graphError, openMeta } from '#test/support/channels/whatsapp'
import { business, NOW, whatsAppConnection } from '#test/support/channels/whatsapp-posts'
import { egressTo } from '#test/support/http/egress'
import type { ReceiverAnswer } from '#test/support/http/receiver'

const meta = await openMeta()
afterAll(() => meta[Symbol.asyncDispose]())
const adapter = whatsAppAdapter({
  egress: egressTo(meta.urls.whatsapp),
  urls: meta.urls,
  now: () => NOW,
})
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
const part = (more: Partial<Outgoing> = {}): Outgoing => ({
  id: 'r1',
  part: 0,
  text: 'two are due',
  replyTo,
  ...more,
})
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
      ...{
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '16505551234',
        type: 'text',
      },
      ...{
        text: { preview_url: false, body: '*due*: https://example.com 👩‍🚀' },
        context: { message_id: 'wamid.HBgLMTQx' },
      },
      biz_opaque_callback_data: part().id,
    })
    expect(meta.requests[0]).toMatchObject({
      method: 'POST',
      headers: { authorization: `Bearer ${business.accessToken}` },
    })
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
    const error =
      'the person wrote more than 24 hours ago: WhatsApp takes templates only (error 131047)'
    expect(await send(part({ replyTo: { to: '4915112345678' } }))).toEqual({
      kind: 'refused',
      of: 'message',
      error,
    })
  })

  test.each([
    ['nobody', {}],
    ['something else', { to: 7 }],
  ])('to %s is refused', async (_, to) => {
    expect(await send(part({ replyTo: to }))).toMatchObject({ kind: 'refused', of: 'message' })
    expect(meta.requests).toEqual([])
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'an expired token',
      { accessToken: 'EAAexpired' },
      'the access token has expired or was withdrawn (error 190)',
    ],
    [
      'the secret of another app',
      { appSecret: 'other' },
      'the app secret is not that of the app which the access token was made for',
    ],
  ])('with %s the connection is refused', async (_, credentials, error) => {
    expect(await send(part(), withCredentials(credentials))).toEqual({
      kind: 'refused',
      of: 'connection',
      error,
    })
    expect(meta.messages).toEqual([])
  })

  test('from a number that is gone, the connection is refused', async () => {
    const error = 'Meta has no such phone number, or the access token may not see it (error 33)'
    expect(await send(part(), { ...connection, routingKey: '999' })).toEqual({
      kind: 'refused',
      of: 'connection',
      error,
    })
  })

  const ofMessage = { kind: 'refused', of: 'message' }
  const ofConnection = { kind: 'refused', of: 'connection' }
  test.each<[code: number, status: number, object]>([
    [130429, 400, { kind: 'unsent' }],
    [80007, 400, { kind: 'unsent' }],
    [4, 400, { kind: 'unsent' }],
    [131048, 400, { kind: 'unsent' }],
    [131056, 400, { kind: 'unsent', retryAfterMs: 6_000 }],
    [131047, 400, ofMessage],
    [131026, 400, ofMessage],
    [131030, 400, ofMessage],
    [100, 400, { ...ofMessage, error: 'Meta refuses a parameter (error 100)' }],
    [131999, 400, { ...ofMessage, error: 'Meta refused (error 131999)' }],
    [0, 401, ofConnection],
    [190, 401, ofConnection],
    [10, 403, ofConnection],
    [200, 403, { ...ofConnection, error: 'the access token lacks a permission (error 200)' }],
    [131031, 403, ofConnection],
    [131042, 400, ofConnection],
    [368, 403, ofConnection],
    [133010, 400, ofConnection],
  ])('error %d', async (code, status, expected) => {
    meta.next.push(graphError(code, { status }))
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
    [
      'an answer that breaks off',
      { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"messages":' },
    ],
    ['no answer', { raw: '' }],
  ])('is unknown after %s, and was perhaps sent', async (_, answer) => {
    meta.next.push({ ...answer, taken: true })
    expect((await send()).kind).toBe('unknown')
    expect(meta.messages).toHaveLength(1)
    expect(meta.requests).toHaveLength(1)
  })

  test('says nothing of the provider’s words or of the token in an error', async () => {
    const message = `Malformed access token ${business.accessToken}`
    meta.next.push(graphError(190, { message }), graphError(1, { message }), {
      status: 400,
      body: message,
    })
    for (let i = 0; i < 3; i++) expect(JSON.stringify(await send())).not.toContain('EAAJ')
  })
})

test('an answer in Markdown arrives as WhatsApp writes it, in parts that Meta takes', async () => {
  const parts = whatsappForm(`**Two** are due\n\n${'They are long. '.repeat(500)}`)
  expect(parts.length).toBe(2)
  for (const [at, text] of parts.entries())
    expect((await send(part({ part: at, text }))).kind).toBe('sent')
  expect(meta.messages[0]!.text).toStartWith('*Two* are due\n')
})
