/**
 * A process dies at each point of a direct call's way: it happens once or not at all, and its key
 * finds what became of it.
 */
import { afterAll, expect, test } from 'bun:test'
import type { ToolBox } from '#decisions/agent/toolbox'
import { testStops } from '#test/support/actors/stops'
import { brokenInvariants } from '#test/support/agent/invariants'
import { changed } from '#test/support/agent/outside-tool'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually, type Reply, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'

const stops = testStops()
const world = new AsyncDisposableStack()
afterAll(() => world.disposeAsync())

/** The clock as a tool that takes its time, so that the lane runs it. */
const slowClock = (box: ToolBox): ToolBox => {
  const tools = new Map(box.tools)
  tools.set('get_current_time', { ...box.tools.get('get_current_time')!, class: 'outside_read' })
  return changed(box, { tools, asks: () => [] })
}

/** Two processes over one database, the second after the first has died. */
const places = async () => {
  const db = world.use(await freshDb())
  const start = async (lanes?: []): Promise<TestApp> =>
    world.use(
      await testApp({
        database: db.options,
        overrides: { failpoints: stops.at, tools: slowClock, ...(lanes ? { lanes } : {}) },
      }),
    )
  const first = await start()
  return { first, surface: await newSurface(first), start }
}

interface Called {
  name: string
  body: object
}
const remember: Called = {
  name: 'remember',
  body: { text: 'Posts go out on Mondays', scope: 'workspace' },
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const call = (app: TestApp, { key }: Surface, { name, body } = remember): Promise<Reply<any>> =>
  app.send('POST', `/api/v1/actions/${name}`, { key, body, headers: { 'idempotency-key': 'once' } })

/** The answer under the key, once there is one. */
const outcome = (app: TestApp, surface: Surface, called = remember) =>
  eventually(
    () => call(app, surface, called),
    ({ status }) => status !== 202 && status !== 503,
  )

const expectOnce = async (app: TestApp, { tenantId }: Surface, memories: number) => {
  expect(await app.owner`select 1 from agent_memory where tenant_id = ${tenantId}`).toHaveLength(
    memories,
  )
  const jobs =
    await app.owner`select status from agent_job where tenant_id = ${tenantId} and kind = 'action'`
  expect(jobs.map(({ status }) => status)).toEqual(['completed'])
  expect(await brokenInvariants(app.owner)).toEqual([])
}

const ask = async (app: TestApp, { as }: Surface) =>
  app.send('PUT', '/api/v1/agent/tool-rules/remember', {
    key: await as('owner'),
    body: { decision: 'ask' },
  })

const approve = async (app: TestApp, { tenantId, as }: Surface) => {
  const [approval] = await app.owner`select id from agent_approval where tenant_id = ${tenantId}
      and status = 'pending'`
  const reply = await app.send('POST', `/api/v1/agent/approvals/${approval!.id}/approve`, {
    key: await as('owner'),
    body: {},
  })
  expect(reply.status).toBe(200)
}

test('before its letter is committed: nothing of it happened', async () => {
  const { first, surface, start } = await places()
  const stopped = stops.stopNext('letter.deciding:agent.actions.call')
  const lost = call(first, surface).catch(() => undefined)
  const goOn = await stopped
  await crash(first)
  const next = await start()
  expect(await next.owner`select 1 from agent_job`).toHaveLength(0)
  expect((await outcome(next, surface)).status).toBe(200)
  goOn()
  await lost
  await expectOnce(next, surface, 1)
})

test('when its letter is committed: the same key gets the same answer', async () => {
  const { first, surface, start } = await places()
  const { text } = await call(first, surface)
  await crash(first)
  const next = await start()
  expect((await outcome(next, surface)).text).toBe(text)
  await expectOnce(next, surface, 1)
})

test('when it was asked, when it was decided, and while it is carried out: it happens once', async () => {
  const { first, surface, start } = await places()
  await ask(first, surface)
  expect((await call(first, surface)).status).toBe(409)
  await crash(first)
  // It decides, and claims nothing.
  const second = await start([])
  expect((await call(second, surface)).status).toBe(409)
  await approve(second, surface)
  await crash(second)
  const stopped = stops.stopNext('agent.executing')
  const third = await start()
  const goOn = await stopped
  await crash(third)
  const last = await start()
  expect((await outcome(last, surface)).status).toBe(200)
  goOn()
  await expectOnce(last, surface, 1)
})

test('while it runs beside the mailbox: what only reads is run again', async () => {
  const { first, surface, start } = await places()
  const slow: Called = { name: 'get_current_time', body: { timeZone: 'UTC' } }
  const stopped = stops.stopNext('agent.claimed')
  const lost = call(first, surface, slow).catch(() => undefined)
  const goOn = await stopped
  await crash(first)
  const next = await start()
  const reply = await outcome(next, surface, slow)
  expect([reply.status, reply.body.result.timeZone]).toEqual([200, 'UTC'])
  goOn()
  await lost
  await expectOnce(next, surface, 0)
})
