/** Malformed MCP requests are invalid input, with and without sessions. */
import { describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { connectMcp, eventsOf, openSession, rpc } from '#test/support/mcp/mcp'
import { useApp } from '#test/support/use'

const app = useApp()

interface Answer {
  error?: { code: number; message: string; data?: { code?: string; details?: { path: string; message: string }[] } }
}

const inSession = async (method: string, params: unknown): Promise<Answer> => {
  const sessionId = await openSession(app.url, app.key)
  const response = await rpc(app.url, { key: app.key, sessionId, body: { jsonrpc: '2.0', id: 2, method, params } })
  for await (const { data } of eventsOf(response)) if (data.includes('"id":2')) return JSON.parse(data)
  throw new Error('no answer')
}

const INVALID_PARAMS = -32_602

const malformed: [string, unknown, string, string][] = [
  ['resources/read', { uri: 5 }, 'uri', 'must be text'],
  ['resources/read', {}, 'uri', 'is required'],
  ['resources/read', undefined, 'uri', 'is required'],
  ['resources/read', { uri: 'tendril://profile\0' }, 'uri', 'contains a NUL character'],
  ['resources/read', { uri: 'tendril://\ud800' }, 'uri', 'contains an unpaired surrogate'],
  ['resources/read', { uri: 'tendril://profile', _meta: { about: 'a\0' } }, '_meta.about', 'contains a NUL character'],
  ['resources/list', { cursor: 5 }, 'cursor', 'must be text'],
  ['resources/list', { cursor: 'a\0' }, 'cursor', 'contains a NUL character'],
  ['tools/list', { cursor: [] }, 'cursor', 'must be text'],
  ['prompts/get', {}, 'name', 'is required'],
  ['prompts/get', { name: 'plan_my_week', arguments: { focus: 5 } }, 'arguments.focus', 'must be text'],
  ['prompts/get', { name: 'plan_my_week', arguments: { focus: 'a\0' } }, 'arguments.focus', 'contains a NUL character'],
]

describe.each(malformed)('%s with %j', (method, params, path, message) => {
  test('is invalid input, not an internal error', async () => {
    const { error } = await inSession(method, params)
    expect(error).toMatchObject({ code: INVALID_PARAMS, message: `invalid_input: ${path} ${message}`, data: { code: 'invalid_input' } })
    expect(error!.data!.details![0]).toEqual({ path, message })
  })
})

test('without a session, a NUL in an address is invalid input too', async () => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${app.url}${MCP_PATH}`), {
      requestInit: { headers: { authorization: `Bearer ${app.key}` } },
    }),
  )
  const refused = { code: INVALID_PARAMS, message: expect.stringContaining('uri contains a NUL character') }
  await expect(client.readResource({ uri: 'tendril://profile\0' })).rejects.toMatchObject(refused)
  await client.close()
})

test('a NUL in the Idempotency-Key of a call is a tool error that the model can read, and nothing happens', async () => {
  await using mcp = await connectMcp(app.url, { key: app.key })
  for (const name of ['tendril/idempotency-key', 'idempotencyKey']) {
    const result = await mcp.call('growth_add_learning', { kind: 'worked', note: 'nul' }, { [name]: 'a\0' })
    expect([result.isError, result._meta?.['tendril/error']]).toEqual([
      true,
      expect.objectContaining({ code: 'invalid_input', message: 'Idempotency-Key contains a NUL character' }),
    ])
  }
  const { body } = await app.send('GET', 'learnings')
  expect(body.learnings).toEqual([])
})

test('params that the protocol may add are accepted', async () => {
  expect(
    (await inSession('resources/read', { uri: 'tendril://profile', priority: 1, _meta: { 'x/y': { z: null } } })).error,
  ).toBeUndefined()
})
