/** What the agent has done, in numbers, over HTTP. */
import { describe, expect, test } from 'bun:test'
import { daysOf } from '#domain/agent/job/analytics'
import type { Job } from '#domain/agent/job/job'
import { newStep, type Step } from '#domain/agent/job/step'
import { newId } from '#kernel/ids'
import {
  actionsSince,
  costSince,
  endedByDay,
  newestPending,
  pendingApprovals,
} from '#store/agent/analytics'
import { insertSteps } from '#store/agent/steps'
import { openDb } from '#store/engine/db'
import type { Part } from '#store/engine/load'
import { makeApproval, makeJob } from '#test/support/agent/records'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { write } from '#test/support/arrange'
import { freshDb } from '#test/support/database/db'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

const end = (surface: Surface, status: Job['status'], days: number, more: Partial<Job> = {}) =>
  makeJob(surface, { status, ended_at: daysAgo(days), ...more })

const call = async (surface: Surface, name: string, state: Step['state'], days = 0) => {
  const { id: job_id } = await makeJob(surface)
  // It has never begun.
  const isRefused = state === 'failed' || state === 'rejected'
  const step = newStep(
    {
      id: newId(),
      job_id,
      number: 1,
      kind: 'tool',
      name,
      state,
      started_at: isRefused ? null : daysAgo(days),
    },
    daysAgo(days),
  )
  await write(surface, { writes: [insertSteps([step])] })
}

const of = async ({ send }: Surface, query = '', key?: string) =>
  (await send('GET', `analytics${query}`, undefined, key)).body

describe('analytics', () => {
  test('of a new workspace are zeros, for each day of the last seven', async () => {
    const surface = await newSurface(app)
    const { generated_at, ...body } = await of(surface)
    const { days } = daysOf('7d', new Date(generated_at), 'UTC')
    expect(Math.abs(Date.parse(generated_at) - Date.now())).toBeLessThan(60_000)
    expect(body).toEqual({
      window: '7d',
      tasks: {
        completed: 0,
        failed: 0,
        cancelled: 0,
        running: 0,
        by_day: days.map((date) => ({ date, completed: 0, failed: 0 })),
      },
      actions: { total: 0, by_tool: [], by_module: [] },
      cost: { usd_cents: 0, input_tokens: 0, output_tokens: 0, is_estimated: true },
      approvals: { pending: 0, items: [] },
    })
  })

  test('count jobs of every kind that ended within the window, by day, and those that are not over', async () => {
    const surface = await newSurface(app)
    const noon = new Date(new Date().setUTCHours(12, 0, 0, 0))
    const dayAgo = (days: number) =>
      new Date(noon.getTime() - days * DAY_MS).toISOString().slice(0, 10)
    const today = new Date().toISOString().slice(0, 10)
    await end(surface, 'completed', 0, { kind: 'task' })
    await end(surface, 'completed', 2)
    await end(surface, 'failed', 2, { error: 'max_steps', kind: 'action' })
    await end(surface, 'cancelled', 3)
    await end(surface, 'completed', 20, { kind: 'scheduled' })
    await end(surface, 'completed', 40)
    await makeJob(surface)
    await makeJob(surface, { status: 'waiting_approval' })
    const [week, month] = [await of(surface, '?window=7d'), await of(surface, '?window=30d')]
    const { by_day, ...sums } = week.tasks
    expect(sums).toEqual({ completed: 2, failed: 1, cancelled: 1, running: 2 })
    expect(by_day.length).toBe(7)
    expect(
      by_day.filter(
        ({ completed, failed }: { completed: number; failed: number }) => completed + failed > 0,
      ),
    ).toEqual([
      { date: dayAgo(2), completed: 1, failed: 1 },
      { date: today, completed: 1, failed: 0 },
    ])
    expect([month.window, month.tasks.completed, month.tasks.by_day.length]).toEqual(['30d', 3, 30])
  })

  test('have the days of the time zone of the profile', async () => {
    const surface = await newSurface(app)
    const of7 = (timeZone: string) => daysOf('7d', new Date(), timeZone)
    for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      await app.send('PUT', 'profile', { key: surface.key, body: { time_zone } })
      const { days, starts } = of7(time_zone)
      const { id } = await makeJob(surface, { status: 'completed', ended_at: starts[3]! })
      const shown = (await of(surface)).tasks.by_day
      expect(shown.map(({ date }: { date: string }) => date)).toEqual(days)
      expect(shown[3].completed).toBe(1)
      await app.owner`delete from agent_job where id = ${id}`
    }
  })

  test('count calls that were carried out, by tool and by module', async () => {
    const surface = await newSurface(app)
    await call(surface, 'growth_overview', 'done')
    await call(surface, 'growth_overview', 'done', 6)
    await call(surface, 'growth_create_batch', 'waiting')
    await call(surface, 'get_current_time', 'done')
    await call(surface, 'crm_find', 'unknown')
    await call(surface, 'growth_post_item', 'failed')
    await call(surface, 'growth_post_item', 'rejected')
    await call(surface, 'growth_overview', 'done', 12)
    const { actions } = await of(surface)
    expect(actions).toEqual({
      total: 5,
      by_tool: [
        { tool: 'growth_overview', module: 'growth', calls: 2 },
        { tool: 'crm_find', module: 'other', calls: 1 },
        { tool: 'get_current_time', module: 'agent', calls: 1 },
        { tool: 'growth_create_batch', module: 'growth', calls: 1 },
      ],
      by_module: [
        { module: 'growth', calls: 3 },
        { module: 'other', calls: 1 },
        { module: 'agent', calls: 1 },
      ],
    })
    expect((await of(surface, '?window=30d')).actions.total).toBe(6)
  })

  test('sum what the jobs of the window cost, and those that are not over', async () => {
    const surface = await newSurface(app)
    await end(surface, 'completed', 1, { cost: 150, input_tokens: 1_000, output_tokens: 50 })
    await makeJob(surface, { cost: 51, input_tokens: 2_000_000_000, output_tokens: 7 })
    await end(surface, 'failed', 10, {
      cost: 900,
      input_tokens: 2_000_000_000,
      output_tokens: 1,
      error: 'max_steps',
    })
    expect((await of(surface)).cost).toEqual({
      usd_cents: 3,
      input_tokens: 2_000_001_000,
      output_tokens: 57,
      is_estimated: true,
    })
    expect((await of(surface, '?window=30d')).cost).toMatchObject({
      usd_cents: 12,
      input_tokens: 4_000_001_000,
    })
  })

  test('show the ten newest approvals that wait, and how many there are', async () => {
    const surface = await newSurface(app)
    const ids: string[] = []
    for (let count = 0; count < 12; count++) ids.unshift((await makeApproval(surface)).id)
    await makeApproval(surface, {
      status: 'rejected',
      decided_how: 'expiry',
      decided_at: new Date(),
    })
    const { approvals } = await of(surface)
    expect([approvals.pending, approvals.items.map(({ id }: { id: string }) => id)]).toEqual([
      12,
      ids.slice(0, 10),
    ])
    expect(Object.keys(approvals.items[0]).sort()).toEqual([
      'created_at',
      'goal',
      'id',
      'job_id',
      'tool_name',
    ])
  })

  test('are of the own workspace', async () => {
    const [surface, other] = [await newSurface(app), await newSurface(app)]
    await end(surface, 'completed', 0, { cost: 100 })
    await call(surface, 'growth_overview', 'done')
    await makeApproval(surface)
    const { tasks, actions, cost, approvals } = await of(other)
    expect([
      tasks.completed,
      tasks.running,
      actions.total,
      cost.usd_cents,
      approvals.pending,
    ]).toEqual([0, 0, 0, 0, 0])
  })
})

