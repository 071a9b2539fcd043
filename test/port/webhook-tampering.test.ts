/**
 * Every way to tamper with a delivery in transit is refused by the libraries that receivers use.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { newId } from '#kernel/ids'
import { deliver, newWebhookSecret, signedHeaders } from '#port/webhook'
import { egressTo } from '#test/support/http/egress'
import { openReceiver } from '#test/support/http/receiver'
import { use } from '#test/support/use'

interface Captured {
  headers: Record<string, string>
  body: string
}

const secret = newWebhookSecret()
const MINUTE_MS = 60_000

/** Two deliveries of one endpoint, as sent. */
let one: Captured
let other: Captured
const receiver = use(openReceiver)
beforeAll(async () => {
  const egress = egressTo(`http://127.0.0.1:${receiver.port}`)
  for (const text of ['the dock', 'the yard']) {
    const body = JSON.stringify({ type: 'growth.item.posted', data: { text } })
    const message = { id: newId(), at: new Date(), body }
    await deliver(
      egress,
      { url: receiver.url, message, secrets: [secret], deadlineMs: 5_000 },
      new AbortController().signal,
    )
  }
  const [first, second] = receiver.requests.map(({ headers, body }) => ({
    headers: headers as Record<string, string>,
    body,
  }))
  ;[one, other] = [first!, second!]
})

const changed =
  (name: string, change: (value: string) => string) =>
  (of: Captured): Captured => ({
    ...of,
    headers: { ...of.headers, [name]: change(of.headers[name]!) },
  })
const without =
  (name: string) =>
  ({ headers: { [name]: _, ...headers }, body }: Captured): Captured => ({ headers, body })
/** Signed with the secret, at another time than now. */
const signedAt =
  (ms: number) =>
  ({ body }: Captured): Captured => ({
    headers: signedHeaders({ id: newId(), at: new Date(Date.now() + ms), body }, [secret]),
    body,
  })

const cases: [name: string, tamper: (of: Captured) => Captured][] = [
  ['a changed word of the body', (of) => ({ ...of, body: of.body.replace('dock', 'duck') })],
  ['a space at the end of the body', (of) => ({ ...of, body: `${of.body} ` })],
  [
    'the same JSON written in another way',
    (of) => ({ ...of, body: JSON.stringify(JSON.parse(of.body), null, 1) }),
  ],
  ['an empty body', (of) => ({ ...of, body: '' })],
  ['another id', changed('webhook-id', newId)],
  ['a timestamp of a second later', changed('webhook-timestamp', (at) => String(Number(at) + 1))],
  ['a timestamp that is no number', changed('webhook-timestamp', () => 'now')],
  [
    'a changed signature',
    changed('webhook-signature', (text) =>
      text.replace(/.(.{5})$/, (end) => (end[0] === 'A' ? 'B' : 'A') + end.slice(1)),
    ),
  ],
  ['a signature cut short', changed('webhook-signature', (text) => text.slice(0, -8))],
  [
    'a signature of another version',
    changed('webhook-signature', (text) => text.replace('v1,', 'v2,')),
  ],
  [
    'a signature by another secret',
    ({ headers, body }) => ({
      headers: signedHeaders({ id: headers['webhook-id']!, at: new Date(), body }, [
        newWebhookSecret(),
      ]),
      body,
    }),
  ],
  [
    'the signature of another delivery',
    (of) => ({
      ...of,
      headers: { ...of.headers, 'webhook-signature': other.headers['webhook-signature']! },
    }),
  ],
  ['the headers of another delivery', ({ body }) => ({ headers: other.headers, body })],
  ['the body of another delivery', ({ headers }) => ({ headers, body: other.body })],
  ['a message of six minutes ago', signedAt(-6 * MINUTE_MS)],
  ['a message of six minutes hence', signedAt(6 * MINUTE_MS)],
  ['no id', without('webhook-id')],
  ['no timestamp', without('webhook-timestamp')],
  ['no signature', without('webhook-signature')],
]

describe.each([
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const)('a receiver with %s', (_, Library) => {
  const library = new Library(secret)

  test('accepts both deliveries as sent', () => {
    for (const { headers, body } of [one, other])
      expect(library.verify(body, headers)).toEqual(JSON.parse(body))
  })

  test.each(cases)('refuses %s', (_, tamper) => {
    const { headers, body } = tamper(one)
    expect({ headers, body }).not.toEqual(one)
    expect(() => library.verify(body, headers)).toThrow()
  })
})
