import { afterEach, describe, expect, test } from 'bun:test'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  type Actors,
  actorStore,
  actorsIn,
  actorsOn,
  counters,
  fakeLane,
} from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, bump, letterOf, newGate, workOn } from '#test/support/actors/letters'
import { manualClock } from '#test/support/actors/manual-clock'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const { start } = actorsIn(store)
const settledOf = async (tenant: string, ref: string) =>
  (await counters(store, tenant))[`settled:${ref}`]
const worksOf = (tenant: string) => store.owner`select * from work where tenant_id = ${tenant}`

/** Sweeps that let another tenant go, and so have looked at the one in question too. */
const sweeps = async ({ runtime }: Actors): Promise<void> => {
  const other = await store.newTenant()
  for (let i = 0; i < 3; i++) {
    await runtime.ask(other, bump('n'))
    await eventually(
      async () => runtime.awake,
      (awake) => awake === 1,
    )
  }
}

describe('a letter', () => {
  test('that throws is rolled back and fails for its sender, and later ones go on', async () => {
    await using actors = await start()
    const { runtime, tenant } = actors
    const failing = letterOf<void>(async (sql) => {
      await sql`insert into counter (key, period, used) values ('half', 'test', 1)`
      throw new AppError('conflict', 'no', { reason: 'wrong_state' })
    })
    const all = await Promise.allSettled([
      runtime.ask(tenant, bump('n')),
      runtime.ask(tenant, failing),
      runtime.ask(tenant, bump('n')),
    ])
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await counters(store, tenant)).toEqual({ n: 2 })
  })

  test('whose effects cannot be written changes nothing', async () => {
    await using actors = await start()
    const { runtime, tenant } = actors
    const work = workOn(newId(), { runAt: new Date(Date.now() + 60_000) })
    const twice = bump('n', { work: [work, { ...work, id: newId() }] })
    await expect(runtime.ask(tenant, twice)).rejects.toThrow('duplicate key')
    expect([await counters(store, tenant), await worksOf(tenant)]).toEqual([{}, []] as never)
    await runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 1 })
  })

  test('that fails between its decision and its effects is rolled back', async () => {
    const points = testFailpoints()
    await using actors = await start({ failpoints: points.at })
    const { runtime, tenant } = actors
    await runtime.ask(tenant, bump('n'))
    points.arm('letter.deciding', new Error('broken'))
    await expect(runtime.ask(tenant, bump('n'))).rejects.toThrow('broken')
    points.release('letter.deciding')
    await runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 2 })
  })

  test('that reads sees what earlier letters wrote', async () => {
    await using actors = await start()
    const { runtime, tenant } = actors
    const increment = letterOf<number>((_, gate) => {
      const seen = gate.counters['n@test'] ?? 0
      return { reply: seen, effects: { spend: [{ key: 'n', period: 'test', amount: 1 }] } }
    })
    const seen = await Promise.all(Array.from({ length: 20 }, () => runtime.ask(tenant, increment)))
    expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => i))
  })

  test('that the database cancels fails as unavailable with a retry time, and the tenant goes on', async () => {
    await using actors = await start()
    const { runtime, tenant } = actors
    const cancelled = letterOf<void>(async (sql) => {
      await sql`set local statement_timeout = '1ms'`
      await sql`select pg_sleep(5)`
      return { reply: undefined }
    })
    await expect(runtime.ask(tenant, cancelled)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfter: 1,
    })
    await runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 1 })
  })
})

describe('a caller who waits for a lane', () => {
  const awaiting = (ref: string) =>
    letterOf<unknown>(() => ({ reply: 'intent', effects: { work: [workOn(ref)] }, awaits: ref }), {
      late: async () => 'as it stands',
    })

  test("gets the lane's answer", async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    const reply = actors.runtime.ask(actors.tenant, awaiting(ref))
    ;(await lane.runOf(ref)).finish('hello')
    expect(await reply).toEqual({ status: 200, body: 'hello' })
  })

  test('gets the current record when the lane takes too long, and the lane goes on', async () => {
    const lane = fakeLane()
    const clock = manualClock()
    await using actors = await start({ lanes: [lane], clock, replyWithinMs: 1_000 })
    const ref = newId()
    const reply = actors.runtime.ask(actors.tenant, awaiting(ref))
    const run = await lane.runOf(ref)
    await clock.advance(1_000)
    expect(await reply).toBe('as it stands')
    run.finish()
    expect(await eventually(() => settledOf(actors.tenant, ref), Boolean)).toBe(1)
  })

  test('keeps the tenant in memory', async () => {
    await using actors = await start({ idleMs: 0, sweepMs: 1 })
    const ref = newId()
    const answer = { status: 200, body: 'by hand' }
    const reply = actors.runtime.ask(
      actors.tenant,
      letterOf<unknown>(() => ({ reply: undefined, awaits: ref })),
    )
    await sweeps(actors)
    expect(actors.runtime.awake).toBe(1)
    await actors.runtime.ask(
      actors.tenant,
      letterOf(() => ({ reply: undefined, answers: [{ refId: ref, with: answer }] })),
    )
    expect(await reply).toEqual(answer)
  })
})

