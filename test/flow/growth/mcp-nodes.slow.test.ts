/**
 * An MCP session in a deployment of several processes: any of them passes a request on to the one
 * that holds the session.
 */
import { afterAll, expect, test } from 'bun:test'
import { HOP_HEADER } from '#edge/forward'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { eventually, testApp } from '#test/support/app'
import { setKeyScopes } from '#test/support/database/writes'
import { connectMcp, eventsOf, listing, openSession, rpc } from '#test/support/mcp/mcp'
import { heldDrafter } from '#test/support/model/held-drafter'
import { newDeployment, startServer } from '#test/support/processes/server'
import { useApp } from '#test/support/use'

const held = heldDrafter()
afterAll(() => held.release())
const overrides = { drafter: held.drafter, mcpLimits: { sweepMs: 10 } }
const one = useApp({ overrides })
const other = useApp(() => ({ database: one.options, overrides }))

/**
 * A client that opens its session at the first process and sends every later request to the second,
 * as behind a balancer.
 */
const balanced = (key: string) => {
  let requests = 0
  const fetchElsewhere = (input: string | URL | Request, init?: RequestInit) =>
    fetch(requests++ === 0 ? input : `${other.url}${MCP_PATH}`, init)
  return connectMcp(one.url, { key, transport: { fetch: fetchElsewhere as typeof fetch } })
}

test('a session works through another process', async () => {
  await using mcp = await balanced(one.key)
  expect(await mcp.toolNames()).toContain('growth_update_profile')
  const updated = await mcp.call('growth_update_profile', { goal: 'through the other' })
  expect(updated.structuredContent).toMatchObject({ profile: { goal: 'through the other' } })
  await mcp.transport.terminateSession()
  const response = await rpc(one.url, { key: one.key, sessionId: mcp.sessionId, body: listing })
  expect(response.status).toBe(404)
})

test('progress arrives as it happens through another process, and so does a cancellation', async () => {
  await using mcp = await balanced(one.key)
  const progressed: number[] = []
  const taken = new AbortController()
  const call = { name: 'growth_create_batch', arguments: { count: 1, focus: 'elsewhere' } }
  const running = mcp.client.callTool(call, undefined, {
    onprogress: ({ progress }) => void progressed.push(progress),
    signal: taken.signal,
  })
  running.catch(() => {})
  await held.begun(1)
  await eventually(
    () => progressed.length,
    (count) => count > 0,
  )
  taken.abort()
  const batch = await eventually(
    async () => (await one.send('GET', 'batches')).body.batches[0],
    ({ status }) => status === 'failed',
  )
  expect(batch).toMatchObject({ focus: 'elsewhere', error: 'cancelled' })
})

test('a stream through another process receives notifications', async () => {
  const { id, api_key: key } = await one.newKey(['mcp:use', 'api:write'])
  const sessionId = await openSession(one.url, key)
  const stream = await rpc(other.url, { key, sessionId, method: 'GET' })
  expect(stream.status).toBe(200)
  await setKeyScopes(one, id, ['mcp:use'])
  const events = eventsOf(stream)
  const { value } = await events.next()
  expect(JSON.parse(value!.data).method).toBe('notifications/tools/list_changed')
  await events.return(undefined)
})

test('through another process a session still needs its own key', async () => {
  const sessionId = await openSession(one.url, one.key)
  const { key: foreign } = await one.newWorkspace()
  const statuses = [null, foreign, one.key].map(
    async (key) => (await rpc(other.url, { key, sessionId, body: listing })).status,
  )
  expect(await Promise.all(statuses)).toEqual([401, 404, 200])
})

test('a request that was passed on is not passed on again', async () => {
  const sessionId = await openSession(one.url, one.key)
  const response = await rpc(other.url, {
    key: one.key,
    sessionId,
    body: listing,
    headers: { [HOP_HEADER]: '1' },
  })
  expect(response.status).toBe(404)
})

test('a session of a process that has ended or died is 404, so that the client starts a new one', async () => {
  const third = await testApp({ database: one.options })
  const sessionId = await openSession(third.url, one.key)
  expect((await rpc(other.url, { key: one.key, sessionId, body: listing })).status).toBe(200)
  await third[Symbol.asyncDispose]()
  expect((await rpc(other.url, { key: one.key, sessionId, body: listing })).status).toBe(404)
  const node = crypto.randomUUID()
  await one.owner`insert into node (incarnation, lock_key, url, expires_at)
    values (${node}, 1, 'http://127.0.0.1:9', now() + interval '1 hour')`
  const dead = `${node}.${'x'.repeat(32)}`
  expect((await rpc(other.url, { key: one.key, sessionId: dead, body: listing })).status).toBe(404)
})

test('when a process is killed its streams through others end, and their clients start new sessions', async () => {
  await using deployment = await newDeployment()
  await using holder = await startServer(deployment.server)
  await using passing = await startServer(deployment.server)
  const { key } = deployment.server
  const sessionId = await openSession(holder.url, key)
  const stream = await rpc(passing.url, { key, sessionId, method: 'GET' })
  expect((await rpc(passing.url, { key, sessionId, body: listing })).status).toBe(200)
  await holder.kill()
  await stream.text()
  const status = await eventually(
    async () => (await rpc(passing.url, { key, sessionId, body: listing })).status,
    (one) => one === 404,
  )
  expect(status).toBe(404)
  expect(
    (await rpc(passing.url, { key, sessionId: await openSession(passing.url, key), body: listing }))
      .status,
  ).toBe(200)
})
