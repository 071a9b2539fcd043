/**
 * The lists of tools as the SDK's client sees them: which tools for whom, their descriptions, and
 * what they cost.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { capabilities, operations } from '#contract/index'
import { readsOnly } from '#contract/op'
import { moduleOf, toolsetOf, toolsets } from '#edge/mcp/view'
import type { Scope } from '#kernel/scopes'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { connectMcp } from '#test/support/mcp/mcp'
import { tokensOf } from '#test/support/model/o200k'
import { tokenOf } from '#test/support/session'
import { use, useSharedApp } from '#test/support/use'

let workspace: Workspace
const app = useSharedApp()
beforeAll(async () => {
  workspace = await newWorkspace(app)
})
const mcp = use(() => connectMcp(app.url, { key: workspace.key, query: '?toolsets=all' }))
let tools: Tool[]
beforeAll(async () => {
  tools = await mcp.tools()
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
const namesFor = async (key: string, query = '') =>
  (await listed(key, query)).map(({ name }) => name)

const keyOf = async (scopes: Scope[]) => (await app.newKey(scopes, workspace.tenantId)).api_key

describe('the list', () => {
  test('has every tool of the API document for a key with every scope, in its order', async () => {
    expect(await namesFor(workspace.key)).toEqual(usual.map(({ tool }) => tool!))
    expect(usual).toHaveLength(48)
    const ours = operations.flatMap(({ id, tool }) =>
      id === 'growth.items.bulk' ? 'growth_bulk_items' : (tool ?? []),
    )
    expect(await mcp.toolNames()).toEqual([
      ...ours,
      ...capabilities.map(({ tool }) => tool!),
      'growth_get_record',
    ])
  })

  test('has the tools beyond the API document only for a client that names their toolset', async () => {
    const beyond = withTool.flatMap(({ tool, toolset }) => (toolset === 'content' ? tool! : []))
    expect(beyond).toContain('growth_reopen_item')
    for (const query of ['?toolsets=content', '?toolsets=all'])
      expect(await namesFor(workspace.key, query)).toEqual(
        expect.arrayContaining([...beyond, 'growth_bulk_items', 'growth_get_record']),
      )
    expect(
      (await namesFor(workspace.key, '?toolsets=items')).filter((name) =>
        [...beyond, 'growth_bulk_items'].includes(name),
      ),
    ).toEqual([])
    expect(await namesFor(workspace.key, '?toolsets=content&readonly=1')).toEqual([
      'growth_list_queue',
      'growth_get_record',
    ])
  })

  test('warns of everything that releases text', async () => {
    const releasing = withTool
      .filter(({ outside, tool }) => outside || tool!.startsWith('growth_approve_'))
      .map(({ tool }) => tool!)
    releasing.push('growth_bulk_items')
    expect(releasing).toEqual(
      expect.arrayContaining([
        'growth_schedule_item',
        'growth_post_item',
        'growth_resume_automation',
      ]),
    )
    const hints = tools
      .filter(({ name }) => releasing.includes(name))
      .map(({ annotations }) => annotations!.destructiveHint)
    expect(hints).toEqual(releasing.map(() => true))
  })

  test.each<[Scope[]]>([[['mcp:use']], [['mcp:use', 'api:read']]])(
    'has the tools that only read for a key with %p',
    async (scopes) => {
      expect(await namesFor(await keyOf(scopes))).toEqual(reading)
    },
  )

  test('has for each role what the role can do', async () => {
    for (const role of ['owner', 'editor', 'approver', 'viewer'] as const) {
      const allowed = usual
        .filter((o) => role === 'owner' || o.roles.includes(role))
        .map(({ tool }) => tool!)
      expect(await namesFor(await tokenOf(app, workspace.tenantId, role))).toEqual(allowed)
    }
  })

  test('can be narrowed to some toolsets, or to tools that only read', async () => {
    const inItems = withTool.filter((o) => ['items', 'batches'].includes(toolsetOf(o)))
    expect(await namesFor(workspace.key, '?toolsets=items,batches')).toEqual(
      inItems.map(({ tool }) => tool!),
    )
    expect(await namesFor(workspace.key, '?toolsets=items&toolsets=BATCHES')).toEqual(
      inItems.map(({ tool }) => tool!),
    )
    for (const query of ['?readonly=1', '?read_only=true'])
      expect(await namesFor(workspace.key, query)).toEqual(reading)
    expect(await namesFor(workspace.key, '?toolsets=items&readonly=1')).toEqual([
      'growth_list_queue',
    ])
  })
})

describe('a description', () => {
  test.each(named)(
    '%s has a title, a description, a plain schema and annotations that agree with its operation',
    (name, o) => {
      const tool = tools.find((one) => one.name === name)!
      expect(tool.title!.length).toBeGreaterThan(5)
      expect(tool.description).toStartWith(o.summary)
      for (const schema of [tool.inputSchema, tool.outputSchema!]) {
        expect(schema.type).toBe('object')
        for (const union of ['anyOf', 'oneOf', 'allOf']) expect(schema).not.toContainKey(union)
      }
      const key = readsOnly(o) ? [] : ['idempotency_key']
      expect(Object.keys(tool.inputSchema.properties ?? {})).toEqual([
        ...Object.keys(o.input.properties),
        ...key,
      ])
      expect(tool.inputSchema.required ?? []).toEqual(o.input.required ?? [])
      // As clients read them, with the protocol's defaults for what is missing.
      const annotations = { readOnlyHint: false, idempotentHint: false, ...tool.annotations }
      expect(annotations.readOnlyHint).toBe(readsOnly(o))
      if (!readsOnly(o))
        expect(annotations).toMatchObject({
          destructiveHint: o.destructive ?? false,
          idempotentHint: o.repeatable ?? false,
          openWorldHint: o.outside ?? o.includes?.of.outside ?? false,
        })
    },
  )
})

/** Bounds exist because users lose most of a context to the tools of other servers. */
const costOf = (tools: Tool[]) => tokensOf({ tools })
const MOST = 12_000
const MOST_OF_A_TOOLSET = 4_000
/** Of the toolset that docs/agents.md recommends, and of all tools together. */
const MOST_OF_CORE = 5_000
const MOST_OF_ALL = 15_000
/** The number of tools in the API document. */
const TOOLS_AT_LAST = 48

describe('what a list costs', () => {
  test('no tool is described by another, for each is read on its own', () => {
    for (const tool of tools)
      expect(JSON.stringify(tool)).not.toMatch(
        /earlier tool|as in the|as in an|tool before|tool above|see above|like creating/i,
      )
  })

  test('the complete list leaves room for the tools to come, at the median cost of these', async () => {
    const tools = await listed(workspace.key)
    const each = tools.map((tool) => costOf([tool])).sort((a, b) => a - b)
    const toCome = Math.max(0, TOOLS_AT_LAST - tools.length) * each[each.length >> 1]!
    expect(costOf(tools) + toCome).toBeLessThan(MOST)
  })

  test('core has at most 20 tools, and all together stay affordable', async () => {
    const core = await listed(workspace.key, '?toolsets=core')
    expect(core.length).toBeLessThanOrEqual(20)
    expect(costOf(core)).toBeLessThan(MOST_OF_CORE)
    expect(costOf(tools)).toBeLessThan(MOST_OF_ALL)
  })

  test.each(toolsets.filter((name) => name !== 'core'))('%s stays small', async (toolset) => {
    expect(costOf(await listed(workspace.key, `?toolsets=${toolset}`))).toBeLessThan(
      MOST_OF_A_TOOLSET,
    )
  })
})
