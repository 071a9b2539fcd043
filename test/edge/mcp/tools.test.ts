/** The tools of the contract as the SDK's client sees and calls them. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { capabilities, operations } from '#contract/index'
import { readsOnly } from '#contract/op'
import { moduleOf, toolsetOf, toolsets } from '#edge/mcp/view'
import { newId } from '#kernel/ids'
import type { Scope } from '#kernel/scopes'
import { testApp } from '#test/support/app'
import { connectMcp } from '#test/support/mcp'
import { legalInput, newWorkspace, type Workspace } from '#test/support/prepare'
import { sampleOf } from '#test/support/sample'
import { tokenOf } from '#test/support/session'
import { newStory, type Story, storyAt } from '#test/support/story'
import { use, useApp } from '#test/support/use'

let workspace: Workspace
let story: Story
const app = useApp()
beforeAll(async () => {
  workspace = await newWorkspace(app)
  story = storyAt(app, { ...workspace, account: '' })
})
const mcp = use(() => connectMcp(app.url, { key: workspace.key, query: '?toolsets=all' }))
/** From now on the client checks each result against its schema in the list. */
let tools: Tool[]
beforeAll(async () => {
  tools = (await mcp.client.listTools()).tools
})

const withTool = operations.filter(({ tool }) => tool !== undefined)
const named = withTool.map((o) => [o.tool!, o] as const)
/** Without ?toolsets, and before the workspace has enabled a module. */
const usual = withTool.filter((o) => moduleOf(o) === undefined && o.toolset === undefined)
const reading = usual.filter(readsOnly).map(({ tool }) => tool!)

const listed = async (key: string, query = ''): Promise<Tool[]> => {
  await using one = await connectMcp(app.url, { key, query })
  return await one.tools()
}
const namesFor = async (key: string, query = '') => (await listed(key, query)).map(({ name }) => name)

const keyOf = async (scopes: Scope[]) => (await app.newKey(scopes, workspace.tenantId)).api_key

describe('the list', () => {
  test('has every tool of the API document for a key with every scope, in its order', async () => {
    expect(await namesFor(workspace.key)).toEqual(usual.map(({ tool }) => tool!))
    expect(usual).toHaveLength(48)
    expect(await mcp.toolNames()).toEqual([...[...withTool, ...capabilities].map(({ tool }) => tool!), 'growth_get_record'])
  })

  test('has the tools beyond the API document only for a client that names their toolset', async () => {
    const beyond = withTool.flatMap(({ tool, toolset }) => (toolset === 'content' ? tool! : []))
    expect(beyond).toContain('growth_reopen_item')
    for (const query of ['?toolsets=content', '?toolsets=all'])
      expect(await namesFor(workspace.key, query)).toEqual(expect.arrayContaining([...beyond, 'growth_get_record']))
    expect((await namesFor(workspace.key, '?toolsets=items')).filter((name) => beyond.includes(name))).toEqual([])
    expect(await namesFor(workspace.key, '?toolsets=content&readonly=1')).toEqual(['growth_list_queue', 'growth_get_record'])
  })

  test('warns of everything that releases text', async () => {
    const releasing = withTool.filter(({ outside, tool }) => outside || tool!.startsWith('growth_approve_')).map(({ tool }) => tool!)
    expect(releasing).toEqual(expect.arrayContaining(['growth_schedule_item', 'growth_post_item', 'growth_resume_automation']))
    const hints = tools.filter(({ name }) => releasing.includes(name)).map(({ annotations }) => annotations!.destructiveHint)
    expect(hints).toEqual(releasing.map(() => true))
  })

  test.each<[Scope[]]>([[['mcp:use']], [['mcp:use', 'api:read']]])('has the tools that only read for a key with %p', async (scopes) => {
    expect(await namesFor(await keyOf(scopes))).toEqual(reading)
  })

  test('has for each role what the role can do', async () => {
    for (const role of ['owner', 'editor', 'approver', 'viewer'] as const) {
      const allowed = usual.filter((o) => role === 'owner' || o.roles.includes(role)).map(({ tool }) => tool!)
      expect(await namesFor(await tokenOf(app, workspace.tenantId, role))).toEqual(allowed)
    }
  })

  test('can be narrowed to some toolsets, or to tools that only read', async () => {
    const inItems = withTool.filter((o) => ['items', 'batches'].includes(toolsetOf(o)))
    expect(await namesFor(workspace.key, '?toolsets=items,batches')).toEqual(inItems.map(({ tool }) => tool!))
    expect(await namesFor(workspace.key, '?toolsets=items&toolsets=BATCHES')).toEqual(inItems.map(({ tool }) => tool!))
    for (const query of ['?readonly=1', '?read_only=true']) expect(await namesFor(workspace.key, query)).toEqual(reading)
    expect(await namesFor(workspace.key, '?toolsets=items&readonly=1')).toEqual(['growth_list_queue'])
  })
})

