/** Tools, the rules for them, and usage, over HTTP. */
import { describe, expect, test } from 'bun:test'
import { capabilities, operations } from '#contract/index'
import { isAgentTool } from '#contract/op'
import { monthOf } from '#domain/app/plan'
import { dayOf } from '#domain/app/read-budget'
import type { Scope } from '#kernel/scopes'
import { makeApproval } from '#test/support/agent/records'
import { newSurface } from '#test/support/agent/surface'
import { setPlan, setUsed } from '#test/support/database/writes'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

interface Shown {
  name: string
  class: string
  rule: string | null
  isAsked: boolean
}

describe('tools', () => {
  const byName = async (
    { send, as }: Awaited<ReturnType<typeof newSurface>>,
    role: Parameters<typeof as>[0],
  ) =>
    new Map<string, Shown>(
      (await send('GET', 'tools', undefined, await as(role))).body.tools.map((one: Shown) => [
        one.name,
        one,
      ]),
    )

  test('that publish are asked of everybody, drafts of those who may not draft', async () => {
    const surface = await newSurface(app)
    const [owner, viewer] = [await byName(surface, 'owner'), await byName(surface, 'viewer')]
    const shown = (tools: Map<string, Shown>) =>
      ['growth_overview', 'growth_create_batch', 'growth_post_item'].map(
        (name) => tools.get(name)?.isAsked,
      )
    expect(shown(owner)).toEqual([false, false, true])
    expect(shown(viewer)).toEqual([false, true, true])
    expect(viewer.get('growth_pause_automation')).toBeUndefined()
  })

  test('of a key are those that its scopes allow to read, and what a person can allow', async () => {
    const toolsOf = async (...scopes: Scope[]) => {
      const { api_key } = await app.newKey(scopes)
      const { body } = await app.send('GET', '/api/v1/agent/tools', { key: api_key })
      return new Map<string, Shown>(body.tools.map((one: Shown) => [one.name, one]))
    }
    const [all, reading] = [
      await toolsOf('api:read', 'api:write', 'workspace:use'),
      await toolsOf('api:read', 'workspace:use'),
    ]
    const names = [...operations.filter(isAgentTool), ...capabilities].map(({ tool }) => tool!)
    expect([...all.keys()].sort()).toEqual([...names, 'search_conversation', 'use_tools'].sort())
    expect([all.get('growth_create_batch')?.isAsked, all.has('growth_pause_automation')]).toEqual([
      false,
      true,
    ])
    expect([reading.has('growth_overview'), reading.get('growth_create_batch')?.isAsked]).toEqual([
      true,
      true,
    ])
    expect(reading.has('growth_pause_automation')).toBe(false)
  })

  test('follow the rules of people, which cannot open what publishes', async () => {
    const surface = await newSurface(app)
    const owner = await surface.as('owner')
    const set = (name: string, decision: string) =>
      surface.send('PUT', `tool-rules/${name}`, { decision }, owner)
    expect((await set('growth_create_batch', 'ask')).body.tool).toMatchObject({
      rule: 'ask',
      isAsked: true,
    })
    expect((await set('growth_post_item', 'allow')).body.tool).toMatchObject({
      rule: 'allow',
      isAsked: true,
    })
    expect((await set('growth_list_queue', 'deny')).body.tool).toMatchObject({
      rule: 'deny',
      isAsked: false,
    })
    const tools = await byName(surface, 'owner')
    expect(
      ['growth_create_batch', 'growth_list_queue'].map((name) => tools.get(name)!.rule),
    ).toEqual(['ask', 'deny'])
    expect((await set('growth_create_batch', 'allow')).body.tool).toMatchObject({
      rule: 'allow',
      isAsked: false,
    })
    for (const _ of [1, 2]) {
      const removed = await surface.send(
        'DELETE',
        'tool-rules/growth_create_batch',
        undefined,
        owner,
      )
      expect([removed.status, removed.body.tool.rule]).toEqual([200, null])
    }
    expect((await set('growth_no_such', 'ask')).status).toBe(404)
  })
})

describe('usage', () => {
  test('is that of the day and the month, against the limits of the plan', async () => {
    const { send, tenantId } = await newSurface(app)
    const now = new Date()
    await setUsed(app, tenantId, { key: 'agent_tokens_day', period: dayOf(now), used: 400 })
    await setUsed(app, tenantId, { key: 'agent_tokens_month', period: monthOf(now), used: 1_200 })
    await setUsed(app, tenantId, { key: 'agent_cost_month', period: monthOf(now), used: 150 })
    await setPlan(app, tenantId, {
      overrides: { agent_tokens_day: 1_000, agent_tokens_month: -1, agent_cost_month: 1_000 },
    })
    expect((await send('GET', 'usage')).body).toEqual({
      limits: {
        tokens_day: 1_000,
        tokens_month: -1,
        cost_usd_cents_month: 10,
        tool_calls_hour: 300,
        max_steps: 40,
      },
      usage: { tokens_day: 400, tokens_month: 1_200, cost_usd_cents_month: 2 },
      remaining: { tokens_day: 600, tokens_month: null, cost_usd_cents_month: 8 },
      tools_hour: [],
      cost_is_estimated: false,
    })
    await setPlan(app, tenantId, { overrides: { agent_tokens_day: 100 } })
    expect((await send('GET', 'usage')).body.remaining.tokens_day).toBe(0)
  })

  test('counts calls of tools within the hour, and says when a cost is estimated', async () => {
    const surface = await newSurface(app)
    for (const ago of ['1 minute', '2 minutes', '2 hours']) {
      await makeApproval(surface)
      await app.owner`update agent_step set started_at = now() - ${ago}::interval
        where tenant_id = ${surface.tenantId} and started_at is null`
    }
    await app.owner`update agent_job set cost_estimated = true
      where tenant_id = ${surface.tenantId}`
    const { body } = await surface.send('GET', 'usage')
    expect([body.tools_hour, body.cost_is_estimated]).toEqual([
      [{ tool: 'growth_overview', calls: 2, limit: 300 }],
      true,
    ])
  })
})
