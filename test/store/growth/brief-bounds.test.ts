/** A brief reads little, however much there is. */
import { expect, test } from 'bun:test'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { briefRecord } from '#store/growth/brief'
import { planAsRun, type RunNode, vacuum } from '#test/support/database/plans'
import { useApp } from '#test/support/use'

const isCount = (node: RunNode): boolean => node['Node Type'] === 'Index Only Scan'

const app = useApp({ newDatabase: true })

test('a brief reads no more than the oldest items of a state, and none that were posted long ago', async () => {
  const tenantId = await createWorkspace(app.workplace.db, 'Large')
  await app.owner`insert into item (id, tenant_id, kind, status, body, format, hook, rationale,
    stories, learnings, length, posted_at, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, 'post', case when n % 2 = 0 then 'drafted'
      else 'posted' end, 'x', 'point', 'claim', '', '[]', '[]', 1,
      case when n % 2 = 1 then now() - interval '1 year' end, now() - n * interval '1 minute', now()
        from generate_series(1, 6000) n`
  await vacuum(app.owner, 'item')
  const nodes = await app.workplace.db.letter(tenantId, async (sql) => {
    // A table so small would be read whole.
    await sql`select set_config('app.tenant', ${tenantId}, true),
      set_config('enable_seqscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true)`
    return planAsRun(sql, briefRecord()(sql))
  })
  const read = nodes.filter((node) => node['Relation Name'] === 'item' && !isCount(node))
  expect(read.length).toBeGreaterThan(5)
  const most = Math.max(
    ...read.map(
      (node) =>
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    ),
  )
  expect(most).toBeLessThanOrEqual(200)
  const [found] = await app.workplace.db.read({ tenantId }, briefRecord())
  expect([found!.items.drafts!.count, found!.items.drafts!.rows.length]).toEqual([3_000, 10])
})
