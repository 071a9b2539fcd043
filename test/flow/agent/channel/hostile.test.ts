/**
 * Posts that nobody's provider sends, at every channel: refused, or taken for what can be kept of
 * them, and never an error of ours.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { channelNames } from '#contract/channel-names'
import { newId } from '#kernel/ids'
import { type TestApp, testApp } from '#test/support/app'
import {
  channelJobs,
  devChannel,
  linked,
  messagesOf,
  postDev,
  settledMessages,
} from '#test/support/channels/dev-posts'
import { freshDb } from '#test/support/database/db'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' }
const app = useApp({ overrides: { thinker: scriptedModel(() => ({ text: 'Seen.' })) }, env })

const MIB = 1_048_576
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const many = (count: number, one: string) => `[${Array(count).fill(one).join(',')}]`

/** What adapters look into, of the wrong kinds, at any depth. */
const ODD = [null, true, 0, -1, 1e308, '', 'x', [], [[]], {}, { id: {} }]
const shapes = (value: unknown): unknown[] => [
  {
    routingKey: value,
    team_id: value,
    api_app_id: value,
    event: value,
    authorizations: value,
    type: 'event_callback',
    event_id: value,
  },
  { object: 'whatsapp_business_account', entry: value },
  { object: 'whatsapp_business_account', entry: [value] },
  { object: 'whatsapp_business_account', entry: [{ changes: value }] },
  { object: 'whatsapp_business_account', entry: [{ changes: [{ field: 'messages', value }] }] },
  {
    object: 'whatsapp_business_account',
    entry: [
      {
        changes: [
          { field: 'messages', value: { metadata: value, messages: value, contacts: value } },
        ],
      },
    ],
  },
  { type: value, data: value, challenge: value },
  {
    type: 'email.received',
    data: { to: value, from: value, headers: value, email_id: value, attachments: value },
  },
  { type: 'url_verification', challenge: value },
]

