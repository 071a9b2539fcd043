/** Webhooks as sent, verified by the libraries that receivers use. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { newId } from '#kernel/ids'
import type { Egress } from '#port/egress/egress'
import {
  deliver,
  newWebhookSecret,
  retryAfterMs,
  signedHeaders,
  type WebhookDelivery,
} from '#port/webhook'
import { egressTo } from '#test/support/http/egress'
import { openReceiver, type Receiver } from '#test/support/http/receiver'
import { use } from '#test/support/use'

const libraries = [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const

let egress: Egress
const receiver = use(openReceiver)
beforeAll(() => {
  egress = egressTo(`http://127.0.0.1:${receiver.port}`)
})

const delivery = (more: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  url: receiver.url,
  message: {
    id: newId(),
    at: new Date(),
    body: '{"type":"growth.item.posted","data":{"text":"Grüße, “dock” 🚚"}}',
  },
  secrets: [newWebhookSecret()],
  deadlineMs: 5_000,
  ...more,
})

const running = new AbortController().signal

describe.each(libraries)('a receiver with %s', (_, Library) => {
  test('verifies what arrives, byte for byte, and nothing that was changed', async () => {
    receiver.answer = { status: 204 }
    const one = delivery()
    expect(await deliver(egress, one, running)).toEqual({ kind: 'accepted' })
    const { headers, body } = receiver.requests.splice(0)[0]!
    const library = new Library(one.secrets[0]!)
    const given = headers as Record<string, string>
    expect(library.verify(body, given)).toEqual(JSON.parse(one.message.body))
    expect(() => library.verify(body.replace('dock', 'duck'), given)).toThrow()
    expect(() => library.verify(body, { ...given, 'webhook-id': newId() })).toThrow()
    expect(() =>
      library.verify(body, {
        ...given,
        'webhook-timestamp': String(Number(given['webhook-timestamp']) + 1),
      }),
    ).toThrow()
    expect(() => new Library(newWebhookSecret()).verify(body, given)).toThrow()
  })

  test('refuses a captured message once it is old', () => {
    const one = delivery({
      message: { id: newId(), at: new Date(Date.now() - 6 * 60_000), body: '{}' },
    })
    expect(() =>
      new Library(one.secrets[0]!).verify('{}', signedHeaders(one.message, one.secrets)),
    ).toThrow()
  })

  test('verifies with either of two secrets during a rotation', () => {
    const one = delivery({ secrets: [newWebhookSecret(), newWebhookSecret()] })
    const headers = signedHeaders(one.message, one.secrets)
    for (const secret of one.secrets)
      expect(new Library(secret).verify(one.message.body, headers)).toBeTruthy()
    expect(() => new Library(newWebhookSecret()).verify(one.message.body, headers)).toThrow()
  })

  test('signs as we do', () => {
    const { message, secrets } = delivery()
    const at = new Date(Math.floor(message.at.getTime() / 1_000) * 1_000)
    expect(signedHeaders(message, secrets)['webhook-signature']).toBe(
      new Library(secrets[0]!).sign(message.id, at, message.body),
    )
  })
})

test('X-Webhook-Signature is HMAC-SHA256 over id, timestamp and body, under the bytes behind whsec_', () => {
  const { message, secrets } = delivery()
  const headers = signedHeaders(message, secrets)
  const key = Buffer.from(secrets[0]!.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${message.body}`
  expect(headers['x-webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  )
})

test('a secret has 32 random bytes', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  for (const secret of secrets)
    expect(Buffer.from(/^whsec_([0-9A-Za-z+/]{43}=)$/.exec(secret)![1]!, 'base64')).toHaveLength(32)
  expect(new Set(secrets).size).toBe(100)
})

describe('an answer of', () => {
  const cases: [name: string, answer: Receiver['answer'], outcome: object][] = [
    ['200', { status: 200, body: 'ok' }, { kind: 'accepted' }],
    ['299', { status: 299 }, { kind: 'accepted' }],
    [
      '200 with an endless body',
      { status: 200, body: 'x'.repeat(2_000_000) },
      { kind: 'accepted' },
    ],
    ['302', { status: 302, headers: { location: '/' } }, { kind: 'failed', reason: 'http 302' }],
    [
      '400',
      { status: 400, headers: { 'retry-after': '9' } },
      { kind: 'failed', reason: 'http 400' },
    ],
    ['410', { status: 410 }, { kind: 'gone' }],
    [
      '429 with Retry-After',
      { status: 429, headers: { 'retry-after': '120' } },
      { kind: 'failed', reason: 'http 429', retryAfterMs: 120_000 },
    ],
    [
      '503 with Retry-After',
      { status: 503, headers: { 'retry-after': '1' } },
      { kind: 'failed', reason: 'http 503', retryAfterMs: 1_000 },
    ],
    ['503 without', { status: 503 }, { kind: 'failed', reason: 'http 503' }],
    ['nothing', { raw: '' }, { kind: 'failed', reason: 'ECONNRESET' }],
  ]
  test.each(cases)('%s', async (_, answer, outcome) => {
    receiver.answer = answer
    expect(await deliver(egress, delivery(), running)).toMatchObject(outcome)
    expect(receiver.requests.splice(0)).toHaveLength(1)
  })

  test('nobody, as the address is forbidden', async () => {
    expect(await deliver(egress, delivery({ url: 'https://192.168.1.1/' }), running)).toEqual({
      kind: 'failed',
      reason: 'refused: the address is not public',
    })
    receiver.answer = { hang: 'before' }
    expect(await deliver(egress, delivery({ deadlineMs: 50 }), running)).toEqual({
      kind: 'failed',
      reason: 'timeout',
    })
    receiver.requests.splice(0)
  })

  test('nobody yet, when the server stops', async () => {
    const stopping = new AbortController()
    receiver.answer = { hang: 'before' }
    const sent = deliver(egress, delivery(), stopping.signal)
    await receiver.received(1)
    stopping.abort()
    expect(await sent).toEqual({ kind: 'stopped' })
    receiver.requests.splice(0)
  })
})

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(retryAfterMs('120', now)).toBe(120_000)
  expect(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000)
  expect(retryAfterMs('Wed, 31 Dec 2025 23:59:00 GMT', now)).toBe(0)
  for (const nonsense of [undefined, '', 'soon', '-5', '9'.repeat(20), ['1', '2']])
    expect(retryAfterMs(nonsense, now)).toBeUndefined()
})
