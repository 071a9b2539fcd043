/** Which tokens prove a number of WhatsApp, and which keys name one. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { OpenConnection } from '#port/channel/channel'
import { whatsAppAdapter } from '#port/channel/whatsapp/adapter'
import { graphError, openMeta } from '#test/support/channels/whatsapp'
import { NOW, whatsAppConnection } from '#test/support/channels/whatsapp-posts'
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

describe('the check', () => {
  const check = (by = connection) => adapter.check(by, signal)

  test('proves the number, and learns it', async () => {
    expect(await check()).toEqual({
      kind: 'proven',
      learned: { displayPhoneNumber: '15550783881', verifiedName: 'Jasper’s Market' },
    })
    expect(meta.requests[0]!.url).toStartWith(
      '/v25.0/106540352242922?fields=id%2Cdisplay_phone_number%2Cverified_name&appsecret_proof=',
    )
  })

  test.each<[string, OpenConnection, string]>([
    [
      'an expired token',
      withCredentials({ accessToken: 'EAAexpired' }),
      'the access token has expired or was withdrawn (error 190)',
    ],
    [
      'the secret of another app',
      withCredentials({ appSecret: 'other' }),
      'the app secret is not that of the app',
    ],
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
    meta.next.push({
      status: 200,
      body: JSON.stringify({ id: connection.routingKey, name: 'an app' }),
    })
    expect(await check()).toEqual({
      kind: 'refused',
      error: '106540352242922 is not the id of a phone number',
    })
  })

  test('refuses an answer about another number', async () => {
    meta.next.push({
      status: 200,
      body: JSON.stringify({ id: '999999', display_phone_number: '15550783881' }),
    })
    expect((await check()).kind).toBe('refused')
  })

  test.each<[string, ReceiverAnswer]>([
    ['is busy', graphError(4)],
    ['is broken', { status: 503 }],
  ])('proves and refuses nothing if Meta %s', async (_, answer) => {
    meta.next.push(answer)
    expect((await check()).kind).toBe('unreachable')
  })
})

test('the routing key is the id of a phone number', () => {
  expect(adapter.routingKeyOf(' 106540352242922 ')).toEqual({ key: '106540352242922' })
  for (const text of ['', '+15550783881', '123', '10654 035', 'x'])
    expect(adapter.routingKeyOf(text)).toHaveProperty('error')
})

test('what is learned must be text', () => {
  expect(adapter.configError({ displayPhoneNumber: '1', reply: 'auto' })).toBeUndefined()
  expect(adapter.configError({ verifiedName: [] })).toBe('verifiedName must be text')
})
