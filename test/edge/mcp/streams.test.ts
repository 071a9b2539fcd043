/** The streams of a session: progress, cancellation, and resuming after a broken connection. */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { setKeyScopes } from '#test/support/database/writes'
import { connectMcp, eventsOf, openSession, rpc } from '#test/support/mcp/mcp'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const app = useApp({
  overrides: {
    drafter: held.drafter,
    mcpLimits: { callsPerCaller: 3 },
  },
})

const batchOf = async (key: string, focus: string) => {
  const { body } = await app.send('GET', 'batches?limit=100', { key })
  return body.batches.find((batch: { focus: string }) => batch.focus === focus)
}
const settled = (key: string, focus: string) =>
  eventually(
    () => batchOf(key, focus),
    (batch) => ['ready', 'failed'].includes(batch?.status),
  )

/** Ends what a test began, so that the next does not count it. */
const finishAll = async (key: string) => {
  held.release()
  await eventually(
    async () => (await app.send('GET', 'batches?limit=100', { key })).body.batches,
    (batches: { status: string }[]) =>
      batches.every(({ status }) => ['ready', 'failed'].includes(status)),
  )
}

const create = (id: number, focus: string, meta: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'growth_create_batch', arguments: { count: 1, focus }, _meta: meta },
})

test('a generation with a progress token reports progress, and answers with what it made', async () => {
  await using mcp = await connectMcp(app.url, { key: app.key })
  await mcp.client.listTools()
  const events: { progress: number; message?: string }[] = []
  const call = { name: 'growth_create_batch', arguments: { count: 2, focus: 'progress' } }
  const running = mcp.client.callTool(call, undefined, {
    onprogress: (one) => void events.push(one),
  })
  await held.begun(1)
  held.release()
  const result = await running
  expect(result.structuredContent).toMatchObject({ batch: { status: 'ready', delivered: 2 } })
  const [content] = result.content as { text: string }[]
  expect(content!.text.match(/ - id: /g)).toHaveLength(2)
  expect(events.at(-1)).toMatchObject({
    progress: 100,
    total: 100,
    message: 'ready: 2 of 2 drafted',
  })
  expect(events.length).toBeGreaterThan(1)
})

test('a client whose time is out does not cancel what it started', async () => {
  const { key } = await app.newWorkspace()
  await using mcp = await connectMcp(app.url, { key })
  const call = { name: 'growth_create_batch', arguments: { count: 1, focus: 'timed out' } }
  const running = mcp.client.callTool(call, undefined, { onprogress: () => {}, timeout: 200 })
  const timedOut = expect(running).rejects.toThrow('timed out')
  await held.begun(1)
  await timedOut
  held.release()
  expect(await settled(key, 'timed out')).toMatchObject({ status: 'ready', error: null })
})

test('a client that cancels its request cancels the generation', async () => {
  const { key } = await app.newWorkspace()
  await using mcp = await connectMcp(app.url, { key })
  const cancelling = new AbortController()
  const call = { name: 'growth_create_batch', arguments: { count: 1, focus: 'cancelled' } }
  const running = mcp.client.callTool(call, undefined, {
    onprogress: () => {},
    signal: cancelling.signal,
  })
  await held.begun(1)
  cancelling.abort()
  await expect(running).rejects.toThrow()
  expect(await settled(key, 'cancelled')).toMatchObject({ status: 'failed', error: 'cancelled' })
})

