/** How processes find the tenants to wake. */
import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { dueActors } from '#store/engine/placement'
import { sqlOf } from '#store/engine/sql'
import { testApp } from '#test/support/app'

test('the sweep does not read tenants that are not due', async () => {
  await using app = await testApp()
  const { owner } = app
  await owner`with t as (insert into tenant (id, name, plan)
    select gen_random_uuid(), 'Sleeper', 'free' from generate_series(1, 2000) returning id)
    insert into actor (tenant_id, wake_at) select id, now() + interval '1 hour' from t`
  await owner`analyze actor`
  const sql = sqlOf(owner)
  const plan = await sql<{
    'QUERY PLAN': string
  }>`explain (analyze, costs off) ${dueActors(sql, randomUUID(), 16)}`
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).toContain('Index Cond: (wake_at <= ')
  expect(text).not.toContain('Rows Removed by Filter')
})
