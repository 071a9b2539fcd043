/** Deleting an MCP server, or disabling it, waits for no call that is on the wire. */
import { expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { overJob, stepsIn, turn } from '#test/support/agent/agent'
import { plannedModel, planText } from '#test/support/agent/plan'
import { eventually } from '#test/support/app'
import { fakeMcp } from '#test/support/mcp/client'
import { serverAdmin } from '#test/support/mcp/servers'
import { useApp } from '#test/support/use'

const mcp = fakeMcp()
const stops = testStops()
const app = useApp({ overrides: { mcpClient: mcp, thinker: plannedModel(), failpoints: stops.at } })
const SEARCHES = 'shop__search'

test.each([
  ['deleting', 'DELETE', undefined],
  ['disabling', 'PATCH', { enabled: false }],
] as const)(
  '%s a server lists the call on the wire, which takes its outcome, and nothing more is sent to it',
  async (_, method, change) => {
    const { tenantId } = await app.newWorkspace()
    const { ruled, send } = await serverAdmin(app, tenantId)
    const key = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
    const plan = ['boots', 'hats'].map((query) => [[SEARCHES, { query }] as [string, object]])
    const id = await ruled([SEARCHES])
    const { promise, resolve } = Promise.withResolvers<{ text: string; isError: boolean }>()
    mcp.answer = () => promise
    const before = mcp.calls.length
    const by = { kind: 'key', id: key.id, personId: null } as const
    const job = await turn(app, { content: planText(plan as never), by, tenantId })
    await eventually(
      () => mcp.calls.length,
      (count) => count === before + 1,
    )
    const listed = [{ job_id: job, tool: SEARCHES, origin: 'manual', since: expect.any(String) }]
    const { status, body } = await send(method, `mcp/servers/${id}`, change)
    expect([status, body.in_flight]).toEqual([200, listed])
    // Again: what is deleted has no tools any more; what is disabled still waits.
    const again = (await send(method, `mcp/servers/${id}`, change)).body
    expect([again.server === null, again.in_flight]).toEqual(method === 'DELETE' ? [true, []] : [false, listed])
    resolve({ text: 'Found.', isError: false })
    await overJob(app, job)
    const steps = (await stepsIn(app, job)).filter(({ kind }) => kind === 'tool')
    expect([steps[0]!.state, mcp.calls.length]).toEqual(['done', before + 1])
    expect(steps.slice(1).map(({ state }) => state)).toEqual(['failed'])
  },
)

test('a call that is only written down when its server is disabled is not made', async () => {
  const { tenantId } = await app.newWorkspace()
  const { ruled, send } = await serverAdmin(app, tenantId)
  const key = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const id = await ruled([SEARCHES])
  const before = mcp.calls.length
  const stopped = stops.stopNext('agent.claimed', 2)
  const by = { kind: 'key', id: key.id, personId: null } as const
  const job = await turn(app, { content: planText([[[SEARCHES, { query: 'boots' }]]] as never), by, tenantId })
  const goOn = await stopped
  expect((await send('PATCH', `mcp/servers/${id}`, { enabled: false })).body.in_flight).toEqual([])
  goOn()
  await overJob(app, job)
  expect([(await stepsIn(app, job)).find(({ kind }) => kind === 'tool')!.state, mcp.calls.length]).toEqual(['failed', before])
})
