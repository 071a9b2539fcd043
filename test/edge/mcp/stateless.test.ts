/** The protocol without sessions, spoken by its own client: the same tools, checks and answers. */
import { expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { scopes } from '#kernel/scopes'
import { revokeKey } from '#store/app/keys'
import { eventually } from '#test/support/app'
import { setKeyScopes } from '#test/support/database/writes'
import { connectMcp } from '#test/support/mcp/mcp'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const app = useApp({
  overrides: { drafter: held.drafter, mcpLimits: { sweepMs: 10, perCaller: 2 } },
})

const connect = async (key: string, query = '') => {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(`${app.url}${MCP_PATH}${query}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  await client.connect(transport)
  return { client, transport, [Symbol.asyncDispose]: () => client.close() }
}

test('a client that speaks both versions gets the newer one, without a session', async () => {
  await using one = await connect(app.key)
  expect([one.client.getProtocolEra(), one.transport.sessionId]).toEqual(['modern', undefined])
})

test('the tools are those of a session, complete or filtered', async () => {
  await using session = await connectMcp(app.url, { key: app.key })
  await using one = await connect(app.key)
  const names = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name)
  expect(names(await one.client.listTools())).toEqual(await session.toolNames())
  await using some = await connect(app.key, '?toolsets=items&readonly=1')
  expect(names(await some.client.listTools())).toEqual(['growth_list_queue'])
})

test('a call passes the same checks, and its key replays over REST', async () => {
  await using one = await connect(app.key)
  const meta = { 'tendril/idempotency-key': 'stateless' }
  const done = await one.client.callTool({
    name: 'growth_update_profile',
    arguments: { voice: 'dry' },
    _meta: meta,
  })
  const again = await app.send('PUT', 'profile', {
    body: { voice: 'dry' },
    headers: { 'idempotency-key': 'stateless' },
  })
  expect([again.headers.get('idempotency-replayed'), again.body]).toEqual([
    'true',
    done.structuredContent as never,
  ])
  const refused = await one.client.callTool({
    name: 'growth_create_batch',
    arguments: { count: 0 },
  })
  expect(refused).toMatchObject({
    isError: true,
    _meta: { 'tendril/error': { code: 'invalid_input' } },
  })
  const { resources } = await one.client.listResources()
  expect(resources.map(({ uri }) => uri)).toContain('tendril://queue')
})

test('a key without mcp:use and a revoked one are refused as in a session', async () => {
  const { id, api_key } = await app.newKey(['mcp:use'])
  await using one = await connect(api_key)
  await setKeyScopes(app, id, ['api:read'])
  await expect(one.client.listTools()).rejects.toThrow('mcp:use')
  await revokeKey(app.workplace.db, id)
  await expect(one.client.callTool({ name: 'growth_overview' })).rejects.toThrow()
})

test('a generation reports progress, and goes on when the client disconnects, which a time-out does as well', async () => {
  await using one = await connect(app.key)
  const hangUp = new AbortController()
  const progress: number[] = []
  const call = { name: 'growth_create_batch', arguments: { count: 1, focus: 'hung up' } }
  const running = one.client.callTool(call, {
    onprogress: (event) => void progress.push(event.progress),
    signal: hangUp.signal,
  })
  running.catch(() => {})
  await held.begun(1)
  await eventually(
    () => progress.length,
    (count) => count > 0,
  )
  hangUp.abort()
  await expect(running).rejects.toThrow()
  held.release()
  const batch = await eventually(
    async () =>
      (await app.send('GET', 'batches')).body.batches.find(
        ({ focus }: { focus: string }) => focus === 'hung up',
      ),
    ({ status }) => ['ready', 'failed'].includes(status),
  )
  expect(batch).toMatchObject({ status: 'ready', error: null })
})

test('a listening client hears when its workspace enables a module of tools', async () => {
  const { tenantId } = await app.newWorkspace()
  const { api_key } = await app.newKey([...scopes], tenantId)
  const one = await connect(api_key)
  const heard: string[] = []
  one.client.setNotificationHandler(
    'notifications/tools/list_changed',
    ({ method }) => void heard.push(method),
  )
  await one.client.listen({ toolsListChanged: true })
  await app.send('PUT', '/api/v1/agent/modules/agent', {
    key: await tokenOf(app, tenantId, 'owner'),
    body: { mcp: true },
  })
  expect(
    await eventually(
      () => [...heard],
      ({ length }) => length > 0,
    ),
  ).toEqual(['notifications/tools/list_changed'])
  await one[Symbol.asyncDispose]()
})

test('a listening client hears of changes to its own tools, and not to those of others', async () => {
  const mine = await app.newKey(['mcp:use', 'api:write'])
  const others = await app.newKey(['mcp:use', 'api:write'])
  const listen = async (key: string) => {
    const one = await connect(key)
    const heard: string[] = []
    one.client.setNotificationHandler(
      'notifications/tools/list_changed',
      ({ method }) => void heard.push(method),
    )
    const subscription = await one.client.listen({ toolsListChanged: true })
    return { ...one, heard, subscription }
  }
  const [me, other] = [await listen(mine.api_key), await listen(others.api_key)]
  await setKeyScopes(app, mine.id, ['mcp:use'])
  expect(
    await eventually(
      () => me.heard,
      (heard) => heard.length > 0,
    ),
  ).toHaveLength(1)
  expect(other.heard).toEqual([])
  await revokeKey(app.workplace.db, mine.id)
  expect(await me.subscription.closed).toBe('graceful')
  await Promise.all([me.client.close(), other.client.close()])
})

test('a key can have two listeners, and one more once one of them has gone', async () => {
  const { api_key } = await app.newKey(['mcp:use'])
  await using one = await connect(api_key)
  const first = await one.client.listen({ toolsListChanged: true })
  await one.client.listen({ toolsListChanged: true })
  await expect(one.client.listen({ toolsListChanged: true })).rejects.toMatchObject({
    data: { status: 429 },
  })
  await first.close()
  const again = await eventually(
    () => one.client.listen({ toolsListChanged: true }).catch(() => undefined),
    (subscription) => subscription !== undefined,
  )
  expect(again).toBeDefined()
})
