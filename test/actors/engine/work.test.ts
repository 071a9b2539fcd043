import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { gateHook } from '#decisions/gate'
import { workTable } from '#decisions/work'
import { newId } from '#kernel/ids'
import { apply } from '#store/engine/apply-effects'
import { openDb } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import type { Effects } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { LONGEST_NAP_MS, nextDue } from '#store/engine/next-due'
import { claimWork, type KeyedWork } from '#store/engine/work'
import { actorStore } from '#test/support/actors/actors'
import { byTest, workOn } from '#test/support/actors/letters'
import { runs } from '#test/support/property'
import { use } from '#test/support/use'

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))

/** One letter's changes. Numbers choose among the rows there are; times are minutes from now. */
interface Step {
  added: number[]
  touched: { pick: number; to: 'settled' | number }[]
  claimed: number | null
  paused: boolean | undefined
}

const minutes = fc.integer({ min: -60, max: 60 })
const step: fc.Arbitrary<Step> = fc.record({
  added: fc.array(minutes, { maxLength: 3 }),
  touched: fc.array(
    fc.record({ pick: fc.nat(), to: fc.oneof(fc.constant('settled' as const), minutes) }),
    { maxLength: 3 },
  ),
  claimed: fc.option(fc.nat()),
  paused: fc.option(fc.boolean(), { nil: undefined }),
})

const fromNow = (offset: number): Date => new Date(Date.now() + offset * 60_000)

const effectsOf = ({ added, touched, claimed, paused }: Step, rows: KeyedWork[]): Effects => {
  const left = [...rows]
  const take = (pick: number): KeyedWork | undefined =>
    left.splice(pick % Math.max(1, left.length), 1)[0]
  const changes = touched.flatMap(({ pick, to }) => {
    const work = take(pick)
    return work ? [{ id: work.id, to }] : []
  })
  const due = left.filter(
    ({ state, run_at }) => state === 'queued' && run_at.getTime() <= Date.now(),
  )
  const claim = claimed === null ? undefined : due[claimed % Math.max(1, due.length)]
  return {
    work: added.map((offset) => workOn(newId(), { runAt: fromNow(offset) })),
    settled: changes.flatMap(({ id, to }) => (to === 'settled' ? [id] : [])),
    requeued: changes.flatMap(({ id, to }) =>
      to === 'settled' ? [] : [{ id, runAt: fromNow(to) }],
    ),
    writes: claim ? [claimWork(claim, { owner: newId(), leaseUntil: fromNow(1) })] : [],
    ...(claim ? { claimed: claim.run_at } : {}),
    ...(paused === undefined ? {} : { paused }),
  }
}

test('a tenant is due when its first unfinished work is, and past due while work runs, after any letters', async () => {
  const own = { owner: newId(), epoch: 1 }
  const property = async (steps: Step[]) => {
    const tenantId = await store.newTenant()
    await store.owner`update actor set owner = ${own.owner}, epoch = ${own.epoch}
      where tenant_id = ${tenantId}`
    const rows = () =>
      store.owner`select * from work where tenant_id = ${tenantId} order by id` as unknown as Promise<
        KeyedWork[]
      >
    for (const one of steps) {
      const effects = effectsOf(one, await rows())
      await db.letter(tenantId, async (sql) => {
        const open = await gate(sql, { tenantId, ...own }, { hook: gateHook })
        await apply(sql, effects, { ...open!, provenance: byTest })
      })
      const unfinished = await rows()
      const [actor] = await store.owner`select wake_at, wake_at <= now() as due from actor
          where tenant_id = ${tenantId}`
      const times = unfinished.map(({ run_at }) => run_at.getTime())
      const first = times.length > 0 ? Math.min(...times) : null
      const wakeAt = actor!.wake_at?.getTime() ?? null
      // While work is running, the time may be that of a row that has ended.
      if (unfinished.some(({ state }) => state === 'running')) expect(actor!.due).toBe(true)
      else expect(wakeAt).toBe(first)
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), property),
    runs(25),
  )
})

test('manual work stays due when the clock steps back; a read of the timeline waits', async () => {
  const own = { tenantId: await store.newTenant(), owner: newId(), epoch: 1 }
  await store.owner`update actor set owner = ${own.owner}, epoch = ${own.epoch}
    where tenant_id = ${own.tenantId}`
  const asked = workOn(newId(), {
    kind: 'send',
    lane: 'publish',
    origin: 'manual',
    runAt: fromNow(60),
  })
  const reading = workOn(newId(), {
    kind: 'reconcile',
    lane: 'sync',
    origin: 'manual',
    runAt: fromNow(60),
  })
  const timed = workOn(newId(), {
    kind: 'send',
    lane: 'publish',
    origin: 'automatic',
    runAt: fromNow(60),
  })
  await db.letter(own.tenantId, async (sql) => {
    const open = await gate(sql, own, { hook: gateHook })
    await apply(sql, { work: [reading, timed, asked] }, { ...open!, provenance: byTest })
    const view = {
      kinds: workTable,
      at: { now: open!.now, paused: false },
      running: [],
      excluded: [],
    }
    const poll = async (excluded: string[]) =>
      (await loadNow(sql, { found: nextDue({ ...view, excluded }) })).found
    expect(await poll([reading.id])).toMatchObject({ work: { id: asked.id }, wait: LONGEST_NAP_MS })
    // Beside a running row, the one that people wait for is due now.
    const beside = {
      ...view,
      running: [
        {
          id: newId(),
          kind: 'send' as const,
          origin: 'manual' as const,
          concurrency_key: asked.key!,
        },
      ],
    }
    expect((await loadNow(sql, { found: nextDue(beside) })).found).toMatchObject({
      work: undefined,
      wait: LONGEST_NAP_MS,
      dueIn: 0,
    })
    const without = await poll([asked.id])
    expect(without.work).toBeUndefined()
    expect(without.dueIn).toBeGreaterThan(30 * 60_000)
  })
})

test('what a request moves goes on in its trace; what a timer moves stays in the one it has', async () => {
  const own = { tenantId: await store.newTenant(), owner: newId(), epoch: 1 }
  await store.owner`update actor set owner = ${own.owner}, epoch = ${own.epoch}
    where tenant_id = ${own.tenantId}`
  const traceOf = (of: string): string => `00-${of.repeat(32)}-${of.repeat(16)}-01`
  const work = workOn(newId(), { runAt: fromNow(60) })
  const requeued = [{ id: work.id, runAt: fromNow(30) }]
  /** The trace that the row then keeps, without its times. */
  const after = async (effects: Effects, surface: string, trace?: string) => {
    await db.letter(own.tenantId, async (sql) => {
      const open = await gate(sql, own, { hook: gateHook })
      await apply(sql, effects, { ...open!, provenance: { ...byTest, surface, trace } })
    })
    const [row] = await store.owner`select trace from work where id = ${work.id}`
    return row!.trace?.split('@')[0]
  }
  expect(await after({ work: [work] }, 'rest', traceOf('a'))).toBe(traceOf('a'))
  for (const surface of ['timer', 'lane'])
    expect(await after({ requeued }, surface, traceOf('b'))).toBe(traceOf('a'))
  expect(await after({ requeued }, 'rest')).toBe(traceOf('a'))
  expect(await after({ requeued }, 'rest', traceOf('c'))).toBe(traceOf('c'))
})
