import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { heldWork } from '#store/agent/jobs'
import { deploymentCounts } from '#store/app/deployment-counts'
import { testApp } from '#test/support/app'
import { type PlanNode, planOf, takenBack } from '#test/support/database/plans'
import { makeItemDue } from '#test/support/database/writes'
import { newStory } from '#test/support/growth/story'
import { use } from '#test/support/use'

/** Posts stay where they are. */
const app = use(() => testApp({ newDatabase: true, overrides: { lanes: [], sweepMs: 0 } }))

const counted = async () => (await app.workplace.db.system(deploymentCounts))[0]!

const HOUR_MS = 3_600_000

/** An item that was scheduled for an hour ago. */
const overdue = async () => {
  const story = await newStory(app)
  const id = await story.scheduled(HOUR_MS)
  const at = new Date(Date.now() - HOUR_MS)
  await makeItemDue(app, id, at)
  await app.owner`update actor set wake_at = ${at} where tenant_id = ${story.tenantId}`
  return { ...story, id }
}

test('counts what is late and in doubt in all workspaces, but not what a pause holds up', async () => {
  const before = await counted()
  expect(before).toMatchObject({ doubts: 0, reviews: 0, oldest_doubt: null, late: 0, latest: null })
  const [first, paused] = [await overdue(), await overdue()]
  await app.owner`update actor set paused = true where tenant_id = ${paused.tenantId}`
  await (await newStory(app)).scheduled(HOUR_MS)
  const attempt = (state: string, minutes: number) =>
    app.owner`insert into attempt (id, tenant_id, item_id, number, connection_id, body_sha, origin,
        state, intent_at, lease_until, sendable)
      select gen_random_uuid(), i.tenant_id, i.id,
        1 + (select count(*) from attempt a where a.item_id = i.id), c.id, ${state}, 'automatic',
        ${state}, now() - ${minutes} * interval '1 minute', now(), 'post'
      from item i join connection c on c.tenant_id = i.tenant_id
      where i.id = ${state === 'doubt' ? first.id : paused.id} limit 1`
  await attempt('doubt', 90)
  await attempt('posted', 500)
  await attempt('review', 30)
  const after = await counted()
  expect(after).toMatchObject({ doubts: 2, reviews: 1, late: 1, nodes: before.nodes })
  expect(after.oldest_doubt).toBeWithin(5_400, 5_500)
  expect(after.latest).toBeWithin(3_600, 3_700)
})

test('what is late is counted where its workspace runs something else, and nothing while held', async () => {
  const { late } = await counted()
  const { tenantId } = await overdue()
  await app.owner`update work set kind = 'watch' where tenant_id = ${tenantId}`
  expect((await counted()).late).toBe(late)
  const busy = await overdue()
  await app.owner`insert into work (id, tenant_id, lane, kind, ref_id, origin, run_at, payload, state)
    select gen_random_uuid(), tenant_id, 'agent', 'agent', ref_id, 'manual',
      run_at - interval '1 hour', '{}', 'running' from work where ref_id = ${busy.id}`
  await app.owner`update actor set wake_at = wake_at - interval '1 hour'
    where tenant_id = ${busy.tenantId}`
  expect((await counted()).late).toBe(late + 1)
  await app.owner`update hold set since = now(), cause = 'asked'`
  expect((await counted()).late).toBe(0)
  await app.owner`update hold set since = null, cause = null`
  await app.owner`delete from work where tenant_id in (${tenantId}, ${busy.tenantId})`
})

test("sums what is left of today's budgets of reads, whatever each plan allows", async () => {
  const day = new Date().toISOString().slice(0, 10)
  const charge = async (
    plan: string,
    overrides: object,
    key: string,
    used: number,
    period = day,
  ) => {
    const { tenantId } = await app.newWorkspace()
    await app.owner`update tenant set plan = ${plan}, overrides = ${app.owner.json(overrides as never)}
      where id = ${tenantId}`
    await app.owner`insert into counter (tenant_id, key, period, used)
      values (${tenantId}, ${key}, ${period}, ${used})`
  }
  await charge('free', {}, 'reads_free', 400)
  await charge('team', { reads_free: 50 }, 'reads_free', 50)
  await charge('team', {}, 'reads_payg', 250_000)
  await charge('team', {}, 'reads_free', 4_999, '2026-01-01')
  await charge('team', {}, 'posts', 5)
  const { reads } = await counted()
  expect(reads.toSorted((a, b) => a.tier.localeCompare(b.tier))).toEqual([
    { tier: 'free', left: 600, spent: 1 },
    { tier: 'payg', left: 750_000, spent: 0 },
  ])
})

test('finds them by indexes of what it counts, however many workspaces there are', async () => {
  const nodes = await app.workplace.db.systemTransaction(async (sql): Promise<PlanNode[]> => {
    await sql`set local enable_seqscan = off`
    return await planOf(sql, deploymentCounts(sql))
  })
  const indexes = nodes.flatMap((node) => node['Index Name'] ?? [])
  expect(indexes).toEqual(
    expect.arrayContaining([
      'attempt_doubt',
      'attempt_review',
      'actor_wake',
      'work_failing',
      'connection_lost',
      'counter_reads',
    ]),
  )
  const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
  expect(scanned.map((node) => node['Relation Name'])).not.toContain('attempt')
  expect(scanned.map((node) => node['Relation Name'])).not.toContain('work')
  const ofWork = nodes.filter((node) => node['Index Name']?.startsWith('work_'))
  for (const node of ofWork)
    if (node['Index Name'] !== 'work_failing')
      expect(node['Index Cond']).toStartWith('((tenant_id = ')
})

test('a workspace does not look for its held jobs among those of all', async () => {
  const { tenantId } = await app.newWorkspace()
  const nodes = await takenBack(app.workplace.db, tenantId, async (sql) => {
    await sql`set local enable_seqscan = off`
    return await planOf(sql, heldWork(newId()).query(sql))
  })
  const used = nodes.flatMap((node) => node['Index Name'] ?? [])
  expect(used).toContain('agent_job_tenant_id_status_id_idx')
  expect(used).not.toContain('agent_job_held')
})