const BODIES: [string, string | Uint8Array<ArrayBuffer>][] = [
  ['nothing', ''],
  ['no JSON', 'hello'],
  ['half a JSON', '{"routingKey":'],
  ['a NUL', '{"routingKey":"a\\u0000b","team_id":"T\\u0000"}'],
  ['NUL bytes', new Uint8Array(64)],
  ['no UTF-8', new Uint8Array([0xff, 0xfe, 0x22, 0x80, 0xc0])],
  ['half a character', '{"routingKey":"\\ud800","text":"\\udfff"}'],
  ['a mebibyte', JSON.stringify({ routingKey: 'x', text: 'y'.repeat(MIB - 40) })],
  ['deep objects', deep(100_000)],
  ['deep lists', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ['deep events', `{"type":"event_callback","team_id":"T1","event":${deep(50_000)}}`],
  [
    'many entries',
    `{"object":"whatsapp_business_account","entry":${many(10_000, '{"changes":[{"value":{"metadata":{"phone_number_id":"1"}}}]}')}}`,
  ],
  [
    'many keys',
    `{"object":"whatsapp_business_account","entry":[${Array.from({ length: 9_000 }, (_, nth) => `{"changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"${nth}"}}}]}`).join(',')}]}`,
  ],
  ['many fields', `a=${'&b=1'.repeat(200_000)}`],
  [
    'many recipients',
    JSON.stringify({
      type: 'email.received',
      data: { to: Array(20_000).fill('a@example.com'), from: 'b@example.com' },
    }),
  ],
  [
    'a field of prototypes',
    '{"__proto__":{"routingKey":"x"},"constructor":{"prototype":{}},"routingKey":"__proto__"}',
  ],
  [
    'broken parts',
    '--x\r\ncontent-disposition: form-data; name="recipient"\r\n\r\na@example.com\r\n--x',
  ],
  ...ODD.flatMap((value) =>
    shapes(value).map((shape, nth): [string, string] => [
      `shape ${nth} of ${JSON.stringify(value)}`,
      JSON.stringify(shape),
    ]),
  ),
]
const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'a/b;;;=',
]

const send = async (
  to: Pick<TestApp, 'url'>,
  channel: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${to.url}/webhooks/channels/${channel}`, {
    method: 'POST',
    body,
    headers,
  })
  return { status: response.status, text: await response.text() }
}

/** Signatures of nobody, in the form of each provider. */
const signed = (type: string): Record<string, string> => {
  const now = String(Math.floor(Date.now() / 1_000))
  return {
    'content-type': type,
    'x-slack-signature': `v0=${'a'.repeat(64)}`,
    'x-slack-request-timestamp': now,
    'x-hub-signature-256': `sha256=${'b'.repeat(64)}`,
    'x-twilio-signature': 'c2lnbmF0dXJl',
    'svix-id': 'msg_1',
    'svix-timestamp': now,
    'svix-signature': 'v1,c2ln',
    'webhook-id': 'x',
    'webhook-timestamp': now,
    'webhook-signature': 'v1,c2ln',
  }
}

describe('without a signature', () => {
  beforeAll(async () => {
    // Connections that are gone: each channel counts as connected.
    for (const channel of channelNames)
      await app.owner`insert into inbound_route (tenant_id, kind, key, ref_id)
        values (${app.tenantId}, ${channel}, 'x', ${newId()})`
  })

  test.each([...channelNames])('nothing is taken by %s, and nothing fails', async (channel) => {
    const odd: unknown[] = []
    const refused = app.workplace.world.channels[channel] ? 401 : 503
    for (const [nth, [name, body]] of BODIES.entries()) {
      const headers = nth % 3 === 2 ? {} : signed(TYPES[nth % TYPES.length]!)
      const { status, text } = await send(app, channel, body, headers)
      const isHandshake = channel === 'slack' && status === 200 && !text.includes('received')
      if (status !== refused && !isHandshake) odd.push([name, status, text.slice(0, 200)])
    }
    expect(odd).toEqual([])
  })

  test('a body of more than a mebibyte is not read', async () => {
    const sizes = await Promise.all(
      [MIB, MIB + 1].map((size) => send(app, 'dev', 'x'.repeat(size))),
    )
    expect(sizes.map(({ status }) => status)).toEqual([401, 413])
  })
})

describe('with a signature', () => {
  const HUGE = 'x'.repeat(100_000)
  /** How many jobs it begins; null: its sender is told what is wrong. */
  const posts: [string, Record<string, unknown>, number | null][] = [
    ['NULs', { text: 'a\0b', sender: 'a\0da', name: 'A\0', thread: 't\0' }, 1],
    ['half characters', { text: 'a\ud800', sender: 'ada', name: '\udfff' }, 1],
    ['100,000 characters', { text: HUGE }, 1],
    ['20 files', { attachments: Array(20).fill({ name: 'a.txt', text: 'x' }) }, 1],
    ['files without a form', { attachments: [{ name: 'a', mimeType: {}, text: 5 }] }, 1],
    ['a deep file', { attachments: [{ name: 'a.txt', text: JSON.parse(deep(1_000)) }] }, 1],
    ['fields of prototypes', { ['__proto__']: { a: 1 }, constructor: 'x' }, 1],
    ['a long id', { id: HUGE }, null],
    ['a long sender', { sender: HUGE }, null],
    ['a long thread', { thread: HUGE }, null],
    ['a long name', { name: HUGE }, null],
    ['no words', { text: ' \n\t' }, null],
    ['a list for a text', { text: ['a'] }, null],
    ['a number for a sender', { sender: 1 }, null],
    ['an object for an id', { id: {} }, null],
    ['10,000 files', { attachments: Array(10_000).fill({ name: 'a.txt', text: 'x' }) }, null],
    ['files of anything', { attachments: [null, 1, 'x', {}, []] }, null],
  ]

  test.each(posts)(
    'a message with %s is taken for what can be kept of it, or its sender is told what is wrong',
    async (_, message, jobs) => {
      const channel = await devChannel(app, {}, (await app.newWorkspace()).tenantId)
      await linked(app, channel, 'ada')
      const { status } = await postDev(app.url, channel, message as never)
      expect(status).toBe(jobs === null ? 400 : 200)
      await settledMessages(app, channel, jobs ?? 0)
      expect(await channelJobs(app, channel)).toHaveLength(jobs ?? 0)
      const kept = JSON.stringify(await messagesOf(app, channel))
      expect([kept.includes('\\u0000'), kept.length < 300_000]).toEqual([false, true])
    },
  )

  test('a text longer than a message of the app is cut, and says so', async () => {
    const channel = await devChannel(app, {}, (await app.newWorkspace()).tenantId)
    await postDev(app.url, channel, { text: `${'😀'.repeat(5_001)}` })
    const [job] = await channelJobs(app, channel)
    const [{ content }] =
      (await app.owner`select content from agent_message where id = ${job!.message_id}`) as unknown as [
        { content: string },
      ]
    expect(content.isWellFormed()).toBe(true)
    expect(content).toEndWith('[The text goes on for 2 characters, which were not read.]')
  })
})

test('an unknown routing key costs as many statements as a wrong signature', async () => {
  await using db = await freshDb()
  const texts: string[] = []
  await using watched = await testApp({
    database: {
      ...db.options,
      onStatement: (pool, text) => void (pool === 'reads' && texts.push(text)),
    },
    env,
  })
  const channel = await devChannel(watched)
  const costOf = async (routingKey: string, secret: string): Promise<number> => {
    // Whatever else the server reads meanwhile is of other shapes.
    texts.length = 0
    expect((await postDev(watched.url, { routingKey }, {}, { secret })).status).toBe(401)
    return texts.filter((text) => text.includes('as credentials')).length
  }
  const wrong = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  const [unknown, forged] = [
    await costOf('nobodys', wrong),
    await costOf(channel.routingKey, wrong),
  ]
  expect([unknown, forged]).toEqual([1, 1])
})