test.each(['the connection', 'the session'])(
  'a client does not cancel what it started when %s ends',
  async (what) => {
    const { key } = await app.newWorkspace()
    const sessionId = await openSession(app.url, key)
    const disconnecting = new AbortController()
    const response = await fetch(`${app.url}/api/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'mcp-session-id': sessionId,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(create(5, what, { progressToken: 't' })),
      signal: disconnecting.signal,
    })
    await held.begun(1)
    if (what === 'the session') await rpc(app.url, { key, sessionId, method: 'DELETE' })
    else disconnecting.abort()
    await response.text().catch(() => {})
    held.release()
    expect(await settled(key, what)).toMatchObject({ status: 'ready' })
  },
)

/** Resumes a stream, once the server has noticed that the connection before it is gone. */
const resume = ({
  key,
  sessionId,
  lastId,
}: {
  key: string
  sessionId: string
  lastId: string
}): Promise<Response> =>
  eventually(
    () => rpc(app.url, { key, sessionId, method: 'GET', headers: { 'last-event-id': lastId } }),
    ({ status }) => status === 200,
  )

test('an answer whose stream broke resumes after the last event received', async () => {
  const { key } = await app.newWorkspace()
  const sessionId = await openSession(app.url, key)
  const broken = await rpc(app.url, {
    key,
    sessionId,
    body: create(7, 'resumed', { progressToken: 't' }),
  })
  const events = eventsOf(broken)
  const { value: first } = await events.next()
  await events.return(undefined)
  await held.begun(1)
  held.release()
  await settled(key, 'resumed')
  const resumed = await resume({ key, sessionId, lastId: first!.id })
  const messages: { id?: number; result?: { structuredContent: object } }[] = []
  for await (const { data } of eventsOf(resumed)) messages.push(JSON.parse(data))
  expect(messages.at(-1)).toMatchObject({
    id: 7,
    result: { structuredContent: { batch: { status: 'ready' } } },
  })
})

test('events missed on the listening stream can be resumed too, by nobody else', async () => {
  const { id, api_key: key } = await app.newKey(['mcp:use', 'api:write'])
  const sessionId = await openSession(app.url, key)
  const change = async (scopes: string[]) => {
    await setKeyScopes(app, id, scopes)
    await (
      await rpc(app.url, { key, sessionId, body: { jsonrpc: '2.0', id: 9, method: 'ping' } })
    ).text()
  }
  const listening = await rpc(app.url, { key, sessionId, method: 'GET' })
  const events = eventsOf(listening)
  await change(['mcp:use'])
  const { value: seen } = await events.next()
  await events.return(undefined)
  await change(['mcp:use', 'api:write'])
  const again = await resume({ key, sessionId, lastId: seen!.id })
  const { value: missed } = await eventsOf(again).next()
  expect(JSON.parse(missed!.data).method).toStartWith('notifications/')
  const other = await rpc(app.url, {
    key: app.key,
    sessionId: await openSession(app.url, app.key),
    method: 'GET',
    headers: { 'last-event-id': 'zzz' },
  })
  expect(other.status).toBe(400)
})

test('a key can have three calls in progress, and can always cancel one', async () => {
  const { key } = await app.newWorkspace()
  const sessionId = await openSession(app.url, key)
  const send = (body: unknown) => rpc(app.url, { key, sessionId, body })
  const running = await Promise.all(
    [1, 2, 3].map((id) => send(create(id, 'many', { progressToken: id }))),
  )
  const refused = await eventually(
    () => send(create(4, 'many')),
    ({ status }) => status === 429,
  )
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  expect((await send(cancel)).status).toBe(202)
  const again = await eventually(
    () => send(create(5, 'many')),
    ({ status }) => status === 200,
  )
  expect(again.status).toBe(200)
  await finishAll(key)
  for (const response of running) await response.body?.cancel()
})

test('the kill switch has room of its own beside the calls of a key, and no other call has', async () => {
  const { key } = await app.newWorkspace()
  const sessionId = await openSession(app.url, key)
  const send = (body: unknown) => rpc(app.url, { key, sessionId, body })
  const running = await Promise.all(
    [1, 2, 3].map((id) => send(create(id, 'many', { progressToken: id }))),
  )
  await eventually(
    () => send(create(4, 'many')),
    ({ status }) => status === 429,
  )
  const pause = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'growth_pause_automation', arguments: {} },
  })
  expect((await send([pause(5), create(6, 'many')])).status).toBe(429)
  const paused = await send(pause(7))
  expect([paused.status, await paused.text()]).toEqual([
    200,
    expect.stringContaining('"paused":true'),
  ])
  await finishAll(key)
  for (const response of running) await response.body?.cancel()
})

test('an id that is in use, repeated in a body or too long is refused; an answered id is free again', async () => {
  const { key } = await app.newWorkspace()
  const sessionId = await openSession(app.url, key)
  const send = (body: unknown) => rpc(app.url, { key, sessionId, body })
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
  const running = await send(create(1, 'once', { progressToken: 1 }))
  const refused = [ping(1), [ping(2), ping(2)], ping('x'.repeat(201)), [ping(3), ping(1)]]
  for (const body of refused) expect((await send(body)).status).toBe(400)
  for (const body of [ping(2), ping(2), [ping(2), ping('x'.repeat(200))]]) {
    const response = await send(body)
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('"result":{}'),
    ])
  }
  await finishAll(key)
  expect(await running.text()).toContain('"structuredContent"')
  await (await send(ping(1))).text()
})
