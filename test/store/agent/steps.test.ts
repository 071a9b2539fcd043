/** The plans of what every letter about a job reads. */
import { expect, test } from 'bun:test'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { equalCalls, headsOf } from '#store/agent/steps'
import { openDb, type Query, type Transaction } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))

/** Adds jobs with so many steps each, the last of which asks a person. Gives their ids. */
const addJobs = async (tenant: string, count: number, steps: number): Promise<string[]> => {
  const rows = await store.owner<{ id: string }[]>`insert into agent_job
    (id, tenant_id, kind, status, goal, root_id, origin,
      on_behalf, tier, model, created_at, updated_at)
    select gen_random_uuid(), ${tenant}, 'turn', 'waiting_approval', 'goal', gen_random_uuid(),
      'manual', '{}', 'fast', 'model', now(), now()
    from generate_series(1, ${count}) returning id`
  const ids = rows.map(({ id }) => id)
  await store.owner`insert into agent_step (id, tenant_id, job_id, number, kind, name, state,
    args_hash, created_at, updated_at)
    select gen_random_uuid(), ${tenant}, id, n, 'tool', 'tool', case when n = ${steps} then 'asked'
      else 'done' end, 'hash', now(), now()
    from unnest(${ids}::uuid[]) id, generate_series(1, ${steps}) n`
  await store.owner`insert into agent_approval (id, tenant_id, job_id, step_id, goal, tool_name,
    summary, arguments, arguments_hash, subject,
      why, status, expires_at, created_at, updated_at)
    select gen_random_uuid(), ${tenant}, job_id, id, 'goal', name, 'summary', '{}', 'hash', '{}',
      '[]', 'pending', now(), now(), now()
    from agent_step where tenant_id = ${tenant} and state = 'asked'
      and job_id = any(${ids}::uuid[])`
  return ids
}

interface Plan {
  Plan: { 'Total Cost': number }
}

// A plan that is dearer or cheaper by the value may be made anew for each: Postgres keeps one for
// all values only if it looks no dearer.
test.each([
  ['heads of the steps', (id: string): Query => headsOf(id).query],
  ['equal calls', (id: string): Query => equalCalls(id, ['hash']).query],
])('the %s of a job are planned alike, however many steps it has', async (_, query) => {
  const [tenantId, owner] = [await store.newTenant(), newId()]
  const [short, long] = [await addJobs(tenantId, 200, 2), await addJobs(tenantId, 10, 60)]
  await store.owner`analyze agent_step, agent_approval`
  await store.owner`update actor set owner = ${owner}, epoch = 1 where tenant_id = ${tenantId}`
  const costs = await db.letter(tenantId, async (sql: Transaction) => {
    await gate(sql, { tenantId, owner, epoch: 1 }, { hook: gateHook })
    const costOf = async (id: string): Promise<number> => {
      const [row] = await sql<{ 'QUERY PLAN': [Plan] }>`explain (format json) ${query(id)(sql)}`
      return row!['QUERY PLAN'][0].Plan['Total Cost']
    }
    return [await costOf(short[0]!), await costOf(long[0]!)]
  })
  expect(costs[0]).toBe(costs[1]!)
})
