/**
 * Records kept for a limited time are removed after it, whether or not anything happens in their
 * workspace.
 */
import { describe, expect, test } from 'bun:test'
import { startSweep } from '#actors/work/app/sweep'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { sweepSome } from '#store/app/sweep'
import { type ManualClock, manualClock } from '#test/support/actors/manual-clock'
import { makeJob } from '#test/support/agent/records'
import { eventually, testApp } from '#test/support/app'
import { insertKeys } from '#test/support/database/writes'
import { useApp } from '#test/support/use'

const KEEP = { keepDays: 400, agentKeepDays: 90, rows: 1_000 }
const NEVER_MS = 3_600_000

const app = useApp({ overrides: { sweep: { everyMs: NEVER_MS } } })

const newTenant = async (): Promise<string> => (await app.newWorkspace()).tenantId

const count = async (table: string, tenantId: string): Promise<number> =>
  (
    await app.owner`select count(*)::int as count from ${app.owner(table)}
      where tenant_id = ${tenantId}`
  )[0]!.count

/** An id as the server would have made it so many days ago. */
const idOf = (daysAgo: number): string => {
  const at = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0')
  return `${at.slice(0, 8)}-${at.slice(8)}${newId().slice(13)}`
}

const addAudit = async (tenantId: string, ...daysAgo: number[]): Promise<void> => {
  for (const days of daysAgo)
    await app.owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation)
      values (${idOf(days)}, ${tenantId}, now() - ${days} * interval '1 day', 'system', 'test',
        'test', ${`${days} days ago`})`
}

const addAnswers = (tenantId: string, many: number, expires: string): Promise<unknown> =>
  app.owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status, body,
    counted, expires_at)
    select ${tenantId}, ${`${expires} `} || n, 'test', 'none', 'done', 200, '{}', 300 + n,
      now() + ${expires}::interval from generate_series(1, ${many}) n`

const audited = async (tenantId: string): Promise<string[]> =>
  (
    await app.owner`select operation from audit where tenant_id = ${tenantId} and actor_id = 'test'
      order by at`
  ).map(({ operation }) => operation)

test('expired answers are removed although no command follows; the others stay for their 24 hours', async () => {
  const tenantId = await newTenant()
  await addAnswers(tenantId, 5, '-1 minute')
  await addAnswers(tenantId, 3, '1 hour')
  await using _other = await testApp({
    database: app.options,
    overrides: { sweep: { everyMs: NEVER_MS } },
  })
  await eventually(
    () => count('idempotency', tenantId),
    (left) => left === 3,
  )
  const [counter] =
    await app.owner`select used from counter where tenant_id = ${tenantId} and key = 'answers'`
  const [stored] = await app.owner`select sum(counted)::int as bytes from idempotency
      where tenant_id = ${tenantId}`
  expect(counter!.used).toBe(stored!.bytes)
})

test('audit rows are kept for AUDIT_KEEP_DAYS, then removed', async () => {
  const tenantId = await newTenant()
  await addAudit(tenantId, 500, 401, 399, 31, 29, 0)
  expect(await sweepSome(app.workplace.db, tenantId, KEEP)).toBe(false)
  expect(await audited(tenantId)).toEqual([
    '399 days ago',
    '31 days ago',
    '29 days ago',
    '0 days ago',
  ])
  await using _other = await testApp({
    database: app.options,
    env: { AUDIT_KEEP_DAYS: '30' },
    overrides: { sweep: { everyMs: NEVER_MS } },
  })
  expect(
    await eventually(
      () => audited(tenantId),
      (left) => left.length === 2,
    ),
  ).toEqual(['29 days ago', '0 days ago'])
})

