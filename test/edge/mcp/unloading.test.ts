/**
 * Sessions that nobody uses for a while give up the SDK's half, and their clients notice nothing.
 */
import { expect, test } from 'bun:test'
import type { McpCaller } from '#edge/mcp/caller'
import { Calls } from '#edge/mcp/calls'
import type { McpContext } from '#edge/mcp/context'
import { createServerFactory } from '#edge/mcp/server-factory'
import type { McpSession } from '#edge/mcp/session'
import { McpSessionRegistry, mcpLimits } from '#edge/mcp/sessions'
import { parseView } from '#edge/mcp/view'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { contextOf } from '#test/support/mcp/context'
import { eventsOf, listing, opening } from '#test/support/mcp/mcp'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const URL = 'http://localhost/api/v1/mcp?toolsets=items'
const overview = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'growth_list_queue', arguments: {} },
}

/**
 * Sessions that are unloaded as soon as they are idle, when told to; `made`: servers of the SDK so
 * far.
 */
const place = async () => {
  const context = await contextOf(app)
  const made = { servers: 0 }
  const factory = createServerFactory()
  const sessions = new McpSessionRegistry({
    servers: {
      create(settings) {
        made.servers++
        return factory.create(settings)
      },
    },
    log: createLog('silent'),
    limits: { ...mcpLimits, unloadMs: -1, sweepMs: 3_600_000 },
    calls: new Calls(),
    incarnation: newId,
    refresh: async (all) => [...all],
    modulesOf: async () => new Set<string>(),
  })
  return {
    context,
    made,
    sessions,
    caller: context.call as McpCaller,
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  }
}
type Place = Awaited<ReturnType<typeof place>>

const request = (session: McpSession, method: string, more: Record<string, string> = {}): Request =>
  new Request(URL, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session.id,
      ...more,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
  })

const post = (context: McpContext, session: McpSession, body: unknown) =>
  session.handle(request(session, 'POST'), context, body)
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const answer = async (context: McpContext, session: McpSession, body: unknown): Promise<any> => {
  for await (const { data } of eventsOf(await post(context, session, body)))
    if (data) return JSON.parse(data).result
  throw new Error('no answer')
}

const opened = async (
  { sessions, caller, context }: Place,
  more: object = {},
): Promise<McpSession> => {
  const session = await sessions.open(caller, parseView(URL))
  const { params, ...rest } = opening()
  await answer(context, session, { ...rest, params: { ...params, ...more } })
  return session
}
const listen = (context: McpContext, session: McpSession, more?: Record<string, string>) =>
  session.handle(request(session, 'GET', more), context, undefined)
const firstOf = async (response: Response) => {
  for await (const { data } of eventsOf(response)) if (data) return JSON.parse(data).method
}

test('an unloaded session lists the same tools, by the toolsets of its opening, and two requests at once wake it once', async () => {
  await using at = await place()
  const session = await opened(at)
  const before = await answer(at.context, session, listing)
  expect(before.tools.length).toBeLessThan(30)
  await at.sessions.sweep()
  expect(at.made.servers).toBe(1)
  const both = await Promise.all([
    answer(at.context, session, listing),
    answer(at.context, session, { ...listing, id: 3 }),
  ])
  expect(both).toEqual([before, before])
  expect(at.made.servers).toBe(2)
  expect(at.sessions.find(session.id, at.caller)).toBe(session)
})

test('a plain read of an unloaded session needs no server of the SDK', async () => {
  await using at = await place()
  const session = await opened(at)
  await at.sessions.sweep()
  const call = session.plainCallIn(
    request(session, 'POST', { 'mcp-protocol-version': '2025-11-25' }),
    overview,
    at.context.operations,
  )
  expect((await session.read(call!, at.context))?.status).toBe(200)
  expect(at.made.servers).toBe(1)
  const other = session.plainCallIn(
    request(session, 'POST', { 'mcp-protocol-version': '2025-06-18' }),
    overview,
    at.context.operations,
  )
  expect(other).toBeUndefined()
})

test('a session with an open stream is not unloaded, nor one whose opening is too long to keep', async () => {
  await using at = await place()
  const [listening, long] = [
    await opened(at),
    await opened(at, { clientInfo: { name: 'x'.repeat(20_000), version: '1' } }),
  ]
  const stream = await listen(at.context, listening)
  await at.sessions.sweep()
  for (const session of [listening, long]) await answer(at.context, session, listing)
  expect(at.made.servers).toBe(2)
  await stream.body?.cancel()
  await at.sessions.sweep()
  await answer(at.context, listening, listing)
  expect(at.made.servers).toBe(3)
})

test('a client that resumes after an event that was forgotten gets a new stream, and hears that its access has changed', async () => {
  await using at = await place()
  const session = await opened(at)
  await at.sessions.sweep()
  const changed = { ...at.caller, scopes: new Set(['api:read', 'mcp:use'] as const) }
  session.noteAccess(changed)
  const stream = await listen(
    { ...at.context, call: { ...at.context.call, scopes: changed.scopes } },
    session,
    { 'last-event-id': '1' },
  )
  expect([stream.status, await firstOf(stream)]).toEqual([200, 'notifications/tools/list_changed'])
})

test('an unloaded session ends like any other', async () => {
  await using at = await place()
  const [first, second] = [await opened(at), await opened(at)]
  await at.sessions.sweep()
  expect((await first.handle(request(first, 'DELETE'), at.context, undefined)).status).toBe(200)
  await second[Symbol.asyncDispose]()
  expect(at.sessions.size).toBe(0)
})
