/**
 * Calls of an MCP server that are asked about, or on the wire, while it changes, is disabled or
 * deleted: none goes out that was not meant.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { asKey, overJob, stepsIn, turn } from '#test/support/agent/agent'
import { plannedModel, planText } from '#test/support/agent/plan'
import { eventually } from '#test/support/app'
import { fakeMcp, SEARCH } from '#test/support/mcp/client'
import { mcpJobs, SEARCHES, searching } from '#test/support/mcp/jobs'
import { serverAdmin } from '#test/support/mcp/servers'
import { useApp } from '#test/support/use'

const mcp = fakeMcp()
const stops = testStops()
const app = useApp({ overrides: { mcpClient: mcp, thinker: plannedModel(), failpoints: stops.at } })
const usual = mcp.answer
afterEach(() => {
  Object.assign(mcp, { tools: [SEARCH], calls: [], answer: usual })
})

test.each([
  ['deleting', 'DELETE', undefined],
  ['disabling', 'PATCH', { enabled: false }],
] as const)(
  '%s a server lists the call on the wire, which takes its outcome, and nothing more is sent to it',
  async (_, method, change) => {
    const { tenantId } = await app.newWorkspace()
    const { ruled, send } = await serverAdmin(app, tenantId)
    const by = await asKey(app, tenantId)
    const plan = ['boots', 'hats'].map((query) => [[SEARCHES, { query }] as [string, object]])
    const id = await ruled([SEARCHES])
    const { promise, resolve } = Promise.withResolvers<{ text: string; isError: boolean }>()
    mcp.answer = () => promise
    const before = mcp.calls.length
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
    expect([again.server === null, again.in_flight]).toEqual(
      method === 'DELETE' ? [true, []] : [false, listed],
    )
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
  const by = await asKey(app, tenantId)
  const id = await ruled([SEARCHES])
  const before = mcp.calls.length
  const stopped = stops.stopNext('agent.claimed', 2)
  const job = await turn(app, {
    content: planText([[[SEARCHES, { query: 'boots' }]]] as never),
    by,
    tenantId,
  })
  const goOn = await stopped
  expect((await send('PATCH', `mcp/servers/${id}`, { enabled: false })).body.in_flight).toEqual([])
  goOn()
  await overJob(app, job)
  expect([
    (await stepsIn(app, job)).find(({ kind }) => kind === 'tool')!.state,
    mcp.calls.length,
  ]).toEqual(['failed', before])
})

describe('a call that is asked', () => {
  test('names server, origin, tool and arguments, and runs in the name of who allowed it', async () => {
    const { ruled, ask, asked, approve } = await mcpJobs(app)
    await ruled([SEARCHES], { decision: 'ask' })
    const job = await ask([[searching('boots')]])
    const approval = await asked(job)
    expect(approval).toMatchObject({
      summary:
        'Call “search” of the MCP server “Shop”, which is https://mcp.example.com, with {"query":"boots"}',
      arguments: { query: 'boots' },
      tool_name: SEARCHES,
      why: ['your rule'],
    })
    expect((await approve(approval.id)).status).toBe(200)
    expect((await overJob(app, job)).status).toBe('completed')
    expect(mcp.calls).toMatchObject([{ name: 'search', args: { query: 'boots' } }])
  })

  test('is allowed from now on if the person says so', async () => {
    const { ruled, ask, asked, approve, get, ended } = await mcpJobs(app)
    const id = await ruled([SEARCHES], { decision: 'ask' })
    const job = await ask([[searching('boots')]])
    expect((await approve((await asked(job)).id, { remember: 'workspace' })).status).toBe(200)
    await overJob(app, job)
    expect((await get(id)).tools).toMatchObject([{ rule: 'allow', state: 'ruled' }])
    await ended([[searching('shoes')]])
    expect(mcp.calls.map(({ args }) => args.query)).toEqual(['boots', 'shoes'])
  })

  test.each([
    ['the server is elsewhere', { url: 'https://other.example.com/' }],
    ['the server is disabled', { enabled: false }],
  ])('does not run if %s by then', async (_, patch) => {
    const { ruled, ask, asked, approve, send } = await mcpJobs(app)
    const id = await ruled([SEARCHES], { decision: 'ask' })
    const job = await ask([[searching('boots')]])
    const approval = await asked(job)
    await send('PATCH', `mcp/servers/${id}`, patch)
    expect((await approve(approval.id)).status).toBe(200)
    await overJob(app, job)
    expect((await stepsIn(app, job)).find(({ name }) => name === SEARCHES)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('changed since it was shown'),
    })
    expect((await send('GET', `agent/approvals/${approval.id}`)).body.approval.decided_how).toBe(
      'stale',
    )
    expect(mcp.calls).toEqual([])
  })

  test('does not run if the tool has changed by then', async () => {
    const { ruled, ask, asked, approve, refresh } = await mcpJobs(app)
    const id = await ruled([SEARCHES], { decision: 'ask' })
    const job = await ask([[searching('boots')]])
    const approval = await asked(job)
    mcp.tools = [{ ...SEARCH, description: 'Deletes the shop.' }]
    await refresh(id)
    await approve(approval.id)
    await overJob(app, job)
    expect(mcp.calls).toEqual([])
  })
})