test('a call removes a bounded number of rows of a kind, and says whether there may be more', async () => {
  const tenantId = await newTenant()
  await addAnswers(tenantId, 25, '-1 minute')
  await addAudit(tenantId, 600, 500, 450)
  const portion = () =>
    sweepSome(app.workplace.db, tenantId, { keepDays: 400, agentKeepDays: 90, rows: 10 })
  expect([await portion(), await count('idempotency', tenantId), await audited(tenantId)]).toEqual([
    true,
    15,
    [],
  ])
  expect([await portion(), await portion(), await count('idempotency', tenantId)]).toEqual([
    true,
    false,
    0,
  ])
})

test('nobody can make the audit trail shorter than a day', async () => {
  const tenantId = await newTenant()
  await addAudit(tenantId, 2, 0.5)
  await app.workplace.db.system(
    (sql) => sql`select sweep_tenant(${tenantId}, now() + interval '1 year', 1000)`,
  )
  expect(await audited(tenantId)).toEqual(['0.5 days ago'])
})

describe('a record that only the audit trail refers to is removed with it:', () => {
  test('keys that are dead, not those that are live', async () => {
    const tenantId = await newTenant()
    const before = await count('api_key', tenantId)
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
    const dead = [
      { revoked_at: inDays(-401) },
      { expires_at: inDays(-401) },
      { revoked_at: inDays(-1), expires_at: inDays(-401) },
    ]
    const live = [{ revoked_at: inDays(-399) }, { expires_at: inDays(1) }]
    for (const fields of [...dead, ...live]) await insertKeys(app, tenantId, 1, fields)
    await sweepSome(app.workplace.db, tenantId, KEEP)
    expect(await count('api_key', tenantId)).toBe(before + 2)
  })

  test('retired learnings, and experiments that drafted nothing', async () => {
    const tenantId = await newTenant()
    const ids = { used: newId(), unused: newId() }
    for (const [status, days] of [
      ['retired', 401],
      ['retired', 399],
      ['active', 401],
    ] as const)
      await app.owner`insert into learning (id, tenant_id, kind, note, status, created_at,
        updated_at)
        values (${newId()}, ${tenantId}, 'worked', ${`${status} ${days}`}, ${status}, now(),
          now() - ${days} * interval '1 day')`
    for (const id of Object.values(ids))
      await app.owner`insert into experiment (id, tenant_id, name, hypothesis, metric, arms, status,
        concluded_at, created_at, updated_at)
        values (${id}, ${tenantId}, 'test', 'test', 'likes', '[]', 'concluded',
          now() - interval '401 days', now(), now())`
    await app.owner`insert into batch (id, tenant_id, status, focus, requested, experiment_id,
      created_at, updated_at)
      values (${newId()}, ${tenantId}, 'ready', '', 1, ${ids.used}, now(), now())`
    await sweepSome(app.workplace.db, tenantId, KEEP)
    const notes =
      await app.owner`select note from learning where tenant_id = ${tenantId} order by note`
    expect(notes.map(({ note }) => note)).toEqual(['active 401', 'retired 399'])
    expect(
      (await app.owner`select id from experiment where tenant_id = ${tenantId}`).map(
        ({ id }) => id,
      ),
    ).toEqual([ids.used])
  })

  test('invitations that have expired', async () => {
    const tenantId = await newTenant()
    await app.owner`delete from invitation where tenant_id = ${tenantId}`
    for (const expires of ['-401 days', '-399 days'])
      await app.owner`insert into invitation (id, tenant_id, role, token_hash, expires_at)
        values (${newId()}, ${tenantId}, 'viewer', ${Buffer.from(newId())},
          now() + ${expires}::interval)`
    await sweepSome(app.workplace.db, tenantId, KEEP)
    expect(await count('invitation', tenantId)).toBe(1)
  })
})

test('expired events are removed too, and pending ones stay', async () => {
  const tenantId = await newTenant()
  await app.owner`delete from outbox where tenant_id = ${tenantId}`
  await app.owner`insert into outbox (id, tenant_id, type, data, created_at, expires_at)
    values (${newId()}, ${tenantId}, 'test', '{}', now(), now() - interval '1 second')`
  await app.owner`insert into outbox (id, tenant_id, type, data, created_at, state, next_at,
    expires_at)
    values (${newId()}, ${tenantId}, 'test', '{}', now(), 'pending', now(), null)`
  await sweepSome(app.workplace.db, tenantId, KEEP)
  expect(await count('outbox', tenantId)).toBe(1)
})