describe('a description', () => {
  test.each(named)('%s has a title, a description, a plain schema and annotations that agree with its operation', (name, o) => {
    const tool = tools.find((one) => one.name === name)!
    expect(tool.title!.length).toBeGreaterThan(5)
    expect(tool.description).toStartWith(o.summary)
    for (const schema of [tool.inputSchema, tool.outputSchema!]) {
      expect(schema.type).toBe('object')
      for (const union of ['anyOf', 'oneOf', 'allOf']) expect(schema).not.toContainKey(union)
    }
    const key = readsOnly(o) ? [] : ['idempotency_key']
    expect(Object.keys(tool.inputSchema.properties ?? {})).toEqual([...Object.keys(o.input.properties), ...key])
    expect(tool.inputSchema.required ?? []).toEqual(o.input.required ?? [])
    // As clients read them, with the protocol's defaults for what is missing.
    const annotations = { readOnlyHint: false, idempotentHint: false, ...tool.annotations }
    expect(annotations.readOnlyHint).toBe(readsOnly(o))
    if (!readsOnly(o))
      expect(annotations).toMatchObject({
        destructiveHint: o.destructive ?? false,
        idempotentHint: o.repeatable ?? false,
        openWorldHint: o.outside ?? false,
      })
  })
})

/** Roughly what models count. Both bounds exist because users lose most of a context to the tools of other servers. */
const tokensOf = (tools: Tool[]) => JSON.stringify({ tools }).length / 4
const MOST = 12_000
const MOST_OF_A_TOOLSET = 4_000
/** Of the toolset that the README recommends, and of all tools together. */
const MOST_OF_CORE = 5_000
const MOST_OF_ALL = 15_000
/** The number of tools in the API document. */
const TOOLS_AT_LAST = 48

describe('what a list costs', () => {
  test('no tool is described by another, for each is read on its own', () => {
    for (const tool of tools)
      expect(JSON.stringify(tool)).not.toMatch(/earlier tool|as in the|as in an|tool before|tool above|see above|like creating/i)
  })

  test('the complete list leaves room for the tools to come, at the median cost of these', async () => {
    const tools = await listed(workspace.key)
    const each = tools.map((tool) => tokensOf([tool])).sort((a, b) => a - b)
    const toCome = Math.max(0, TOOLS_AT_LAST - tools.length) * each[each.length >> 1]!
    expect(tokensOf(tools) + toCome).toBeLessThan(MOST)
  })

  test('core has at most 20 tools, and all together stay affordable', async () => {
    const core = await listed(workspace.key, '?toolsets=core')
    expect(core.length).toBeLessThanOrEqual(20)
    expect(tokensOf(core)).toBeLessThan(MOST_OF_CORE)
    expect(tokensOf(tools)).toBeLessThan(MOST_OF_ALL)
  })

  test.each(toolsets.filter((name) => name !== 'core'))('%s stays small', async (toolset) => {
    expect(tokensOf(await listed(workspace.key, `?toolsets=${toolset}`))).toBeLessThan(MOST_OF_A_TOOLSET)
  })
})

describe('growth_get_record', () => {
  const idOf = (made: CallToolResult, name: string) => (made.structuredContent as Record<string, { id: string }>)[name]!.id

  test('reads a record of each kind as its own operation does', async () => {
    const ids: Record<string, string> = {
      item: await story.drafted(),
      batch: idOf(await mcp.call('growth_create_batch', { count: 1 }), 'batch'),
      learning: idOf(await mcp.call('growth_add_learning', { kind: 'worked', note: 'Questions' }), 'learning'),
    }
    for (const [kind, id] of Object.entries(ids)) {
      const { structuredContent, content } = await mcp.call('growth_get_record', { kind, id })
      const path = { item: 'items', batch: 'batches', learning: 'learnings' }[kind]
      expect(structuredContent).toEqual((await app.send('GET', `${path}/${id}`, { key: workspace.key })).body)
      expect((content[0] as { text: string }).text).toContain(id)
    }
  })

  test('says which kinds there are, and what is missing', async () => {
    const kinds = (tools.find(({ name }) => name === 'growth_get_record')!.inputSchema.properties as { kind: { enum: string[] } }).kind.enum
    expect(kinds).toEqual(expect.arrayContaining(['item', 'batch', 'article', 'audit', 'signal', 'learning', 'rule']))
    const textOf = async (input: object) => ((await mcp.call('growth_get_record', { ...input })).content[0] as { text: string }).text
    expect(await textOf({ kind: 'items', id: newId() })).toBe(`invalid_input: kind must be one of ${kinds.join(', ')}`)
    expect(await textOf({ kind: 'item', id: newId() })).toBe('not_found: no such item')
    expect(await textOf({ kind: 'item', id: newId(), more: 1 })).toStartWith('invalid_input: more is not a known field')
    expect(await textOf({ kind: 'item' })).toStartWith('invalid_input: id is required')
  })
})

