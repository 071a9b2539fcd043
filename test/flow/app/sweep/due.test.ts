/** Workspaces are swept when something in them has expired, and cost nothing until then. */
import { beforeEach, expect, test } from 'bun:test'
import { startSweep } from '#actors/work/app/sweep'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { noteRetention, noteSweeps, takeSweepable } from '#store/app/sweep'
import { claimTenant, releaseTenant } from '#store/engine/placement'
import { manualClock } from '#test/support/actors/manual-clock'
import { makeJob } from '#test/support/agent/records'
import { eventually } from '#test/support/eventually'
import { useApp } from '#test/support/use'

const KEEP = { keepDays: 400, agentKeepDays: 90 }
const HOUR_S = 3_600
/** How long a workspace is left alone after it was taken. */
const LEASE_S = 300
const DAY_S = 24 * HOUR_S
const app = useApp({ overrides: { sweep: { everyMs: 86_400_000 } } })
const db = () => app.workplace.db
/** The workspace of the app, and those of tests before, are not due. */
beforeEach(async () => {
  await app.owner`update actor set sweep_at = null`
})

/** A workspace that sleeps, without rows that expire. */
const sleeping = async (): Promise<string> => {
  const tenantId = await createWorkspace(db(), 'Sleeper')
  await app.owner`delete from audit where tenant_id = ${tenantId}`
  return tenantId
}
/** Seconds until it is swept. */
const dueIn = async (tenantId: string): Promise<number | null> => {
  const [row] = await app.owner`select extract(epoch from sweep_at - now())::float8 as s from actor
      where tenant_id = ${tenantId}`
  return row!.s === null ? null : Math.round(row!.s)
}
/**
 * Visits a workspace, and returns the seconds until its next sweep. `sleeps`: releases it from its
 * actor first, which may still be finishing a letter.
 */
const noted = async (tenantId: string, { sleeps = false } = {}): Promise<number | null> => {
  const take = async () => {
    await app.owner`update actor set sweep_at = now(),
      owner = case when ${sleeps} then null else owner end where tenant_id = ${tenantId}`
    return (await takeSweepable(db(), 100)).find((one) => one.tenantId === tenantId)
  }
  const taken = await eventually(take, (one) => one !== undefined)
  const note = async () => {
    await noteSweeps(db(), [taken!], { ...KEEP, everyMs: 60_000 })
    return await dueIn(tenantId)
  }
  // A letter that is being finished has locked the row, whose lease then stays as it was.
  return await eventually(note, (due) => due === null || due > LEASE_S || due < LEASE_S - 60)
}
const addAnswer = (tenantId: string, seconds: number) => app.owner`
  insert into idempotency (tenant_id, key, operation, fingerprint, state, status, body, counted,
    expires_at)
    values (${tenantId}, ${newId()}, 'test', 'none', 'done', 200, '{}', 300,
      now() + ${seconds} * interval '1 second')`
const addAudit = (tenantId: string, daysAgo: number) => app.owner`
  insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation)
    values (${newId()}, ${tenantId}, now() - ${daysAgo} * interval '1 day', 'system', 'test',
      'test', 'test')`
const answersOf = async (tenantId: string) =>
  (await app.owner`select 1 from idempotency where tenant_id = ${tenantId}`).length

test('a workspace that sleeps is visited when the next of its rows expires, and never if none does', async () => {
  const [empty, audited, answered] = [await sleeping(), await sleeping(), await sleeping()]
  await addAudit(audited, 10)
  await addAudit(answered, 10)
  await addAnswer(answered, 2 * HOUR_S)
  expect(await noted(empty)).toBeNull()
  expect(Math.abs((await noted(audited))! - 390 * DAY_S)).toBeLessThan(60)
  expect(Math.abs((await noted(answered))! - 2 * HOUR_S)).toBeLessThan(60)
  expect(await takeSweepable(db(), 100)).toEqual([])
})

