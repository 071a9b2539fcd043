/** The workspace agent over MCP: who sees its tools, and a turn as one tool call. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type GenerationOptions, runGeneration } from '#edge/mcp/generation'
import { newId } from '#kernel/ids'
import { type Scope, scopes } from '#kernel/scopes'
import { jobOf } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { contextOf } from '#test/support/mcp/context'
import { connectMcp } from '#test/support/mcp/mcp'
import { scriptedModel } from '#test/support/model/scripted-model'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const greeting: Parameters<typeof scriptedModel>[0] = () => ({ text: 'Hello.\nNothing is late.' })
const script = { answer: greeting }
beforeEach(() => {
  script.answer = greeting
})
const thinker = scriptedModel((asked, answers) => script.answer(asked, answers))
const app = useApp({ model: thinker, overrides: { mcpLimits: { sweepMs: 10 } } })

const OURS = [
  'agent_send_message',
  'agent_get_job',
  'agent_cancel_job',
  'agent_run_task',
  'agent_list_approvals',
  'agent_list_inbox',
]

let tenantId: string
let key: string
const keyWith = async (some: readonly Scope[]) => (await app.newKey([...some], tenantId)).api_key
beforeAll(async () => {
  tenantId = (await app.newWorkspace()).tenantId
  key = await keyWith(scopes)
})

const oursFor = async (caller: string, query = ''): Promise<string[]> => {
  await using mcp = await connectMcp(app.url, { key: caller, query })
  return (await mcp.toolNames()).filter((name) => name.startsWith('agent_')).sort()
}
const all = OURS.toSorted()

const enable = (session: string, mcp: boolean, name = 'agent') =>
  app.send('PUT', `/api/v1/agent/modules/${name}`, { key: session, body: { mcp } })

interface Answered {
  job: { id: string; status: string; conversationId: string }
  approvals: { id: string; url: string; tool_name: string }[]
  answer: { content: string } | null
}
const answered = ({ structuredContent }: CallToolResult) => structuredContent as unknown as Answered
const textIn = ({ content: [first] }: CallToolResult) => (first?.type === 'text' ? first.text : '')

describe('the tools', () => {
  test('are listed where the client names them, for keys with workspace:use', async () => {
    expect(await oursFor(key)).toEqual([])
    for (const query of ['?toolsets=agent', '?toolsets=all', '?toolsets=items,agent'])
      expect(await oursFor(key, query)).toEqual(all)
    expect(await oursFor(key, '?toolsets=agent&readonly=1')).toEqual([
      'agent_get_job',
      'agent_list_approvals',
      'agent_list_inbox',
    ])
    const without = await keyWith(scopes.filter((scope) => scope !== 'workspace:use'))
    // It lists the drafts that wait, and for such a key nothing of the agent.
    expect(await oursFor(without, '?toolsets=agent')).toEqual(['agent_list_inbox'])
    await using mcp = await connectMcp(app.url, { key: without, query: '?toolsets=agent' })
    const refused = await mcp.call('agent_send_message', { content: 'hi' })
    expect(refused._meta).toMatchObject({ 'tendril/error': { code: 'missing_scope' } })
  })

  test('are listed and can be called by themselves while the workspace has enabled the module', async () => {
    const { tenantId: other } = await app.newWorkspace()
    const { api_key } = await app.newKey([...scopes], other)
    const { api_key: without } = await app.newKey(['mcp:use', 'api:read', 'api:write'], other)
    const owner = await tokenOf(app, other, 'owner')
    await using mcp = await connectMcp(app.url, { key: api_key })
    for (const name of OURS) await expect(mcp.call(name)).rejects.toMatchObject({ code: -32_602 })
    expect((await enable(owner, true)).body).toMatchObject({ module: { name: 'agent', mcp: true } })
    expect(
      (await app.send('GET', '/api/v1/agent/modules', { key: api_key })).body.modules,
    ).toMatchObject([{ name: 'agent', mcp: true }])
    expect(await oursFor(api_key)).toEqual(all)
    expect(await oursFor(api_key, '?toolsets=items')).toEqual([])
    expect(await oursFor(without)).toEqual([])
    expect(await oursFor(key)).toEqual([])
    expect((await mcp.call('agent_list_approvals')).structuredContent).toMatchObject({
      approvals: [],
    })
    expect(answered(await mcp.call('agent_send_message', { content: 'hi' })).job.status).toBe(
      'completed',
    )
    await enable(owner, false)
    expect(await oursFor(api_key)).toEqual([])
    await expect(mcp.call('agent_list_approvals')).rejects.toMatchObject({ code: -32_602 })
  })

  test('that a workspace enables or disables are announced to sessions whose list changes with them', async () => {
    const { tenantId: other } = await app.newWorkspace()
    const { api_key } = await app.newKey([...scopes], other)
    const owner = await tokenOf(app, other, 'owner')
    await using whole = await connectMcp(app.url, { key: api_key })
    await using items = await connectMcp(app.url, { key: api_key, query: '?toolsets=items' })
    for (const mcp of [whole, items]) await mcp.tools()
    const heard = (times: number) =>
      eventually(
        () => [...whole.heard],
        ({ length }) => length >= times,
      )
    await enable(owner, true)
    expect(await heard(1)).toEqual(['notifications/tools/list_changed'])
    expect((await whole.toolNames()).filter((name) => name.startsWith('agent_')).sort()).toEqual(
      all,
    )
    await enable(owner, false)
    expect(await heard(2)).toHaveLength(2)
    expect(items.heard).toEqual([])
  })

  test('are enabled by owners and approvers alone, in a session of their own', async () => {
    for (const role of ['editor', 'viewer'] as const)
      expect((await enable(await tokenOf(app, tenantId, role), true)).status).toBe(403)
    expect((await enable(key, true)).status).toBe(403)
    const approver = await tokenOf(app, tenantId, 'approver')
    expect((await enable(approver, true, 'nothing')).status).toBe(404)
    expect((await enable(approver, false)).status).toBe(200)
  })
})

describe('a message', () => {
  test('is answered with its job, what the agent says and the conversation, which can go on', async () => {
    await using mcp = await connectMcp(app.url, { key, query: '?toolsets=agent' })
    const sent = answered(await mcp.call('agent_send_message', { content: 'What is late?' }))
    expect(sent).toMatchObject({
      job: { status: 'completed' },
      approvals: [],
      answer: { content: 'Hello.\nNothing is late.' },
    })
    const done = await eventually(
      async () => answered(await mcp.call('agent_get_job', { id: sent.job.id })),
      ({ job }) => job.status === 'completed',
    )
    expect(done.answer?.content).toBe('Hello.\nNothing is late.')
    const { conversationId } = sent.job
    const next = answered(
      await mcp.call('agent_send_message', { content: 'And now?', conversationId }),
    )
    expect(next.job).toMatchObject({ conversationId })
    const { body } = await app.send('GET', `/api/v1/agent/conversations/${conversationId}`, { key })
    expect(body.conversation.title).toBe('What is late?')
    expect(body.messages.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(2)
    const unknown = await mcp.call('agent_send_message', { content: 'x', conversationId: newId() })
    expect(unknown._meta).toMatchObject({ 'tendril/error': { code: 'not_found' } })
  })

  test('with a progress token is answered when the job is over, and the last line is its progress', async () => {
    await using mcp = await connectMcp(app.url, { key, query: '?toolsets=agent' })
    const said: (string | undefined)[] = []
    const call = { name: 'agent_send_message', arguments: { content: 'hi' } }
    const result = await mcp.client.callTool(call, undefined, {
      onprogress: ({ message }) => said.push(message),
    })
    expect(answered(result as CallToolResult)).toMatchObject({
      job: { status: 'completed' },
      answer: { content: 'Hello.\nNothing is late.' },
    })
    expect(said.at(-1)).toBe('Nothing is late.')
  })

  test('whose job waits for a person is answered with the link of what is asked', async () => {
    script.answer = (_, answers) =>
      answers === 0 ? { calls: [['growth_resume_automation', {}]] } : { text: 'Done.' }
    await using mcp = await connectMcp(app.url, { key, query: '?toolsets=agent' })
    const call = { name: 'agent_send_message', arguments: { content: 'go on' } }
    const result = (await mcp.client.callTool(call, undefined, {
      onprogress: () => {},
    })) as CallToolResult
    const { job, approvals } = answered(result)
    expect([job.status, approvals.map(({ tool_name }) => tool_name)]).toEqual([
      'waiting_approval',
      ['growth_resume_automation'],
    ])
    const link = `${app.workplace.world.identity.publicUrl}/approvals/${approvals[0]!.id}`
    expect(approvals[0]!.url).toBe(link)
    expect(textIn(result)).toContain(link)
    const pending = await mcp.call('agent_list_approvals', { status: 'pending', limit: 1 })
    expect(pending.structuredContent).toMatchObject({
      approvals: [{ id: approvals[0]!.id, url: link }],
    })
    expect(
      (await app.send('POST', `/api/v1/agent/approvals/${approvals[0]!.id}/approve`, { key }))
        .status,
    ).toBe(403)
    const cancelled = await mcp.call('agent_cancel_job', { id: job.id })
    expect(cancelled.structuredContent).toMatchObject({ job: { id: job.id, status: 'cancelled' } })
  })

  test('whose call is cancelled cancels its job', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    script.answer = async () => {
      await promise
      return { text: 'Too late.' }
    }
    const cancelling = new AbortController()
    const context = await contextOf(app, {
      tenantId,
      scopes: [...scopes],
      before: (id) => void (id === 'agent.jobs.get' && cancelling.abort()),
    })
    const operation = context.operations.get('agent.messages.send')!
    const options: GenerationOptions = { signal: cancelling.signal, onProgress: () => {} }
    const { answer } = await runGeneration(
      context,
      { operation, input: { content: 'hi' } },
      options,
    )
    resolve()
    const { job } = JSON.parse(answer.body)
    expect([job.status, (await jobOf(app, job.id)).status]).toEqual(['cancelled', 'cancelled'])
  })
})
