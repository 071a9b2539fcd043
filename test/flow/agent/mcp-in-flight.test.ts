/** Deleting an MCP server waits for no call that is on the wire. */
import { expect, test } from 'bun:test'
import { overJob, stepsIn, turn } from '#test/support/agent'
import { plannedModel, planText } from '#test/support/agent-plan'
import { eventually } from '#test/support/app'
import { fakeMcp } from '#test/support/mcp-client'
import { serverAdmin } from '#test/support/mcp-servers'
import { useApp } from '#test/support/use'

const mcp = fakeMcp()
const app = useApp({ overrides: { mcpClient: mcp, thinker: plannedModel() } })
const SEARCHES = 'shop__search'

test('deleting a server lists the call on the wire, which takes its outcome, and nothing more is sent to it', async () => {
  const { tenantId } = await app.newWorkspace()
  const { ruled, send } = await serverAdmin(app, tenantId)
  const key = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const plan = ['boots', 'hats'].map((query) => [[SEARCHES, { query }] as [string, object]])
  const id = await ruled([SEARCHES])
  const { promise, resolve } = Promise.withResolvers<{ text: string; isError: boolean }>()
  mcp.answer = () => promise
  const by = { kind: 'key', id: key.id, personId: null } as const
  const job = await turn(app, { content: planText(plan as never), by, tenantId })
  await eventually(
    () => mcp.calls.length,
    (count) => count === 1,
  )
  const { status, body } = await send('DELETE', `mcp/servers/${id}`)
  expect([status, body.in_flight]).toEqual([200, [{ job_id: job, tool: SEARCHES, origin: 'manual', since: expect.any(String) }]])
  expect((await send('DELETE', `mcp/servers/${id}`)).body).toEqual({ server: null, in_flight: [] })
  resolve({ text: 'Found.', isError: false })
  await overJob(app, job)
  const steps = (await stepsIn(app, job)).filter(({ kind }) => kind === 'tool')
  expect([steps[0]!.state, mcp.calls.length]).toEqual(['done', 1])
  expect(steps.slice(1).map(({ state }) => state)).toEqual(['failed'])
})
