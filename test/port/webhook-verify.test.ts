/**
 * Messages that are sent to us: what the library of other senders signs is accepted, and whatever
 * was changed on the way is not.
 */
import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { newWebhookSecret, verifiedId } from '#port/webhook'

const [secret, other] = [newWebhookSecret(), newWebhookSecret()]
const now = Date.parse('2026-11-22T12:00:00Z')
const ID = 'msg_1'

interface Sent {
  id: string
  at: string
  signatures: string
  body: Buffer
}

const bodyOf = (text: string) => Buffer.from(text)
const signed = (text = '{"order":1}', { ms = now, by = secret, id = ID } = {}): Sent => ({
  id,
  at: String(Math.floor(ms / 1_000)),
  body: bodyOf(text),
  signatures: new Webhook(by).sign(id, new Date(ms), text),
})

const verified = ({ id, at, signatures, body }: Sent) =>
  verifiedId(
    new Headers({ 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures }),
    body,
    { secret, now },
  )

test.each([
  ['as it was sent', signed()],
  ['an empty body', signed('')],
  ['a body of many bytes a character', signed('{"café":"☕"}')],
  ['five minutes ago', signed('x', { ms: now - 300_000 })],
  ['in five minutes', signed('x', { ms: now + 300_000 })],
  [
    'signed by several secrets, one of which is ours',
    {
      ...signed(),
      signatures: `${signed('{"order":1}', { by: other }).signatures} ${signed().signatures}`,
    },
  ],
] as const)('accepted: %s', (_, sent) => {
  expect(verified(sent)).toBe(ID)
})

test.each([
  ['another secret', signed('{"order":1}', { by: other })],
  ['another body', { ...signed(), body: bodyOf('{"order":2}') }],
  [
    'a body with a mark of its byte order before it',
    { ...signed(), body: Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), signed().body]) },
  ],
  ['another id', { ...signed(), id: 'msg_2' }],
  ['another time', { ...signed(), at: String(now / 1_000 - 1) }],
  ['more than five minutes ago', signed('x', { ms: now - 301_000 })],
  ['more than five minutes ahead', signed('x', { ms: now + 301_000 })],
  ['a time that is no number', { ...signed(), at: 'now' }],
  ['no signature', { ...signed(), signatures: '' }],
  [
    'a signature of another version',
    { ...signed(), signatures: signed().signatures.replace('v1,', 'v2,') },
  ],
  ['a signature cut short', { ...signed(), signatures: signed().signatures.slice(0, -4) }],
  ['no id', signed('x', { id: '' })],
  ['an id that is too long', signed('x', { id: 'x'.repeat(257) })],
] as const)('refused: %s', (_, sent) => {
  expect(verified(sent)).toBeUndefined()
})
