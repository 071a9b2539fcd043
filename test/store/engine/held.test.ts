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
import { wakeable } from '#store/engine/placement'
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
const woken = async (stop: Parameters<typeof wakeable>[3]): Promise<boolean> => {
  await store.owner`update actor set owner = null where tenant_id = ${tenant}`
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
      expect([await found(stop), await woken('asked')]).toEqual([undefined, false])
      await insert(kind, 'manual', from(-1))
      expect([await found(stop), await woken('asked')]).toEqual([kind, true])
    } finally {
      await store.owner`update hold set paused_since = null, paused_by = null`
    }
    await store.owner`delete from work where tenant_id = ${tenant} and origin = 'manual'`
    expect(await found({})).toBe(kind)
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
    'rule',
    'rule_cron',
    'watch',
    'weekly_report',
  ])
})
