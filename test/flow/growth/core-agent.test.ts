/**
 * Agents that know nothing of Tendril and have the toolset `core` do the whole job, from an empty
 * workspace to a post on the network, with a mistake taken back in time: one with a key of an
 * editor writes, one that may approve decides. They choose their calls by what the server tells
 * them: the list of tools, the brief, and the errors.
 */
import { expect, test } from 'bun:test'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { newStory } from '#test/support/growth/story'
import { connectMcp } from '#test/support/mcp/mcp'
import { tokensOf } from '#test/support/model/o200k'
import { tokenOf } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const MOST_CALLS = 20
/** Of both lists, the calls and the texts of their answers. */
const MOST_TOKENS = 13_000

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Content = any

interface Answered {
  result: CallToolResult
  text: string
  body: Content
}

/** An agent whose calls and tokens are added to `spent`. */
const agentWith = async (key: string, spent: { calls: number; tokens: number }) => {
  const mcp = await connectMcp(app.url, { key, query: '?toolsets=core' })
  const tools = await mcp.tools()
  spent.tokens += tokensOf({ tools })
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Answered> => {
    const result = await mcp.call(name, args)
    const { text } = result.content[0] as { text: string }
    spent.calls++
    spent.tokens += tokensOf(args) + tokensOf(text)
    return { result, text, body: result.structuredContent }
  }
  return {
    call,
    names: tools.map(({ name }) => name),
    instructions: mcp.client.getInstructions(),
    [Symbol.asyncDispose]: () => mcp.client.close(),
  }
}

/** The call that an error names at its end. */
const nextIn = (text: string): [string, Record<string, unknown>] => {
  const [, name, args] = /(growth_\w+) (\{.*\})/.exec(text.split('\n').at(-1)!)!
  return [name!, JSON.parse(args!)]
}

test('agents that know nothing draft, correct, approve, schedule, take back and post with the toolset core', async () => {
  const story = await newStory(app)
  const spent = { calls: 0, tokens: 0 }
  await using writer = await agentWith(await tokenOf(app, story.tenantId, 'editor'), spent)
  await using approver = await agentWith(await tokenOf(app, story.tenantId, 'approver'), spent)

  // It begins where the instructions say, and follows the brief.
  expect(writer.instructions).toContain('growth_overview')
  await writer.call('growth_overview')
  const brief = await writer.call('growth_get_brief')
  const actions: { tool: string | null }[] = brief.body.brief.actions
  expect(actions.some(({ tool }) => tool === 'growth_update_profile')).toBe(true)
  const { body: profile } = await writer.call('growth_update_profile', {
    goal: 'Book demos with operations leads',
    audience: 'operations leads at logistics firms',
    writing_dna: { proof: ['412 depots use our dock scheduler'], avoid: ['game changer'] },
  })
  expect(profile.profile.goal).toBe('Book demos with operations leads')

  // The drafts are in the answer of the call that asks for them; the same key drafts nothing twice.
  const wish = { count: 2, focus: 'late deliveries', idempotency_key: 'first batch' }
  const batch = (await writer.call('growth_create_batch', wish)).body.batch
  expect(batch).toMatchObject({
    status: 'ready',
    delivered: 2,
    items: [{ status: 'drafted' }, { status: 'drafted' }],
  })
  expect((await writer.call('growth_create_batch', wish)).body.batch.id).toBe(batch.id)
  const [first, second] = batch.items as [{ id: string }, { id: string }]

  // A mistyped field is answered with the right ones.
  expect((await writer.call('growth_edit_item', { id: first.id, text: 'x' })).text).toMatch(
    /text is not a known field.* body/,
  )
  await writer.call('growth_edit_item', { id: first.id, body: 'Every delay starts at the dok.' })

  // The writer is not offered what it may not do. For the other it is too early to schedule: the
  // error says what comes first.
  expect(writer.names).not.toContain('growth_approve_item')
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const early = await approver.call('growth_schedule_item', { id: first.id, post_at: soon })
  expect([early.result.isError, early.text]).toEqual([
    true,
    expect.stringContaining('ask a person'),
  ])
  expect(nextIn(early.text)).toEqual(['growth_approve_item', { id: first.id }])
  await approver.call(...nextIn(early.text))
  expect(
    (await approver.call('growth_schedule_item', { id: first.id, post_at: soon })).body.item
      .post_at,
  ).toBe(soon)

  // The typing error is noticed, and the post taken back: nothing goes out before a new approval.
  const again = await approver.call('growth_approve_item', { id: first.id })
  expect(nextIn(again.text)).toEqual(['growth_reopen_item', { id: first.id }])
  expect((await writer.call(...nextIn(again.text))).body.item.status).toBe('drafted')
  const { item } = (
    await writer.call('growth_edit_item', { id: first.id, body: 'Every delay starts at the dock.' })
  ).body
  await approver.call('growth_approve_item', {
    id: first.id,
    expect_hash: item.content_hash.slice(0, 8),
  })
  expect((await approver.call('growth_post_item', { id: first.id })).body.item).toMatchObject({
    status: 'posted',
    body: item.body,
  })

  // Several decisions take one call; at the end it reports what became of the post.
  const left = await approver.call('growth_bulk_items', {
    action: 'reject',
    items: [{ id: second.id, reason: 'too dry' }],
  })
  expect(left.body.results).toMatchObject([{ id: second.id, status: 'rejected' }])
  const { body: posted } = await writer.call('growth_get_record', { kind: 'item', id: first.id })
  expect(posted.item).toMatchObject({ status: 'posted', external_id: expect.any(String) })
  expect((await writer.call('growth_overview')).text).toContain('posted')

  expect(await story.posts()).toEqual({ 'Every delay starts at the dock.': 1 })
  console.info(`toolset core: ${spent.calls} calls, ${spent.tokens} tokens`)
  expect(spent.calls).toBeLessThanOrEqual(MOST_CALLS)
  expect(spent.tokens).toBeLessThan(MOST_TOKENS)
})
