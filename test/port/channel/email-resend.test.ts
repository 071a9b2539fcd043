/** Posts of Resend: its SDK and Svix’s library sign for us, and verify what our tests sign. */
import { describe, expect, test } from 'bun:test'
import { Resend } from 'resend'
import { Webhook } from 'svix'
import type { InboundPost } from '#port/channel/channel'
import { newWebhookSecret } from '#port/webhook'
import { OURS, useResend } from '#test/support/channels/mail'
import { postOf } from '#test/support/channels/posts'
import type { ReceivedMail, ResendPostChanges } from '#test/support/channels/resend'

const { fake, adapter, connection } = useResend()
const now = Date.parse('2026-11-23T10:00:00Z')
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const sdk = new Resend(fake.apiKey, { baseUrl: fake.url } as never)

const posted = (
  mail: Partial<ReceivedMail> = {},
  changes: ResendPostChanges = {},
): Promise<InboundPost> =>
  postOf(fake.post(ADDRESS, fake.receive(mail), { at: new Date(now), ...changes }), now)
const headersOf = ({ headers }: InboundPost) =>
  Object.fromEntries(
    ['id', 'timestamp', 'signature'].map((name) => [`svix-${name}`, headers.get(`svix-${name}`)!]),
  )

describe('signatures', () => {
  test.each([
    ['as Svix signs it', {}],
    ['five minutes ago', { at: new Date(now - 300_000) }],
    ['in five minutes', { at: new Date(now + 300_000) }],
    ['text of many bytes a character', { data: { subject: 'été ☕ 漢字' } }],
  ] as const)('taken: %s', async (_, changes) => {
    expect(adapter.verify(await posted({}, changes), connection)).toBe(true)
  })

  test('taken: several signatures, one of which is ours', async () => {
    const post = await posted()
    const other = (await posted({}, { by: newWebhookSecret() })).headers.get('svix-signature')
    const headers = new Headers(post.headers)
    headers.set('svix-signature', `${other} ${post.headers.get('svix-signature')}`)
    expect(adapter.verify({ ...post, headers }, connection)).toBe(true)
  })

  test('what the test signs is right for Svix and for the SDK', async () => {
    const post = await posted({}, { at: new Date() })
    const payload = Buffer.from(post.body).toString()
    expect(new Webhook(fake.signingSecret).verify(payload, headersOf(post))).toMatchObject({
      type: 'email.received',
    })
    const {
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': signature,
    } = headersOf(post)
    const headers = { id: id!, timestamp: timestamp!, signature: signature! }
    expect(
      sdk.webhooks.verify({ payload, headers, webhookSecret: fake.signingSecret }),
    ).toMatchObject({ type: 'email.received' })
  })

  test('what Svix signs is taken', async () => {
    const post = await posted()
    const signature = new Webhook(fake.signingSecret).sign(
      'msg_1',
      new Date(now),
      Buffer.from(post.body).toString(),
    )
    const headers = new Headers({
      'content-type': 'application/json',
      'svix-id': 'msg_1',
      'svix-timestamp': String(now / 1_000),
      'svix-signature': signature,
    })
    expect(adapter.verify({ ...post, headers }, connection)).toBe(true)
  })

  const changed = async (
    change: (post: InboundPost) => Partial<InboundPost>,
  ): Promise<InboundPost> => {
    const post = await posted()
    return { ...post, ...change(post) }
  }
  const withHeader = (name: string, value: string) =>
    changed(({ headers }) => {
      const all = new Headers(headers)
      all.set(name, value)
      return { headers: all }
    })
  test.each([
    ['another secret', () => posted({}, { by: newWebhookSecret() })],
    ['six minutes ago', () => posted({}, { at: new Date(now - 360_000) })],
    ['in six minutes', () => posted({}, { at: new Date(now + 360_000) })],
    [
      'a changed body',
      () => changed(({ body }) => ({ body: Buffer.concat([body, Buffer.from(' ')]) })),
    ],
    ['another id', () => withHeader('svix-id', 'msg_2')],
    ['another time', () => withHeader('svix-timestamp', String(now / 1_000 - 1))],
    ['no signature', () => withHeader('svix-signature', '')],
    [
      'a signature of another version',
      async () =>
        withHeader(
          'svix-signature',
          (await posted()).headers.get('svix-signature')!.replace('v1,', 'v2,'),
        ),
    ],
    [
      'a form, such as Mailgun sends',
      () => changed(() => ({ body: Buffer.from('recipient=agent%40example.com') })),
    ],
  ] as const)('refused: %s', async (_, make) => {
    expect(adapter.verify(await make(), connection)).toBe(false)
  })
})

describe('routes', () => {
  test.each([
    ['the recipient', { data: { received_for: [OURS], to: [OURS] } }, [OURS]],
    [
      'a blind copy',
      { data: { received_for: [OURS], to: ['list@example.org'] } },
      [OURS, 'list@example.org'],
    ],
    [
      'names and capitals',
      {
        data: { received_for: [], to: ['"The Agent" <Agent@Example.COM>'], cc: ['b@example.com'] },
      },
      [OURS, 'b@example.com'],
    ],
    [
      'what follows a +',
      { data: { received_for: ['agent+berlin@example.com'], to: [] } },
      ['agent+berlin@example.com', OURS],
    ],
    [
      'the sender of a mail of ours',
      { type: 'email.delivered', data: { from: `Agent <${OURS}>`, to: ['ada@example.org'] } },
      [OURS],
    ],
  ] as const)('a post names its connections: %s', async (_, changes, keys) => {
    expect(adapter.route(await posted({}, changes as ResendPostChanges))).toEqual({
      kind: 'keys',
      keys: [...keys],
    })
  })

  test('a post to hundreds names some', async () => {
    const to = Array.from({ length: 500 }, (_, at) => `a${at}@example.com`)
    const routed = adapter.route(await posted({ to }))
    expect(routed).toMatchObject({ kind: 'keys' })
    expect((routed as { keys: string[] }).keys.length).toBeLessThanOrEqual(50)
  })

  test('nobody', async () => {
    expect(adapter.route(await posted({ to: [] }))).toEqual({ kind: 'unknown' })
  })
})