describe('a call', () => {
  test.each(named)('of %s succeeds with valid input, in structured content and in text', async (name, o) => {
    for (const extent of ['needed', 'whole'] as const) {
      const input = await legalInput(workspace, o, extent)
      const result = await mcp.call(name, extent === 'needed' ? input : withoutConfirm(input))
      const [content] = result.content
      expect([result.isError ?? false, content?.type]).toEqual([false, 'text'])
      const text = content?.type === 'text' ? content.text : ''
      for (const id of idsIn(result.structuredContent)) expect(text).toContain(id)
    }
  })

  test.each(named.filter(([, o]) => Object.keys(o.input.properties).length > 0))(
    'of %s with an unknown field is an error that names it',
    async (name, o) => {
      const { isError, content, structuredContent, _meta } = await mcp.call(name, { ...sampleOf(o, 'needed'), no_such_field: 1 })
      expect([isError, structuredContent]).toEqual([true, undefined])
      expect(content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/^invalid_input: no_such_field is not a known field/) })
      expect(_meta).toMatchObject({ 'tendril/error': { code: 'invalid_input', details: [{ path: 'no_such_field' }] } })
    },
  )

  test('for a record that does not exist or is in another state gives the error code', async () => {
    const missing = await mcp.call('growth_approve_item', { id: newId() })
    expect(missing).toMatchObject({ isError: true, content: [{ text: 'not_found: no such item' }] })
    const item = await legalInput(workspace, operations.find(({ id }) => id === 'growth.items.approve')!)
    await mcp.call('growth_reject_item', { id: item.id })
    const refused = await mcp.call('growth_approve_item', { id: item.id })
    expect(refused._meta).toMatchObject({ 'tendril/error': { code: 'conflict', request_id: expect.any(String) } })
  })

  test('of an unknown tool is a protocol error, which suggests the nearest', async () => {
    await expect(mcp.call('growth_fly')).rejects.toMatchObject({ code: -32_602 })
    await expect(mcp.call('growth_aprove_item')).rejects.toThrow('Unknown tool: growth_aprove_item. Did you mean growth_approve_item?')
    await expect(mcp.call('x'.repeat(5_000))).rejects.toThrow(/Unknown tool: x{199}…\. tools\/list has them all\./)
  })

  test.each([
    ['growth_schedule_item', { post_at: 'next_slot' }, 'drafted', 'Next: ask a person; once they agree, growth_approve_item {"id":"ID"}'],
    ['growth_approve_item', {}, 'approved', 'Next: ask a person; once they agree, growth_schedule_item {"id":"ID"}'],
  ])('of %s in another state names the call to make next', async (name, more, state, next) => {
    const id = state === 'drafted' ? await story.drafted() : await story.approved()
    const { content, _meta } = await mcp.call(name, { id, ...more })
    expect((content[0] as { text: string }).text.split('\n').at(-1)).toBe(next.replace('ID', id))
    expect(_meta).toMatchObject({ 'tendril/error': { details: [{ path: 'next', message: expect.stringMatching(new RegExp(` ${id}$`)) }] } })
  })

  test('with a time in the past is told the present one', async () => {
    const { content } = await mcp.call('growth_schedule_item', { id: await story.approved(), post_at: '2020-01-01T00:00:00Z' })
    expect(content[0]).toMatchObject({ text: expect.stringMatching(/post_at is in the past: it is now \d{4}-\d{2}-\d{2}T/) })
  })

  test('of a tool that the client filtered out is refused', async () => {
    await using some = await connectMcp(app.url, { key: workspace.key, query: '?toolsets=items&readonly=1' })
    for (const name of ['growth_update_profile', 'growth_approve_item', 'growth_list_batches'])
      await expect(some.call(name)).rejects.toMatchObject({ code: -32_602 })
    expect((await some.call('growth_list_queue')).isError).toBeUndefined()
  })

  test('of a slow post answers with the item as it is, marked as pending', async () => {
    await using slow = await testApp({ env: { SANDBOX_FAULTS: 'applied502=1' }, overrides: { replyWithinMs: 50 } })
    const story = await newStory(slow)
    const id = await story.approved()
    await using one = await connectMcp(slow.url, { key: story.key })
    const result = await one.call('growth_post_item', { id }, { 'tendril/idempotency-key': 'slow' })
    expect(result._meta).toEqual({ 'tendril/pending': true })
    expect(result.structuredContent).toMatchObject({ item: { status: expect.stringMatching(/^publish/) } })
  })

  test('is recorded in the audit trail as MCP', async () => {
    await mcp.call('growth_update_profile', { goal: 'audited' })
    const [row] = await app.owner`select surface, operation from audit where tenant_id = ${workspace.tenantId} order by id desc limit 1`
    expect(row).toEqual({ surface: 'mcp', operation: 'growth.profile.update' })
  })
})

