/**
 * Calls that are answered without the SDK, beside those that are passed on to it: the answers must
 * be the same.
 */
import { describe, expect, test } from 'bun:test'
import { revokeKey } from '#store/app/keys'
import { setKeyScopes } from '#test/support/database/writes'
import { eventsOf, openSession, rpc } from '#test/support/mcp/mcp'
import { useApp } from '#test/support/use'

/** No sweep looks at the access of keys meanwhile. */
const app = useApp({ overrides: { mcpLimits: { sweepMs: 600_000 } } })
const everyScope = ['api:read', 'api:write', 'mcp:use'] as const

const call = (name: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: {}, ...params },
})

const ask = async (
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ response: Response; message: unknown }> => {
  const sessionId = await openSession(app.url, app.key)
  const response = await rpc(app.url, { key: app.key, sessionId, body, headers })
  if (response.headers.get('content-type')?.startsWith('application/json'))
    return { response, message: await response.json() }
  let message: unknown
  for await (const { data } of eventsOf(response)) if (data !== '') message = JSON.parse(data)
  return { response, message }
}

const STATUS = 'growth_connection_status'

test('a read is answered with one JSON body, the same as the stream that a client with a progress token gets', async () => {
  const plain = await ask(call(STATUS))
  const streamed = await ask(call(STATUS, { _meta: { progressToken: 1 } }))
  const types = [plain, streamed].map(({ response }) => response.headers.get('content-type'))
  expect(types).toEqual(['application/json', 'text/event-stream'])
  expect(plain.message).toEqual(streamed.message)
  expect(plain.message).toMatchObject({
    jsonrpc: '2.0',
    id: 7,
    result: { structuredContent: { connection: { connected: true } } },
  })
  expect(plain.response.headers.get('mcp-session-id')).toBeString()
})

test('a read that is refused has the same error in both forms', async () => {
  const wrong = { arguments: { limit: 5_000 } }
  const errorIn = ({ message }: { message: unknown }) => {
    const { isError, content, _meta } = (
      message as { result: { isError: boolean; content: unknown; _meta: Record<string, object> } }
    ).result
    return { isError, content, error: { ..._meta['tendril/error'], request_id: '' } }
  }
  const plain = errorIn(await ask(call('growth_list_queue', wrong)))
  expect(plain).toEqual(
    errorIn(await ask(call('growth_list_queue', { ...wrong, _meta: { progressToken: 1 } }))),
  )
  expect(plain).toMatchObject({ isError: true, error: { code: 'invalid_input' } })
})

test.each([
  ['a command', call('growth_pause_automation')],
  ['a batch', [call(STATUS)]],
  ['an unknown tool', call('growth_nothing')],
  ['a field that is not of the protocol', call(STATUS, { task: {} })],
  ['arguments that are no object', call(STATUS, { arguments: [] })],
])('%s goes to the SDK', async (_, body) => {
  expect((await ask(body)).response.headers.get('content-type')).toBe('text/event-stream')
})

test('headers that the SDK refuses are refused for a read too', async () => {
  const statusWith = async (headers: Record<string, string>) =>
    (await ask(call(STATUS), headers)).response.status
  expect(await statusWith({ accept: 'application/json' })).toBe(406)
  expect(await statusWith({ 'content-type': 'text/plain' })).toBe(415)
  expect(await statusWith({ 'mcp-protocol-version': '1999-01-01' })).toBe(400)
})

test('reads of one session with the same id run one at a time', async () => {
  const sessionId = await openSession(app.url, app.key)
  const send = () => rpc(app.url, { key: app.key, sessionId, body: call(STATUS) })
  const statuses = (await Promise.all([send(), send(), send()])).map(({ status }) => status)
  expect(new Set(statuses).isSubsetOf(new Set([200, 400]))).toBe(true)
  expect((await send()).status).toBe(200)
})

