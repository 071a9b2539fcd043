/**
 * A process dies on the way of a call of an MCP server, which counts its calls: none is ever made
 * twice, and what is not known is said.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { plannedModel, planText } from '#test/support/agent/plan'
import { endOf } from '#test/support/agent/story'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { crash } from '#test/support/growth/story'
import { type FakeCall, fakeMcp } from '#test/support/mcp/client'
import { serverAdmin } from '#test/support/mcp/servers'

interface Point {
  name: string
  at: [failpoint: string, nth?: number]
  state: 'done' | 'unknown'
  calls: 0 | 1
}

/** The claims that run something: the model, then the call. */
const CALL_CLAIM = 2

const points: Point[] = [
  {
    name: 'A9, when the call is written down and not made',
    at: ['agent.claimed', CALL_CLAIM],
    state: 'unknown',
    calls: 0,
  },
  {
    name: 'A10, when the call was made and its answer is unread',
    at: ['test.called'],
    state: 'unknown',
    calls: 1,
  },
  {
    name: 'A11, when the answer is read and not settled',
    at: ['agent.outside.read'],
    state: 'unknown',
    calls: 1,
  },
]

const SEARCHES = 'shop__search'

describe('a process that dies', () => {
  const world = new AsyncDisposableStack()
  const stops = testStops()
  const calls: FakeCall[] = []
  let next: TestApp
  const found = new Map<string, { id: string; tenantId: string; goOn(): void }>()

  const start = async ({ options }: TestDatabase): Promise<TestApp> => {
    const mcp = fakeMcp()
    mcp.answer = async (call) => {
      calls.push(call)
      await stops.at('test.called')
      return { text: 'found', isError: false }
    }
    return world.use(
      await testApp({
        database: options,
        overrides: { failpoints: stops.at, thinker: plannedModel(), mcpClient: mcp },
      }),
    )
  }

  const begin = async (app: TestApp, { at }: Point) => {
    const { tenantId } = await app.newWorkspace()
    const { ruled } = await serverAdmin(app, tenantId)
    await ruled([SEARCHES])
    const { id: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
    const stopped = stops.stopNext(...at)
    const content = planText([[[SEARCHES, { query: tenantId }]]])
    const id = await turn(app, { content, by: { kind: 'key', id: key, personId: null }, tenantId })
    return { id, tenantId, goOn: await stopped }
  }

  beforeAll(async () => {
    const db = world.use(await freshDb())
    const dying = await start(db)
    await recordReservations(dying.owner)
    for (const point of points) found.set(point.name, await begin(dying, point))
    await crash(dying)
    next = await start(db)
  })
  afterAll(() => world.disposeAsync())

  test.each(points)('$name', async ({ name, state, calls: times }) => {
    const { id, tenantId, goOn } = found.get(name)!
    await overJob(next, id)
    const check = async () => {
      expect(await endOf(next, id)).toEqual({
        status: 'completed',
        error: null,
        steps: ['model done', `${SEARCHES} ${state}`, 'model done'],
      })
      expect(calls.filter(({ args }) => args.query === tenantId)).toHaveLength(times)
    }
    await check()
    // If the process was only stopped it goes on now, and what it brings is too late.
    goOn()
    const { id: key } = await next.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
    const again = await turn(next, {
      content: planText([]),
      by: { kind: 'key', id: key, personId: null },
      tenantId,
    })
    await overJob(next, again)
    expect((await endOf(next, id)).steps[1]).toBe(`${SEARCHES} ${state}`)
  })

  test('and nothing is left open', async () => {
    expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
  })

  test('while a server is looked at: it is looked at again', async () => {
    const db = world.use(await freshDb())
    const dying = await start(db)
    const { tenantId } = await dying.newWorkspace()
    const { add } = await serverAdmin(dying, tenantId)
    const stopped = stops.stopNext('agent.mcp.looking')
    const id = await add()
    await stopped
    await crash(dying)
    const survivor = await start(db)
    await eventually(
      () => survivor.owner<{ status: string }[]>`select status from mcp_server where id = ${id}`,
      ([row]) => row?.status === 'ready',
    )
    expect(await survivor.owner`select 1 from mcp_tool where server_id = ${id}`).toHaveLength(1)
  })
})