test('a row that has expired and must stay has its workspace looked at once a day, and hides no other that is due before', async () => {
  const tenantId = await sleeping()
  await makeJob(
    { app, tenantId },
    { kind: 'turn', status: 'completed', ended_at: new Date(Date.now() - 200 * DAY_S * 1_000) },
  )
  expect(await noted(tenantId, { sleeps: true })).toBeNull()
  await app.owner`insert into learning (id, tenant_id, kind, note, status, created_at, updated_at)
    values (${newId()}, ${tenantId}, 'worked', 'x', 'retired', now(), now() - interval '401 days')`
  expect(Math.abs((await noted(tenantId, { sleeps: true }))! - DAY_S)).toBeLessThan(60)
  await addAnswer(tenantId, HOUR_S)
  expect(Math.abs((await noted(tenantId, { sleeps: true }))! - HOUR_S)).toBeLessThan(60)
})

test('of two servers one visits a workspace, and nobody visits those in which nothing has expired', async () => {
  const tenants = await Promise.all(Array.from({ length: 30 }, sleeping))
  for (const tenantId of tenants) await addAnswer(tenantId, HOUR_S)
  const expired = tenants.slice(0, 3)
  await app.owner`update actor set sweep_at = now() + interval '1 hour'
    where tenant_id = any(${tenants})`
  for (const tenantId of expired) {
    await addAnswer(tenantId, -1)
    await app.owner`update actor set sweep_at = now() - interval '1 second'
      where tenant_id = ${tenantId}`
  }
  const taken = (await Promise.all([takeSweepable(db(), 100), takeSweepable(db(), 100)])).flat()
  expect(taken.map(({ tenantId }) => tenantId).sort()).toEqual([...expired].sort())
})

test('a sweep removes what has expired and notes the next time', async () => {
  const tenantId = await sleeping()
  await addAnswer(tenantId, -1)
  await addAnswer(tenantId, HOUR_S)
  await app.owner`update actor set sweep_at = now() where tenant_id = ${tenantId}`
  await using _sweep = startSweep({
    db: db(),
    clock: manualClock(),
    log: createLog('silent'),
    ...KEEP,
    everyMs: 60_000,
    rows: 10,
    tenants: 1_000,
  })
  const due = await eventually(
    () => dueIn(tenantId),
    (seconds) => seconds !== null && seconds > 600,
  )
  expect([await answersOf(tenantId), Math.abs(due! - HOUR_S) < 60]).toEqual([1, true])
})

test('waking makes a workspace due, also in the middle of a visit, and one that is awake is visited again soon', async () => {
  const tenantId = await sleeping()
  await app.owner`update actor set sweep_at = now() where tenant_id = ${tenantId}`
  const [taken] = await takeSweepable(db(), 100)
  const owner = app.workplace.runtime.incarnation
  const claimed = await claimTenant(db(), tenantId, owner)
  await noteSweeps(db(), [taken!], { ...KEEP, everyMs: 60_000 })
  expect(await dueIn(tenantId)).toBeLessThanOrEqual(0)
  expect(Math.abs((await noted(tenantId))! - 60)).toBeLessThan(10)
  await releaseTenant(db(), { tenantId, owner, epoch: claimed!.epoch })
  expect(await noted(tenantId)).toBeNull()
})

test('a workspace at work on a letter holds up no other that is noted with it', async () => {
  const [busy, idle] = [await sleeping(), await sleeping()]
  await addAnswer(idle, 2 * HOUR_S)
  await app.owner`update actor set sweep_at = now() where tenant_id = any(${[busy, idle]})`
  const taken = await takeSweepable(db(), 100)
  await app.owner.begin(async (letter) => {
    await letter`select from actor where tenant_id = ${busy} for update`
    await noteSweeps(db(), taken, { ...KEEP, everyMs: 60_000 })
    expect(Math.abs((await dueIn(idle))! - 2 * HOUR_S)).toBeLessThan(60)
  })
  // It is looked at again when its lease ends.
  expect(Math.abs((await dueIn(busy))! - 300)).toBeLessThan(60)
})

test('a server that keeps rows for another time than the last one looks at every workspace again', async () => {
  const tenantId = await sleeping()
  await addAudit(tenantId, 40)
  await noteRetention(db(), KEEP)
  const later = (await noted(tenantId))!
  await noteRetention(db(), KEEP)
  expect(Math.abs((await dueIn(tenantId))! - later)).toBeLessThan(60)
  await noteRetention(db(), { ...KEEP, keepDays: 30 })
  expect(await dueIn(tenantId)).toBeLessThanOrEqual(0)
})
