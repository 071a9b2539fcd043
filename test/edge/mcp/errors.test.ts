/**
 * What clients of MCP are told of malformed requests, with and without sessions, and of calls that
 * were refused: which to make next.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { newStory, type Story } from '#test/support/growth/story'
import { connectMcp, eventsOf, openSession, rpc } from '#test/support/mcp/mcp'
import { use, useSharedApp } from '#test/support/use'

const app = useSharedApp()

interface Answer {
  error?: {
    code: number
    message: string
    data?: { code?: string; details?: { path: string; message: string }[] }
  }
}

const inSession = async (method: string, params: unknown): Promise<Answer> => {
  const sessionId = await openSession(app.url, app.key)
  const response = await rpc(app.url, {
    key: app.key,
    sessionId,
    body: { jsonrpc: '2.0', id: 2, method, params },
  })
  for await (const { data } of eventsOf(response))
    if (data.includes('"id":2')) return JSON.parse(data)
  throw new Error('no answer')
}

const INVALID_PARAMS = -32_602

const malformed: [string, unknown, string, string][] = [
  ['resources/read', { uri: 5 }, 'uri', 'must be text'],
  ['resources/read', {}, 'uri', 'is required'],
  ['resources/read', undefined, 'uri', 'is required'],
  ['resources/read', { uri: 'tendril://profile\0' }, 'uri', 'contains a NUL character'],
  ['resources/read', { uri: 'tendril://\ud800' }, 'uri', 'contains an unpaired surrogate'],
  [
    'resources/read',
    { uri: 'tendril://profile', _meta: { about: 'a\0' } },
    '_meta.about',
    'contains a NUL character',
  ],
  ['resources/list', { cursor: 5 }, 'cursor', 'must be text'],
  ['resources/list', { cursor: 'a\0' }, 'cursor', 'contains a NUL character'],
  ['tools/list', { cursor: [] }, 'cursor', 'must be text'],
  ['prompts/get', {}, 'name', 'is required'],
  [
    'prompts/get',
    { name: 'plan_my_week', arguments: { focus: 5 } },
    'arguments.focus',
    'must be text',
  ],
  [
    'prompts/get',
    { name: 'plan_my_week', arguments: { focus: 'a\0' } },
    'arguments.focus',
    'contains a NUL character',
  ],
]

describe.each(malformed)('%s with %j', (method, params, path, message) => {
  test('is invalid input, not an internal error', async () => {
    const { error } = await inSession(method, params)
    expect(error).toMatchObject({
      code: INVALID_PARAMS,
      message: `invalid_input: ${path} ${message}`,
      data: { code: 'invalid_input' },
    })
    expect(error!.data!.details![0]).toEqual({ path, message })
  })
})

test('without a session, a NUL in an address is invalid input too', async () => {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${app.url}${MCP_PATH}`), {
      requestInit: { headers: { authorization: `Bearer ${app.key}` } },
    }),
  )
  const refused = {
    code: INVALID_PARAMS,
    message: expect.stringContaining('uri contains a NUL character'),
  }
  await expect(client.readResource({ uri: 'tendril://profile\0' })).rejects.toMatchObject(refused)
  await client.close()
})

test('a NUL in the Idempotency-Key of a call is a tool error that the model can read, and nothing happens', async () => {
  await using mcp = await connectMcp(app.url, { key: app.key })
  for (const name of ['tendril/idempotency-key', 'idempotencyKey']) {
    const result = await mcp.call(
      'growth_add_learning',
      { kind: 'worked', note: 'nul' },
      { [name]: 'a\0' },
    )
    expect([result.isError, result._meta?.['tendril/error']]).toEqual([
      true,
      expect.objectContaining({
        code: 'invalid_input',
        message: 'Idempotency-Key contains a NUL character',
      }),
    ])
  }
  const { body } = await app.send('GET', 'learnings')
  expect(body.learnings).toEqual([])
})

test('params that the protocol may add are accepted', async () => {
  expect(
    (
      await inSession('resources/read', {
        uri: 'tendril://profile',
        priority: 1,
        _meta: { 'x/y': { z: null } },
      })
    ).error,
  ).toBeUndefined()
})

describe('the call that a refusal names', () => {
  let story: Story
  beforeAll(async () => {
    story = await newStory(app)
  })
  const mcp = use(() => connectMcp(app.url, { key: story.key, query: '?toolsets=all' }))

  test.each([
    [
      'growth_schedule_item',
      { post_at: 'next_slot' },
      'drafted',
      'Next: ask a person; once they agree, growth_approve_item {"id":"ID"}',
    ],
    [
      'growth_approve_item',
      {},
      'approved',
      'Next: ask a person; once they agree, growth_schedule_item {"id":"ID"}',
    ],
  ])('%s in another state', async (name, more, state, next) => {
    const id = state === 'drafted' ? await story.drafted() : await story.approved()
    const { content, _meta } = await mcp.call(name, { id, ...more })
    expect((content[0] as { text: string }).text.split('\n').at(-1)).toBe(next.replace('ID', id))
    expect(_meta).toMatchObject({
      'tendril/error': {
        details: [{ path: 'next', message: expect.stringMatching(new RegExp(` ${id}$`)) }],
      },
    })
  })

  test('of a text or a channel that has changed reads or changes it', async () => {
    const { id } = (
      await story.send('POST', 'items', { body: { kind: 'post', body: 'Docks first.' } })
    ).body.item
    const lastLine = async (name: string, given: object) => {
      const { isError, content } = await mcp.call(name, { ...given })
      return [isError, (content[0] as { text: string }).text.split('\n').at(-1)]
    }
    expect(await lastLine('growth_edit_item', { id, body: 'x', revision: 7 })).toEqual([
      true,
      `Next: growth_get_record {"kind":"item","id":"${id}"}`,
    ])
    const { channels } = (await story.send('GET', 'channels')).body
    const channel = channels.find(({ name }: { name: string }) => name === 'articles')
    const set = (status: string) =>
      story.send('PUT', `channels/${channel.id}`, { body: { status } })
    await set('inactive')
    expect(await lastLine('growth_create_article', { topic: 'docks', length: 'short' })).toEqual([
      true,
      `Next: ask a person; once they agree, growth_update_channel {"id":"${channel.id}"}`,
    ])
    await set('active')
  })

  test('at the most learnings lists them', async () => {
    const story = await newStory(app)
    await using one = await connectMcp(app.url, { key: story.key, query: '?toolsets=all' })
    await app.owner`insert into learning (id, tenant_id, kind, note, status, evidence, created_at,
      updated_at)
      select gen_random_uuid(), ${story.tenantId}, 'worked', 'Note ' || n, 'active', '[]', now(),
        now() from generate_series(1, 50) n`
    const { content } = await one.call('growth_add_learning', { kind: 'worked', note: 'One more' })
    expect((content[0] as { text: string }).text).toBe(
      'conflict: cannot add: 50 learnings are active; retire one first\nNext: growth_list_learnings {}',
    )
  })
})