describe('an idle tenant', () => {
  test('leaves memory, is released, and returns for the next letter', async () => {
    await using actors = await start({ idleMs: 0, sweepMs: 5 })
    const { runtime, tenant } = actors
    const owner = async () =>
      (await store.owner`select owner, epoch from actor where tenant_id = ${tenant}`)[0]
    await runtime.ask(tenant, bump('n'))
    expect(
      await eventually(
        async () => runtime.awake,
        (awake) => awake === 0,
      ),
    ).toBe(0)
    expect(await eventually(owner, (row) => row?.owner === null)).toMatchObject({
      owner: null,
      epoch: '1',
    })
    await runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 2 })
    expect(await owner()).toMatchObject({ epoch: '2' })
  })

  test('never loses a letter that comes while it leaves', async () => {
    await using actors = await start({ idleMs: 0, sweepMs: 1 })
    for (let i = 0; i < 60; i++) await actors.runtime.ask(actors.tenant, bump('n'))
    expect(await counters(store, actors.tenant)).toEqual({ n: 60 })
  })

  test('is woken when its work falls due', async () => {
    const lane = fakeLane({ instant: true })
    await using actors = await start({ lanes: [lane], idleMs: 0, sweepMs: 5 })
    const { runtime, tenant } = actors
    const ref = newId()
    const work = workOn(ref, { runAt: new Date(Date.now() + 3_600_000) })
    await runtime.ask(tenant, addWork(work))
    await eventually(
      async () => runtime.awake,
      (awake) => awake === 0,
    )
    expect(lane.started).toEqual([])
    await store.owner`update work set run_at = now() where id = ${work.id}`
    await store.owner`update actor set wake_at = now() where tenant_id = ${tenant}`
    expect(await eventually(() => settledOf(tenant, ref), Boolean)).toBe(1)
  })

  test('stays while a lane of it runs', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane], idleMs: 0, sweepMs: 1 })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    const run = await lane.runOf(ref)
    await sweeps(actors)
    expect(run.context.signal.aborted).toBe(false)
    run.finish()
    expect(await eventually(() => settledOf(actors.tenant, ref), Boolean)).toBe(1)
  })
})

describe('due work', () => {
  test('with a timer in memory starts on time', async () => {
    const lane = fakeLane({ instant: true })
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    await actors.runtime.ask(
      actors.tenant,
      addWork(workOn(ref, { runAt: new Date(Date.now() + 100) })),
    )
    expect(await eventually(() => settledOf(actors.tenant, ref), Boolean)).toBe(1)
  })

  test('of a tenant without requests starts when a server starts', async () => {
    const [tenant, ref] = [await store.newTenant(), newId()]
    {
      await using first = await actorsOn(store)
      await first.runtime.ask(tenant, addWork(workOn(ref, { runAt: new Date(Date.now() + 50) })))
    }
    await using _second = await actorsOn(store, { lanes: [fakeLane({ instant: true })] })
    expect(await eventually(() => settledOf(tenant, ref), Boolean)).toBe(1)
  })

  test('waits while the tenant is paused if it is automatic; manual work does not', async () => {
    const lane = fakeLane({ instant: true })
    await using actors = await start({ lanes: [lane] })
    const [manual, automatic] = [newId(), newId()]
    await actors.runtime.ask(actors.tenant, bump('n', { paused: true }))
    await actors.runtime.ask(
      actors.tenant,
      addWork(workOn(automatic, { origin: 'automatic' }), workOn(manual)),
    )
    await eventually(() => settledOf(actors.tenant, manual), Boolean)
    expect(lane.started).toEqual([manual])
    await actors.runtime.ask(actors.tenant, bump('n', { paused: false }))
    expect(await eventually(() => settledOf(actors.tenant, automatic), Boolean)).toBe(1)
  })
})

test('a letter that arrives while another runs waits for it, whatever its priority', async () => {
  await using actors = await start()
  const { runtime, tenant } = actors
  const order: string[] = []
  const [begun, held] = [newGate(), newGate()]
  const first = letterOf(async () => {
    begun.open()
    await held.opened
    order.push('first')
    return { reply: undefined }
  })
  const running = runtime.ask(tenant, first)
  await begun.opened
  const control = runtime.ask(
    tenant,
    letterOf(
      () => {
        order.push('control')
        return { reply: undefined }
      },
      { priority: 'control' },
    ),
  )
  held.open()
  await Promise.all([running, control])
  expect(order).toEqual(['first', 'control'])
})