interface PlanNode {
  'Node Type': string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

test('the reads behind analytics find their rows by indexes, those of the window by its time', async () => {
  const { starts } = daysOf('7d', new Date(), 'UTC')
  const [since] = starts
  const tenantId = newId()
  // Plans depend on what rows have left behind, and other files use the database of the server.
  await using fresh = await freshDb()
  await using db = openDb({ ...fresh.options, max: 1 })
  const conditions = (part: Part<unknown>) =>
    db.letter(tenantId, async (sql) => {
      await sql`select set_config('app.tenant', ${tenantId}, true),
        set_config('enable_seqscan', 'off', true)`
      const [row] = await sql<{
        'QUERY PLAN': [{ Plan: PlanNode }]
      }>`explain (format json) ${part.query(sql)}`
      const nodes = nodesOf(row!['QUERY PLAN'][0].Plan)
      expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
      return nodes.flatMap((node) => (node['Index Name'] ? [node['Index Cond'] ?? ''] : []))
    })
  for (const condition of await conditions(endedByDay(starts)))
    expect(condition).toMatch(/tenant_id = .*ended_at >= /)
  expect(
    (await conditions(costSince(since!))).filter((condition) => condition.includes('ended_at >= '))
      .length,
  ).toBe(1)
  for (const condition of await conditions(actionsSince(since!)))
    expect(condition).toMatch(/tenant_id = .*started_at >= /)
  for (const part of [pendingApprovals, newestPending(10, { personId: null })])
    for (const condition of await conditions(part)) expect(condition).toMatch(/tenant_id = /)
})
