/**
 * Capabilities as MCP tools: who sees them, and how a client that can open pages is sent to the one
 * where a person decides.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { capabilities } from '#contract/index'
import { MCP_PATH } from '#edge/mcp/endpoint'
import type { Scope } from '#kernel/scopes'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually } from '#test/support/app'
import { connectMcp } from '#test/support/mcp/mcp'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const names = capabilities.map(({ tool }) => tool!)

let surface: Surface
beforeAll(async () => {
  surface = await newSurface(app)
  await surface.send(
    'PUT',
    'tool-rules/schedule_task',
    { decision: 'ask' },
    await surface.as('owner'),
  )
})

const listed = async (key: string, query = '') => {
  await using mcp = await connectMcp(app.url, { key, query })
  return (await mcp.toolNames()).filter((name) => names.includes(name))
}
const keyWith = async (...some: Scope[]) => (await app.newKey(some, surface.tenantId)).api_key

describe('capabilities', () => {
  test('are listed with the other tools of the agent', async () => {
    expect(await listed(surface.key)).toEqual([])
    for (const query of ['?toolsets=agent', '?toolsets=all'])
      expect(await listed(surface.key, query)).toEqual(names)
    const reads = capabilities.filter(({ method }) => method === 'GET').map(({ tool }) => tool!)
    expect(await listed(surface.key, '?toolsets=agent&readonly=1')).toEqual(reads)
    expect(
      await listed(await keyWith('mcp:use', 'api:read', 'api:write'), '?toolsets=agent'),
    ).toEqual([])
    expect(
      await listed(await keyWith('mcp:use', 'api:read', 'workspace:use'), '?toolsets=agent'),
    ).toEqual([])
    const { key, as, send } = await newSurface(app)
    await send('PUT', 'modules/agent', { mcp: true }, await as('owner'))
    expect(await listed(key)).toEqual(names)
  })

  test('are called as by name, and kept as jobs', async () => {
    await using mcp = await connectMcp(app.url, { key: surface.key, query: '?toolsets=agent' })
    const { structuredContent, content } = await mcp.call('get_current_time', {
      timeZone: 'Asia/Tokyo',
    })
    expect(structuredContent).toMatchObject({ timeZone: 'Asia/Tokyo' })
    expect(content[0]).toMatchObject({ text: expect.stringContaining('timeZone: Asia/Tokyo') })
    const wrong = await mcp.call('get_current_time', { timeZone: 'Mars/Olympus' })
    expect([wrong.isError, wrong._meta]).toMatchObject([
      true,
      { 'tendril/error': { code: 'invalid_input' } },
    ])
    const { body } = await surface.send('GET', 'jobs?kind=action')
    expect(body.jobs.map(({ toolNames }: { toolNames: string[] }) => toolNames)).toContainEqual([
      'get_current_time',
    ])
  })
})

type Answer = 'accept' | 'decline'
interface Asked {
  mode?: string | undefined
  url?: string | undefined
}
/** Called while the client's user looks at the question. */
type OnAsked = (asked: Asked) => Promise<Answer>

const headers = () => ({ requestInit: { headers: { authorization: `Bearer ${surface.key}` } } })
const url = () => new URL(`${app.url}${MCP_PATH}?toolsets=agent`)
const task = (goal: string) => ({
  name: 'schedule_task',
  arguments: { goal, at: '2999-01-01T09:00:00Z' },
})

interface Result {
  isError?: boolean
  content: { text?: string }[]
  structuredContent?: unknown
  _meta?: Record<string, unknown>
}

const clients: Record<string, (onAsked: OnAsked, goal: string) => Promise<Result>> = {
  async 'a client with a session'(onAsked, goal) {
    const client = new OldClient(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { url: {} } } },
    )
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      action: await onAsked(params as Asked),
    }))
    await client.connect(new OldTransport(url(), headers()) as never)
    try {
      return (await client.callTool(task(goal))) as Result
    } finally {
      await client.close()
    }
  },
  async 'a client without a session'(onAsked, goal) {
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { url: {} } } },
    )
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: await onAsked(params as Asked),
    }))
    await client.connect(new StreamableHTTPClientTransport(url(), headers()))
    try {
      expect(client.getProtocolEra()).toBe('modern')
      return (await client.callTool(task(goal))) as Result
    } finally {
      await client.close()
    }
  },
}

const approvalOf = async (goal: string) => {
  const { body } = await surface.send('GET', 'approvals')
  return body.approvals.filter(
    (one: { arguments: { goal: string } }) => one.arguments.goal === goal,
  )
}
const scheduled = async (goal: string) =>
  app.owner`select 1 from agent_schedule where tenant_id = ${surface.tenantId} and goal = ${goal}`

describe.each(Object.entries(clients))('%s that opens pages', (kind, call) => {
  test('is sent to the page, and gets the result if a person has decided there', async () => {
    const goal = `Look at the queue, says ${kind}`
    const asked: Asked[] = []
    const result = await call(async (params) => {
      asked.push(params)
      const [approval] = await approvalOf(goal)
      await surface.send('POST', `approvals/${approval.id}/approve`, {}, await surface.as('owner'))
      await eventually(
        async () => (await surface.send('GET', `jobs/${approval.job_id}`)).body.job,
        ({ endedAt }) => endedAt !== null,
      )
      return 'accept'
    }, goal)
    const [approval, ...others] = await approvalOf(goal)
    expect(asked).toMatchObject([{ mode: 'url', url: approval.url }])
    expect([result.isError ?? false, others, (await scheduled(goal)).length]).toEqual([
      false,
      [],
      1,
    ])
  })

  test.each<Answer>(['accept', 'decline'])(
    'decides nothing by its own answer: %s',
    async (answer) => {
      const goal = `Say ${answer}, says ${kind}`
      let questions = 0
      const result = await call(async () => {
        questions++
        return answer
      }, goal)
      const [approval, ...others] = await approvalOf(goal)
      expect([result.isError, questions, approval.status, others]).toEqual([true, 1, 'pending', []])
      expect(result._meta).toMatchObject({ 'tendril/error': { code: 'approval_required' } })
      expect(result.content[0]!.text).toContain(approval.url)
      expect(await scheduled(goal)).toHaveLength(0)
    },
  )
})

test('a client that opens no pages is given the link', async () => {
  await using mcp = await connectMcp(app.url, { key: surface.key, query: '?toolsets=agent' })
  const result = await mcp.call(task('').name, task('Look at the queue without a page').arguments)
  const [approval] = await approvalOf('Look at the queue without a page')
  expect([result.isError, result.content[0]]).toMatchObject([
    true,
    { text: expect.stringContaining(approval.url) },
  ])
  expect(result._meta).toMatchObject({ 'tendril/error': { code: 'approval_required' } })
})
