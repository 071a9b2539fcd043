/** MCP sessions: whose they are, what can change while they are open, and how they end. */
import { expect, test } from 'bun:test'
import { revokeKey } from '#store/app/keys'
import { eventually, testApp } from '#test/support/app'
import { setKeyScopes, setRole } from '#test/support/database/writes'
import { connectMcp, eventsOf, listing, opening, openSession, rpc } from '#test/support/mcp/mcp'
import { newPerson } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { mcpLimits: { sweepMs: 20 } } })

const everyScope = ['api:read', 'api:write', 'mcp:use'] as const
const setScopes = (id: string, scopes: string[]) => setKeyScopes(app, id, scopes)

const statusOf = async (response: Promise<Response>): Promise<number> => {
  const { status, body } = await response
  await body?.cancel()
  return status
}
const listIn = (sessionId: string, key: string, url = app.url) =>
  statusOf(rpc(url, { key, sessionId, body: listing }))

test('a session answers to the key that opened it, and to no other', async () => {
  const sessionId = await openSession(app.url, app.key)
  const { api_key: ofSameWorkspace } = await app.newKey([...everyScope])
  const { key: ofAnother } = await app.newWorkspace()
  for (const key of [ofSameWorkspace, ofAnother]) {
    expect(await listIn(sessionId, key)).toBe(404)
    expect(await statusOf(rpc(app.url, { key, sessionId, method: 'GET' }))).toBe(404)
    expect(await statusOf(rpc(app.url, { key, sessionId, method: 'DELETE' }))).toBe(404)
  }
  expect(await listIn(sessionId, app.key)).toBe(200)
})

test('a key revoked during a session is 401, and the stream ends', async () => {
  const { id, api_key } = await app.newKey([...everyScope])
  const sessionId = await openSession(app.url, api_key)
  const stream = await rpc(app.url, { key: api_key, sessionId, method: 'GET' })
  expect(await listIn(sessionId, api_key)).toBe(200)
  await revokeKey(app.workplace.db, id)
  expect(await listIn(sessionId, api_key)).toBe(401)
  await stream.text()
})

test('removing api:write hides and refuses the tools of commands at once, and the client is notified', async () => {
  const { id, api_key } = await app.newKey([...everyScope])
  await using mcp = await connectMcp(app.url, { key: api_key })
  expect(await mcp.toolNames()).toContain('growth_update_profile')
  await setScopes(id, ['api:read', 'mcp:use'])
  expect(await mcp.toolNames()).not.toContain('growth_update_profile')
  const refused = await mcp.call('growth_update_profile', { goal: 'no' })
  expect(refused.isError).toBe(true)
  expect(refused._meta).toMatchObject({
    'tendril/error': { code: 'missing_scope', message: 'API key missing scope: api:write' },
  })
  await eventually(
    () => mcp.heard,
    (heard) => heard.includes('notifications/tools/list_changed'),
  )
  expect(mcp.heard).toContain('notifications/tools/list_changed')
})

