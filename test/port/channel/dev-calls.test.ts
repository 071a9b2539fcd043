/** Replies to the programs of developers: the library of Standard Webhooks accepts what we sign. */
import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { devAdapter } from '#port/channel/dev'
import { devConnection } from '#test/support/channels/dev-channel'
import { egressTo } from '#test/support/http/egress'
import { openReceiver, type Receiver } from '#test/support/http/receiver'

const adapter = devAdapter(egressTo())
const connection = devConnection()
const secret = connection.credentials.secret!

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

const outgoing = {
  id: 'r1-0',
  replyTo: { sender: 'ada', thread: 't1' },
  text: 'hi *there*',
  part: 0,
}
const sendTo = ({ url }: Receiver) =>
  devAdapter(egressTo(url)).send(
    { ...connection, config: { url } },
    outgoing,
    AbortSignal.timeout(30_000),
  )

test('a reply without an address is sent by being kept', async () => {
  expect(await adapter.send(connection, outgoing, AbortSignal.timeout(30_000))).toEqual({
    kind: 'sent',
    externalId: null,
  })
})

test('a reply is posted once, and the library of the receiver accepts its signature', async () => {
  await using receiver = await openReceiver()
  expect(await sendTo(receiver)).toEqual({ kind: 'sent', externalId: null })
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
  expect(await sendTo(receiver)).toEqual({
    kind: 'unsent',
    error: `the receiver answered ${status}`,
    retryAfterMs: 7_000,
  })
})

test('an answer that breaks off after its status has taken the reply', async () => {
  await using receiver = await openReceiver()
  receiver.answer = { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf' }
  expect(await sendTo(receiver)).toMatchObject({ kind: 'sent' })
})
