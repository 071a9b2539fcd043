/** The tools of the contract as the SDK's client calls them. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { operations } from '#contract/index'
import { newId } from '#kernel/ids'
import { testApp } from '#test/support/app'
import { legalInput, newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { newStory, type Story, storyAt } from '#test/support/growth/story'
import { connectMcp } from '#test/support/mcp/mcp'
import { use, useSharedApp } from '#test/support/use'

let workspace: Workspace
let story: Story
const app = useSharedApp()
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

describe('growth_get_record', () => {
  const idOf = (made: CallToolResult, name: string) =>
    (made.structuredContent as Record<string, { id: string }>)[name]!.id

  test('reads a record of each kind as its own operation does', async () => {
    const ids: Record<string, string> = {
      item: await story.drafted(),
      batch: idOf(await mcp.call('growth_create_batch', { count: 1 }), 'batch'),
      learning: idOf(
        await mcp.call('growth_add_learning', { kind: 'worked', note: 'Questions' }),
        'learning',
      ),
    }
    for (const [kind, id] of Object.entries(ids)) {
      const { structuredContent, content } = await mcp.call('growth_get_record', { kind, id })
      const path = { item: 'items', batch: 'batches', learning: 'learnings' }[kind]
      expect(structuredContent).toEqual(
        (await app.send('GET', `${path}/${id}`, { key: workspace.key })).body,
      )
      expect((content[0] as { text: string }).text).toContain(id)
    }
  })

  test('says which kinds there are, and what is missing', async () => {
    const kinds = (
      tools.find(({ name }) => name === 'growth_get_record')!.inputSchema.properties as {
        kind: { enum: string[] }
      }
    ).kind.enum
    expect(kinds).toEqual(
      expect.arrayContaining(['item', 'batch', 'article', 'audit', 'signal', 'learning', 'rule']),
    )
    const textOf = async (input: object) =>
      ((await mcp.call('growth_get_record', { ...input })).content[0] as { text: string }).text
    expect(await textOf({ kind: 'items', id: newId() })).toBe(
      `invalid_input: kind must be one of ${kinds.join(', ')}`,
    )
    expect(await textOf({ kind: 'item', id: newId() })).toBe('not_found: no such item')
    expect(await textOf({ kind: 'item', id: newId(), more: 1 })).toStartWith(
      'invalid_input: more is not a known field',
    )
    expect(await textOf({ kind: 'item' })).toStartWith('invalid_input: id is required')
  })
})

describe('growth_bulk_items', () => {
  interface Line {
    id: string
    status: string | null
    post_at: string | null
    error: string | null
  }
  const bulk = async (action: string, items: object[], more: object = {}) => {
    const { structuredContent, content } = await mcp.call('growth_bulk_items', {
      action,
      items,
      ...more,
    })
    return {
      lines: (structuredContent as { results: Line[] } | undefined)?.results ?? [],
      text: (content[0] as { text: string }).text,
    }
  }

  test('does what its operation does with each item, and says in a line what became of it', async () => {
    const [approved, draft] = [await story.approved(), await story.drafted()]
    const { lines, text } = await bulk('schedule', [
      { id: approved, post_at: 'next_slot' },
      { id: draft, post_at: 'next_slot' },
    ])
    expect(lines).toMatchObject([
      { id: approved, status: 'approved', post_at: expect.stringMatching(/^\d{4}-/) },
      { id: draft, error: expect.stringMatching(/^conflict: .*drafted/) },
    ])
    for (const part of [approved, draft, 'conflict']) expect(text).toContain(part)
    expect((await bulk('reopen', [{ id: approved }])).lines).toMatchObject([
      { id: approved, status: 'drafted' },
    ])
  })

  test('shows every result of the most items, all refused', async () => {
    const ids = Array.from({ length: 100 }, () => newId())
    const tags = Array.from({ length: 20 }, (_, index) => `tag ${index}`)
    const { lines, text } = await bulk(
      'tag',
      ids.map((id) => ({ id, tags })),
    )
    expect(lines.map(({ id }) => id)).toEqual(ids)
    for (const id of ids) expect(text).toContain(id)
  })

  test('replays under the same key', async () => {
    const [item, other] = [{ id: await story.drafted() }, { id: await story.drafted() }]
    const more = { idempotency_key: newId() }
    const first = await bulk('reject', [item], more)
    expect(await bulk('reject', [item], more)).toEqual(first)
    expect((await bulk('reject', [other], more)).text).toStartWith('idempotency_key_reused')
  })

  test('approves nothing', async () => {
    const id = await story.drafted()
    const refused = await bulk('approve', [{ id }])
    expect(refused.text).toBe(
      'invalid_input: action must be one of reject, schedule, unschedule, reopen, delete, tag',
    )
    expect((await bulk('tag', [{ id, tags: ['a'], expect_hash: '00000000' }])).text).toContain(
      'expect_hash is not a known field',
    )
    expect((await story.send('GET', `items/${id}`)).body.item.status).toBe('drafted')
  })
})

describe('a call', () => {
  test.each(named)(
    'of %s succeeds with its whole input, in structured content and in text',
    async (name, o) => {
      const input = await legalInput(workspace, o, 'whole')
      const result = await mcp.call(name, withoutConfirm(input))
      const [content] = result.content
      expect([result.isError ?? false, content?.type]).toEqual([false, 'text'])
      const text = content?.type === 'text' ? content.text : ''
      for (const id of idsIn(result.structuredContent)) expect(text).toContain(id)
    },
  )

  test.each(named.filter(([, o]) => Object.keys(o.input.properties).length > 0))(
    'of %s with an unknown field is an error that names it',
    async (name, o) => {
      const { isError, content, structuredContent, _meta } = await mcp.call(name, {
        ...sampleOf(o, 'needed'),
        no_such_field: 1,
      })
      expect([isError, structuredContent]).toEqual([true, undefined])
      expect(content[0]).toMatchObject({
        type: 'text',
        text: expect.stringMatching(/^invalid_input: no_such_field is not a known field/),
      })
      expect(_meta).toMatchObject({
        'tendril/error': { code: 'invalid_input', details: [{ path: 'no_such_field' }] },
      })
    },
  )

  test('for a record that does not exist or is in another state gives the error code', async () => {
    const missing = await mcp.call('growth_approve_item', { id: newId() })
    expect(missing).toMatchObject({ isError: true, content: [{ text: 'not_found: no such item' }] })
    const item = await legalInput(
      workspace,
      operations.find(({ id }) => id === 'growth.items.approve')!,
    )
    await mcp.call('growth_reject_item', { id: item.id })
    const refused = await mcp.call('growth_approve_item', { id: item.id })
    expect(refused._meta).toMatchObject({
      'tendril/error': { code: 'conflict', request_id: expect.any(String) },
    })
  })

  test('of an unknown tool is a protocol error, which suggests the nearest', async () => {
    await expect(mcp.call('growth_fly')).rejects.toMatchObject({ code: -32_602 })
    await expect(mcp.call('growth_aprove_item')).rejects.toThrow(
      'Unknown tool: growth_aprove_item. Did you mean growth_approve_item?',
    )
    await expect(mcp.call('x'.repeat(5_000))).rejects.toThrow(
      /Unknown tool: x{199}…\. tools\/list has them all\./,
    )
  })

  test('with a time in the past is told the present one', async () => {
    const { content } = await mcp.call('growth_schedule_item', {
      id: await story.approved(),
      post_at: '2020-01-01T00:00:00Z',
    })
    expect(content[0]).toMatchObject({
      text: expect.stringMatching(/post_at is in the past: it is now \d{4}-\d{2}-\d{2}T/),
    })
  })

  test('of a tool that the client filtered out is refused', async () => {
    await using some = await connectMcp(app.url, {
      key: workspace.key,
      query: '?toolsets=items&readonly=1',
    })
    for (const name of ['growth_update_profile', 'growth_approve_item', 'growth_list_batches'])
      await expect(some.call(name)).rejects.toMatchObject({ code: -32_602 })
    expect((await some.call('growth_list_queue')).isError).toBeUndefined()
  })

  test('of a slow post answers with the item as it is, marked as pending', async () => {
    await using slow = await testApp({
      env: { SANDBOX_FAULTS: 'applied502=1' },
      overrides: { replyWithinMs: 50 },
    })
    const story = await newStory(slow)
    const id = await story.approved()
    await using one = await connectMcp(slow.url, { key: story.key })
    const result = await one.call('growth_post_item', { id }, { 'tendril/idempotency-key': 'slow' })
    expect(result._meta).toEqual({ 'tendril/pending': true })
    expect(result.structuredContent).toMatchObject({
      item: { status: expect.stringMatching(/^publish/) },
    })
  })

  test('is recorded in the audit trail as MCP', async () => {
    await mcp.call('growth_update_profile', { goal: 'audited' })
    const [row] =
      await app.owner`select surface, operation from audit where tenant_id = ${workspace.tenantId}
        order by id desc limit 1`
    expect(row).toEqual({ surface: 'mcp', operation: 'growth.profile.update' })
  })
})

/** Drops the confirmation, which only persons give. */
const withoutConfirm = ({ confirm, ...input }: Record<string, unknown>) => input

const idsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) =>
    name === 'id' && typeof one === 'string' ? [one] : idsIn(one),
  )
}