test('a client that only listens is notified too', async () => {
  const { id, api_key } = await app.newKey([...everyScope])
  const sessionId = await openSession(app.url, api_key)
  const stream = await rpc(app.url, { key: api_key, sessionId, method: 'GET' })
  await setScopes(id, ['mcp:use'])
  const { value } = await eventsOf(stream).next()
  expect(JSON.parse(value!.data)).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test('a client that starts to listen after the change is notified as well', async () => {
  const { id, api_key } = await app.newKey([...everyScope])
  const sessionId = await openSession(app.url, api_key)
  await setScopes(id, ['mcp:use'])
  expect(await listIn(sessionId, api_key)).toBe(200)
  const stream = await rpc(app.url, { key: api_key, sessionId, method: 'GET' })
  const { value } = await eventsOf(stream).next()
  expect(JSON.parse(value!.data)).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test("a change of a person's role during a session changes the tools", async () => {
  const { id, member } = await newPerson(app.owner, app.tenantId, 'approver')
  const expiry = new Date(Date.now() + 600_000)
  const key = await app.workplace.world.identity.tokens.access(
    { sessionId: id, personId: member.personId },
    expiry,
  )
  await using mcp = await connectMcp(app.url, { key })
  expect(await mcp.toolNames()).toContain('growth_approve_item')
  await setRole(app, member.personId, 'viewer')
  expect(await mcp.toolNames()).not.toContain('growth_approve_item')
  const refused = await mcp.call('growth_approve_item', { id: crypto.randomUUID() })
  expect(refused._meta).toMatchObject({ 'tendril/error': { code: 'forbidden' } })
})

test('a session is 404 after its end, and its stream ends', async () => {
  const sessionId = await openSession(app.url, app.key)
  const stream = await rpc(app.url, { key: app.key, sessionId, method: 'GET' })
  expect(await statusOf(rpc(app.url, { key: app.key, sessionId, method: 'DELETE' }))).toBe(200)
  await stream.text()
  expect(await listIn(sessionId, app.key)).toBe(404)
})

test('a second stream of a session is 409', async () => {
  const sessionId = await openSession(app.url, app.key)
  const first = await rpc(app.url, { key: app.key, sessionId, method: 'GET' })
  expect(await statusOf(rpc(app.url, { key: app.key, sessionId, method: 'GET' }))).toBe(409)
  await first.body?.cancel()
})

test('an idle session is swept; one with a stream is not', async () => {
  await using short = await testApp({ overrides: { mcpLimits: { idleMs: 0, sweepMs: 5 } } })
  const listen = async () => {
    const sessionId = await openSession(short.url, short.key)
    return { sessionId, stream: await rpc(short.url, { key: short.key, sessionId, method: 'GET' }) }
  }
  // The session may be swept before its stream opens.
  const { sessionId: listening, stream } = await eventually(
    listen,
    ({ stream: { status } }) => status === 200,
  )
  const idle = await openSession(short.url, short.key)
  const status = await eventually(
    () => listIn(idle, short.key, short.url),
    (one) => one === 404,
  )
  expect(status).toBe(404)
  expect(await listIn(listening, short.key, short.url)).toBe(200)
  await stream.body?.cancel()
})

test('one session too many of a key replaces the one that has been idle longest', async () => {
  await using small = await testApp({ overrides: { mcpLimits: { perCaller: 2 } } })
  const [first, second] = [
    await openSession(small.url, small.key),
    await openSession(small.url, small.key),
  ]
  expect(await listIn(first, small.key, small.url)).toBe(200)
  const third = await openSession(small.url, small.key)
  expect(await listIn(second, small.key, small.url)).toBe(404)
  for (const one of [first, third]) expect(await listIn(one, small.key, small.url)).toBe(200)
})

test('one session more is 429 when all sessions of the key are in use, and 503 when all of the process are', async () => {
  await using small = await testApp({ overrides: { mcpLimits: { perCaller: 1, perProcess: 2 } } })
  const listen = async (key: string) =>
    rpc(small.url, { key, sessionId: await openSession(small.url, key), method: 'GET' })
  const first = await listen(small.key)
  const more = await rpc(small.url, { key: small.key, body: opening() })
  expect([more.status, more.headers.get('retry-after')]).toEqual([429, '30'])
  const second = await listen((await small.newKey([...everyScope])).api_key)
  const another = await rpc(small.url, {
    key: (await small.newKey([...everyScope])).api_key,
    body: opening(),
  })
  expect([another.status, another.headers.get('retry-after')]).toEqual([503, '30'])
  for (const stream of [first, second]) await stream.body?.cancel()
})

test('one workspace, with any number of keys, leaves room for others', async () => {
  await using small = await testApp({ overrides: { mcpLimits: { perTenant: 2, perProcess: 3 } } })
  const newKey = async () => (await small.newKey([...everyScope])).api_key
  const listen = async (key: string) =>
    rpc(small.url, { key, sessionId: await openSession(small.url, key), method: 'GET' })
  const streams = [await listen(small.key), await listen(await newKey())]
  expect(await statusOf(rpc(small.url, { key: await newKey(), body: opening() }))).toBe(429)
  const { key: ofAnother } = await small.newWorkspace()
  expect(await statusOf(rpc(small.url, { key: ofAnother, body: opening() }))).toBe(200)
  for (const stream of streams) await stream.body?.cancel()
})

test('in a full process, the workspace with the most sessions in use ends one for a workspace with fewer', async () => {
  await using small = await testApp({ overrides: { mcpLimits: { perProcess: 2 } } })
  const listen = async () =>
    rpc(small.url, {
      key: small.key,
      sessionId: await openSession(small.url, small.key),
      method: 'GET',
    })
  const [first, last] = [await listen(), await listen()]
  const { key: ofAnother } = await small.newWorkspace()
  expect(await statusOf(rpc(small.url, { key: ofAnother, body: opening() }))).toBe(200)
  await last.text()
  await first.body?.cancel()
})

test('the calls of all keys of a workspace are bounded, and the kill switch is not among them', async () => {
  await using small = await testApp({ overrides: { mcpLimits: { callsPerTenant: 0 } } })
  expect(await statusOf(rpc(small.url, { key: small.key, body: opening() }))).toBe(429)
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'growth_pause_automation', arguments: {} },
  }
  expect(await statusOf(rpc(small.url, { key: small.key, body }))).not.toBe(429)
})

test('a process that shuts down closes its streams at once', async () => {
  const ending = await testApp()
  const sessionId = await openSession(ending.url, ending.key)
  const stream = await rpc(ending.url, { key: ending.key, sessionId, method: 'GET' })
  await Promise.all([ending[Symbol.asyncDispose](), stream.text()])
})