test('a read sees at once that its key has lost mcp:use, and that it was revoked', async () => {
  const { id, api_key: key } = await app.newKey([...everyScope])
  const sessionId = await openSession(app.url, key)
  const statusNow = async () => (await rpc(app.url, { key, sessionId, body: call(STATUS) })).status
  expect(await statusNow()).toBe(200)
  await setKeyScopes(app, id, ['api:read', 'api:write'])
  expect(await statusNow()).toBe(403)
  await setKeyScopes(app, id, ['mcp:use'])
  expect(await statusNow()).toBe(200)
  await revokeKey(app.workplace.db, id)
  expect(await statusNow()).toBe(401)
})

test('a client is notified when a read finds that the access of its key has changed', async () => {
  const { id, api_key: key } = await app.newKey([...everyScope])
  const sessionId = await openSession(app.url, key)
  const stream = await rpc(app.url, { key, sessionId, method: 'GET' })
  await setKeyScopes(app, id, ['mcp:use'])
  expect((await rpc(app.url, { key, sessionId, body: call(STATUS) })).status).toBe(200)
  const { value } = await eventsOf(stream).next()
  expect(JSON.parse(value!.data)).toMatchObject({ method: 'notifications/tools/list_changed' })
})

describe('without a session', () => {
  const envelopeOf = (client: unknown) => ({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  })
  const standard = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': STATUS,
  }
  const known = envelopeOf({ name: 'known', version: '1' })

  interface Request {
    key?: string
    envelope?: object
    more?: object
    headers?: Record<string, string>
  }

  const ask = async ({ key = app.key, envelope = known, more = {}, headers = {} }: Request) => {
    const body = call(STATUS, { _meta: envelope, ...more })
    const response = await rpc(app.url, { key, body, headers: { ...standard, ...headers } })
    const message = (await response.json()) as {
      result?: { isError?: boolean; _meta: Record<string, object> }
    }
    return { status: response.status, message }
  }

  test('the second read of a client has the same answer as the first, which the SDK made', async () => {
    const [first, second] = [await ask({}), await ask({})]
    expect(first).toEqual(second)
    expect(second.message).toMatchObject({
      id: 7,
      result: { resultType: 'complete', structuredContent: { connection: { connected: true } } },
    })
    expect(second.message.result!._meta['io.modelcontextprotocol/serverInfo']).toMatchObject({
      name: 'tendril',
    })
  })

  test('a refusal has the same form both times', async () => {
    const envelope = envelopeOf({ name: 'refused', version: '1' })
    const refusals = [
      await ask({ envelope, more: { arguments: { limit: 1 } } }),
      await ask({ envelope, more: { arguments: { limit: 1 } } }),
    ]
    for (const { status, message } of refusals) {
      expect([status, message.result?.isError]).toEqual([200, true])
      expect(Object.keys(message.result!._meta).sort()).toEqual([
        'io.modelcontextprotocol/serverInfo',
        'tendril/error',
      ])
    }
  })

  test('what the SDK refuses of a client is refused of one that it knows', async () => {
    await ask({})
    const statusOf = async (request: Request) => (await ask(request)).status
    expect(await statusOf({ headers: { 'mcp-name': 'growth_list_queue' } })).toBe(400)
    expect(await statusOf({ headers: { 'mcp-method': 'tools/list' } })).toBe(400)
    expect(await statusOf({ envelope: envelopeOf('nobody') })).toBe(400)
    expect(await statusOf({ headers: { 'content-type': 'text/plain' } })).toBe(415)
  })

  test('a lost scope and a revoked key take effect at once', async () => {
    const { id, api_key: key } = await app.newKey([...everyScope])
    const statuses = [(await ask({ key })).status, (await ask({ key })).status]
    await setKeyScopes(app, id, ['api:read'])
    statuses.push((await ask({ key })).status)
    await setKeyScopes(app, id, [...everyScope])
    statuses.push((await ask({ key })).status)
    await revokeKey(app.workplace.db, id)
    statuses.push((await ask({ key })).status)
    expect(statuses).toEqual([200, 200, 403, 200, 401])
  })
})