test('a sweep continues where the last one ended, and reaches every workspace', async () => {
  const tenants = await Promise.all(Array.from({ length: 5 }, newTenant))
  for (const tenantId of tenants) await addAnswers(tenantId, 1, '-1 minute')
  const clock: ManualClock = manualClock()
  const log = createLog('silent')
  await using _sweep = startSweep({
    db: app.workplace.db,
    clock,
    log,
    keepDays: 400,
    agentKeepDays: 90,
    everyMs: 1_000,
    rows: 10,
    tenants: 2,
  })
  const left = async () =>
    (await Promise.all(tenants.map((tenantId) => count('idempotency', tenantId)))).reduce(
      (sum, one) => sum + one,
      0,
    )
  const [all] = await app.owner`select count(*)::int as count from tenant`
  for (let sweeps = 0; sweeps < Math.ceil(all!.count / 2); sweeps++) {
    await eventually(
      async () => clock.pending,
      (armed) => armed === 1,
    )
    await clock.advance(1_000)
  }
  expect(await eventually(left, (many) => many === 0)).toBe(0)
})

test('sweeping one workspace removes nothing of another', async () => {
  const [one, other] = [await newTenant(), await newTenant()]
  for (const tenantId of [one, other]) {
    await addAnswers(tenantId, 2, '-1 minute')
    await addAudit(tenantId, 500)
  }
  await sweepSome(app.workplace.db, one, KEEP)
  expect([
    await count('idempotency', one),
    await count('idempotency', other),
    await audited(other),
  ]).toEqual([0, 2, ['500 days ago']])
})

test('what the agent did goes after AGENT_KEEP_DAYS: steps and events of jobs that are over, and jobs that no conversation shows', async () => {
  const tenantId = await newTenant()
  const workspace = { app, tenantId }
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  const jobs = {
    oldTurn: await makeJob(workspace, { status: 'completed', ended_at: daysAgo(91) }),
    oldTask: await makeJob(workspace, { status: 'completed', ended_at: daysAgo(91), kind: 'task' }),
    youngTask: await makeJob(workspace, {
      status: 'completed',
      ended_at: daysAgo(89),
      kind: 'task',
    }),
    open: await makeJob(workspace, { created_at: daysAgo(91) }),
  }
  await app.owner`insert into agent_step (id, tenant_id, job_id, number, kind, name, state,
    created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, id, 1, 'tool', 'test', 'done', now(), now()
      from agent_job where tenant_id = ${tenantId}`
  const left = async (table: string, column: string) =>
    (
      await app.owner`select ${app.owner(column)} as id from ${app.owner(table)}
        where tenant_id = ${tenantId}`
    )
      .map(({ id }) => id)
      .sort()
  while (await sweepSome(app.workplace.db, tenantId, KEEP));
  const { oldTurn, youngTask, open } = jobs
  const ids = (...kept: { id: string }[]) => kept.map(({ id }) => id).sort()
  expect(await left('agent_job', 'id')).toEqual(ids(oldTurn, youngTask, open))
  for (const table of ['agent_step', 'agent_event'])
    expect(await left(table, 'job_id')).toEqual(ids(youngTask, open))
})

test('nobody can keep what the agent did for less than 31 days', async () => {
  const tenantId = await newTenant()
  await makeJob(
    { app, tenantId },
    { status: 'completed', ended_at: new Date(Date.now() - 30 * 86_400_000), kind: 'task' },
  )
  await sweepSome(app.workplace.db, tenantId, { ...KEEP, agentKeepDays: 0 })
  expect([await count('agent_job', tenantId), await count('agent_event', tenantId)]).toEqual([1, 1])
})