describe('the same key', () => {
  const key = (name = 'tendril/idempotency-key') => ({ [name]: newId() })

  test.each(['tendril/idempotency-key', 'idempotencyKey'])('sent as %s runs once and replays', async (name) => {
    const meta = key(name)
    const first = await mcp.call('growth_create_batch', { count: 1 }, meta)
    const second = await mcp.call('growth_create_batch', { count: 1 }, meta)
    expect(second.structuredContent).toEqual(first.structuredContent!)
    expect([first._meta, second._meta]).toEqual([undefined, { 'tendril/idempotency-replayed': true }])
  })

  test('given as an argument runs once and replays, too, and so does one that a client and its model give alike', async () => {
    const idempotency_key = newId()
    const first = await mcp.call('growth_create_batch', { count: 1, idempotency_key })
    const second = await mcp.call('growth_create_batch', { count: 1, idempotency_key })
    const third = await mcp.call('growth_create_batch', { count: 1, idempotency_key }, { 'tendril/idempotency-key': idempotency_key })
    const ids = [first, second, third].map(({ structuredContent }) => (structuredContent as { batch: { id: string } }).batch.id)
    expect(new Set(ids).size).toBe(1)
    expect([second._meta, third._meta]).toEqual([{ 'tendril/idempotency-replayed': true }, { 'tendril/idempotency-replayed': true }])
  })

  test.each([
    ['a number', 7, 'idempotency_key must be text'],
    ['another than that of the client', 'b', 'idempotency_key differs from tendril/idempotency-key in _meta: give one of them'],
  ])('as an argument that is %s is refused', async (_, idempotency_key, message) => {
    const { content, _meta } = await mcp.call(
      'growth_update_profile',
      { voice: 'dry', idempotency_key },
      { 'tendril/idempotency-key': 'a' },
    )
    expect(content[0]).toMatchObject({ text: `invalid_input: ${message}` })
    expect(_meta).toMatchObject({ 'tendril/error': { details: [{ path: 'idempotency_key' }] } })
  })

  test('replays over REST what was done over MCP', async () => {
    const meta = key()
    const first = await mcp.call('growth_update_profile', { voice: 'dry' }, meta)
    const headers = { 'idempotency-key': Object.values(meta)[0]! }
    const again = await app.send('PUT', 'profile', { key: workspace.key, body: { voice: 'dry' }, headers })
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.structuredContent as never])
  })

  test('with another input is refused, and so is a key that is not text', async () => {
    const meta = key()
    await mcp.call('growth_update_profile', { voice: 'dry' }, meta)
    const reused = await mcp.call('growth_update_profile', { voice: 'wet' }, meta)
    expect(reused._meta).toMatchObject({ 'tendril/error': { code: 'idempotency_key_reused' } })
    const wrong = await mcp.call('growth_update_profile', { voice: 'dry' }, { 'tendril/idempotency-key': 7 })
    expect(wrong._meta).toMatchObject({ 'tendril/error': { code: 'invalid_input' } })
  })
})

/** Drops the confirmation, which only persons give. */
const withoutConfirm = ({ confirm, ...input }: Record<string, unknown>) => input

const idsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => (name === 'id' && typeof one === 'string' ? [one] : idsIn(one)))
}
