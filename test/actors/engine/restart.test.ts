import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
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
import { addWork, bump, newGate, span, workOn } from '#test/support/actors/letters'
import { manualClock } from '#test/support/actors/manual-clock'
import { eventually } from '#test/support/eventually'
import { runs } from '#test/support/property'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

type Step = { post: number } | { finish: true } | { restart: 'dispose' | 'abandon' }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 4 }).map((post): Step => ({ post })), weight: 4 },
    { arbitrary: fc.constant<Step>({ finish: true }), weight: 2 },
    {
      arbitrary: fc.constantFrom('dispose', 'abandon').map((restart) => ({ restart }) as Step),
      weight: 2,
    },
  ),
  { minLength: 3, maxLength: 12 },
)

/**
 * Posts letters that add work without waiting for them, and stops the process in the middle as
 * told.
 */
const play = async (program: Step[], tenant: string) => {
  const lane = fakeLane()
  const asked: { ref: string; accepted: Promise<boolean> }[] = []
  let actors = await actorsOn(store, { lanes: [lane], sweepMs: 5 })
  const end = async (how: 'dispose' | 'abandon') => {
    if (how === 'abandon') await actors.runtime.abandon()
    await actors[Symbol.asyncDispose]()
    // The others would notice within two seconds.
    if (how === 'abandon') await store.owner`delete from node`
  }
  const take = {
    async post({ post }: { post: number }) {
      for (let i = 0; i < post; i++) {
        const ref = newId()
        const sent = actors.runtime.ask(
          tenant,
          addWork(workOn(ref, { lane: i % 2 === 0 ? 'sync' : 'delivery' })),
        )
        const accepted = sent.then(
          () => true,
          () => false,
        )
        asked.push({ ref, accepted })
      }
      await Bun.sleep(0)
    },
    async finish() {
      const [run] = lane.running.values()
      run?.finish()
    },
    async restart({ restart }: { restart: 'dispose' | 'abandon' }) {
      await end(restart)
      actors = await actorsOn(store, { lanes: [lane], sweepMs: 5 })
    },
  }
  for (const step of program) {
    if ('post' in step) await take.post(step)
    else if ('finish' in step) await take.finish()
    else await take.restart(step)
  }
  const accepted = await Promise.all(asked.map((one) => one.accepted))
  await end('dispose')
  return {
    acknowledged: asked.filter((_, i) => accepted[i]).map(({ ref }) => ref),
    refs: asked.map(({ ref }) => ref),
  }
}

test('no acknowledged work is lost or done twice through stops and kills', async () => {
  const property = async (program: Step[]) => {
    const tenant = await store.newTenant()
    const { acknowledged, refs } = await play(program, tenant)
    await using _last: Actors = await actorsOn(store, {
      lanes: [fakeLane({ instant: true })],
      sweepMs: 5,
    })
    const rows = await eventually(
      () => store.owner`select 1 from work where tenant_id = ${tenant}`,
      ({ length }) => length === 0,
    )
    expect(rows).toHaveLength(0)
    const counts = await counters(store, tenant)
    for (const ref of acknowledged) expect(counts[`settled:${ref}`]).toBe(1)
    for (const ref of refs) expect(counts[`settled:${ref}`] ?? 0).toBeLessThanOrEqual(1)
  }
  await fc.assert(fc.asyncProperty(steps, property), runs(12))
})

test('a stop finishes accepted letters and refuses new ones', async () => {
  const tenant = await store.newTenant()
  const actors = await actorsOn(store)
  const [begun, held] = [newGate(), newGate()]
  const first = actors.runtime.ask(
    tenant,
    span('first', () => {
      begun.open()
      return held.opened
    }),
  )
  await begun.opened
  const waiting = Array.from({ length: 5 }, () => actors.runtime.ask(tenant, bump('n')))
  // Accepted is what the mailbox has: a letter reaches it a few turns after it is asked for.
  await Bun.sleep(0)
  const stopped = actors[Symbol.asyncDispose]()
  await expect(actors.runtime.ask(tenant, bump('late'))).rejects.toMatchObject({
    code: 'unavailable',
    retryAfter: 1,
  })
  held.open()
  await Promise.all([first, ...waiting, stopped])
  expect(await counters(store, tenant)).toEqual({ span: 1, n: 5 })
})

