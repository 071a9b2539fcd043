/** What is claimed and woken while the deployment is held, or every workspace is paused. */
import { beforeEach, expect, test } from 'bun:test'
import { type WorkKind, workKinds } from '#contract/work'
import { gateHook } from '#decisions/gate'
import { kindsOfWork, workTable } from '#decisions/work'
import { newId } from '#kernel/ids'
import { openDb } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import { loadNow } from '#store/engine/load'
import { type ClaimView, nextDue } from '#store/engine/next-due'
import { dueActors, stirring, wakeable } from '#store/engine/placement'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))
let tenant: string
beforeEach(async () => {
  tenant = await store.newTenant()
})

const SINCE = new Date(Date.now() - 60_000)
const from = (ms: number): Date => new Date(SINCE.getTime() + ms)

type Origin = 'manual' | 'automatic'
const insert = async (kind: WorkKind, origin: Origin, created: Date): Promise<void> => {
  const row = {
    id: newId(),
    tenant_id: tenant,
    lane: kindsOfWork[kind].lane,
    kind,
    ref_id: newId(),
    origin,
    run_at: from(-1_000),
    created_at: created,
    concurrency_key: newId(),
  }
  await store.owner`insert into work ${store.owner(row)}`
  await store.owner`update actor set wake_at = ${from(-1_000)} where tenant_id = ${tenant}`
}

const found = async (
  stop: Pick<ClaimView, 'heldSince' | 'pausedEverywhere'>,
): Promise<WorkKind | undefined> => {
  const [owner, epoch] = [newId(), 1]
  await store.owner`update actor set owner = ${owner}, epoch = ${epoch} where tenant_id = ${tenant}`
  return await db.letter(tenant, async (sql) => {
    await gate(sql, { tenantId: tenant, owner, epoch }, { hook: gateHook })
    const at = { now: new Date(), paused: false }
    const view = { kinds: workTable, at, ...stop, running: [], excluded: [] }
    return (await loadNow(sql, { due: nextDue(view) })).due.work?.kind
  })
}
const woken = async (
  stop: Parameters<typeof wakeable>[3],
  owner: string | null = null,
): Promise<boolean> => {
  await store.owner`update actor set owner = ${owner} where tenant_id = ${tenant}`
  const { due } = await wakeable(db, newId(), 100, stop)
  return due.includes(tenant)
}
const held = { since: SINCE, kinds: workTable.whileHeld }

test.each([...workKinds])(
  '%s: only what people have asked for since the hold runs',
  async (kind) => {
    const runs = kindsOfWork[kind].whileHeld === 'runs'
    await store.owner`update hold set since = ${SINCE}, cause = 'asked'`
    try {
      for (const [origin, created] of [
        ['manual', from(-1)],
        ['automatic', from(-1)],
        ['automatic', from(1)],
      ] as const)
        await insert(kind, origin, created)
      expect([await found({ heldSince: SINCE }), await woken(held)]).toEqual([undefined, false])
      await insert(kind, 'manual', from(1))
      expect([await found({ heldSince: SINCE }), await woken(held)]).toEqual([
        runs ? kind : undefined,
        runs,
      ])
    } finally {
      await store.owner`update hold set since = null, cause = null`
    }
    expect(await found({})).toBe(kind)
  },
)

test.each([...workKinds])(
  '%s: while every workspace is paused, what people have asked for runs, whenever that was',
  async (kind) => {
    const stop = { pausedEverywhere: SINCE }
    await store.owner`update hold set paused_since = ${SINCE}, paused_by = 'somebody'`
    try {
      await insert(kind, 'automatic', from(1))
      expect([await found(stop), await woken('paused')]).toEqual([undefined, false])
      await insert(kind, 'manual', from(-1))
      expect([await found(stop), await woken('paused')]).toEqual([kind, true])
    } finally {
      await store.owner`update hold set paused_since = null, paused_by = null`
    }
    await store.owner`delete from work where tenant_id = ${tenant} and origin = 'manual'`
    expect(await found({})).toBe(kind)
  },
)

test('while all are paused, a workspace whose process has died is woken, so that what it left running is settled', async () => {
  await insert('send', 'automatic', from(-1))
  await store.owner`update work set state = 'running' where tenant_id = ${tenant}`
  expect(await woken('paused', newId())).toBe(true)
  expect(await woken('paused')).toBe(false)
  expect(await woken(held, newId())).toBe(false)
})

test.each([['paused' as const], [held]])(
  'each workspace that is due costs one look into the index, whatever work it has',
  async (stop) => {
    const { owner } = store
    const tenants = await Promise.all(Array.from({ length: 40 }, () => store.newTenant()))
    await owner`insert into work (id, tenant_id, lane, kind, ref_id, origin, run_at)
      select gen_random_uuid(), t, 'publish', 'send', gen_random_uuid(), 'automatic', ${from(-1)}
      from unnest(${tenants}::uuid[]) t, generate_series(1, 50)`
    await owner`update actor set
      wake_at = case when tenant_id = any(${tenants}::uuid[]) then ${from(-1)}::timestamptz end`
    await owner`analyze work`
    await owner`update hold set since = ${SINCE}, cause = 'asked', paused_since = ${SINCE},
      paused_by = 'somebody'`
    const rows = await db.system(
      (sql) => sql<{ 'QUERY PLAN': string }>`explain (analyze, costs off, timing off)
        ${dueActors(sql, newId(), 16, stirring(sql, stop))}`,
    )
    const plan = rows.map((row) => row['QUERY PLAN'])
    const at = plan.findIndex((line) => line.includes(' on work w'))
    expect(plan[at]).toContain('Index Scan using work_due')
    expect(plan[at]).toContain('rows=0')
    expect(plan[at + 1]).toContain(`(tenant_id = actor.tenant_id) AND (origin = 'manual'::text)`)
    expect(plan.filter((line) => line.includes(' on work w'))).toHaveLength(1)
    expect(plan.join('\n')).not.toContain('Rows Removed by Filter: 50')
    await owner`delete from work`
    await owner`update actor set wake_at = null`
    await owner`update hold set since = null, cause = null, paused_since = null, paused_by = null`
  },
)

/** Those that change what others see, or that nobody asked for, wait. */
test('deliveries, replies, rules, schedules and what is fetched for channels wait for the end', () => {
  const waiting = workKinds.filter((kind) => kindsOfWork[kind].whileHeld === 'waits')
  expect(waiting.toSorted()).toEqual([
    'agent_schedule',
    'channel_fetch',
    'channel_reply',
    'delivery',
    'mentions',
    'renewal',
    'rule',
    'rule_cron',
    'watch',
    'weekly_report',
  ])
})