test('a stop releases every tenant and the place of the process', async () => {
  const tenants = [await store.newTenant(), await store.newTenant()]
  {
    await using actors = await actorsOn(store)
    await Promise.all(tenants.map((tenant) => actors.runtime.ask(tenant, bump('n'))))
  }
  expect(await store.owner`select * from node`).toHaveLength(0)
  expect(await store.owner`select * from actor where owner is not null`).toHaveLength(0)
})

test('a claim that is committed while the process stops leaves its work in the queue, not in doubt', async () => {
  const [lane, points, tenant, ref] = [
    fakeLane(),
    testFailpoints(),
    await store.newTenant(),
    newId(),
  ]
  const actors = await actorsOn(store, { lanes: [lane], failpoints: points.at })
  // The first letter adds the work, the recovery at activation is another; the claim comes next.
  await actors.runtime.ask(tenant, bump('n'))
  points.arm('claimed', 'hang')
  lane.claim = async (_sql, _gate, work) => {
    await points.at('claimed')
    return { job: { refId: work.ref_id }, decision: { reply: undefined } }
  }
  await actors.runtime.ask(tenant, addWork(workOn(ref)))
  await points.reached('claimed')
  const stopped = actors[Symbol.asyncDispose]()
  points.release('claimed')
  await stopped
  expect(
    await store.owner`select state, attempt from work where tenant_id = ${tenant}`,
  ).toMatchObject([{ state: 'queued', attempt: 1 }])
  expect(await counters(store, tenant)).toEqual({ n: 1, [`aborted:${ref}`]: 1 })
})

test('a stop waits for a lane past its point of no return', async () => {
  const [lane, tenant, ref] = [fakeLane(), await store.newTenant(), newId()]
  const actors = await actorsOn(store, { lanes: [lane] })
  await actors.runtime.ask(tenant, addWork(workOn(ref)))
  const run = await lane.runOf(ref)
  run.context.commit()
  const stopped = actors[Symbol.asyncDispose]()
  await expect(actors.runtime.ask(tenant, bump('n'))).rejects.toMatchObject({ code: 'unavailable' })
  expect(run.context.signal.aborted).toBe(false)
  run.finish()
  await stopped
  expect(await counters(store, tenant)).toEqual({ [`settled:${ref}`]: 1 })
})

test('a stop abandons a lane that does not end in time, and leaves its work to the next process', async () => {
  const [lane, tenant, ref, clock] = [
    fakeLane({ deaf: true }),
    await store.newTenant(),
    newId(),
    manualClock(),
  ]
  const actors = await actorsOn(store, { lanes: [lane], clock, sweepMs: 0 })
  await actors.runtime.ask(tenant, addWork(workOn(ref)))
  await lane.runOf(ref)
  const stopped = actors.runtime[Symbol.asyncDispose]()
  await clock.advance(15_000)
  await stopped
  await actors[Symbol.asyncDispose]()
  expect(await store.owner`select state from work where tenant_id = ${tenant}`).toEqual([
    { state: 'running' },
  ] as never)
  await using _next = await actorsOn(store, { lanes: [fakeLane({ instant: true })], sweepMs: 5 })
  const counts = await eventually(
    () => counters(store, tenant),
    (found) => found[`settled:${ref}`] === 1,
  )
  expect(counts).toMatchObject({ [`orphaned:${ref}`]: 1, [`settled:${ref}`]: 1 })
})

const { countOf, becomes, workOf } = actorsIn(store)
const later = () => new Date(Date.now() + 3_600_000)

test('rows that a dead process left running are settled by the rule of their kind before they run again', async () => {
  const [lane, tenant] = [fakeLane(), await store.newTenant()]
  const [ref, waiting] = [newId(), newId()]
  const first = await actorsOn(store, { lanes: [fakeLane()] })
  await first.runtime.ask(tenant, addWork(workOn(ref), workOn(waiting, { runAt: later() })))
  await eventually(
    () => workOf(tenant),
    (rows) => rows.some(({ state }: { state: string }) => state === 'running'),
  )
  await first.runtime.abandon()
  await store.owner`delete from node`
  await using second = await actorsOn(store, { lanes: [lane] })
  expect(await becomes(tenant, `orphaned:${ref}`, 1)).toBe(1)
  ;(await lane.runOf(ref)).finish()
  expect(await becomes(tenant, `settled:${ref}`, 1)).toBe(1)
  expect(await countOf(tenant, `orphaned:${waiting}`)).toBeUndefined()
  await first[Symbol.asyncDispose]()
  expect(second.runtime.awake).toBe(1)
})
