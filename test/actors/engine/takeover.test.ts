import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId } from '#kernel/ids'
import {
  type Actors,
  type ActorsOptions,
  actorStore,
  actorsOn,
  counters,
  fakeLane,
} from '#test/support/actors/actors'
import { beat, type Frozen, frozenOn, IDLE_TIMERS, passing } from '#test/support/actors/frozen'
import { addWork, bump, span, workOn } from '#test/support/actors/letters'
import { type ManualClock, manualClock } from '#test/support/actors/manual-clock'
import { eventually } from '#test/support/eventually'
import { runs } from '#test/support/property'
import { use } from '#test/support/use'

const store = use(actorStore)

type Which = 0 | 1
/**
 * `restart`: killed, and a new process in its place. `bury`: declared dead while it lives. `cut`:
 * its lock session ends.
 */
type Step =
  | { ask: Which; times: number }
  | { restart: Which }
  | { bury: Which }
  | { cut: Which }
  | { pass: number }

const which = fc.constantFrom<Which>(0, 1)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ ask: which, times: fc.integer({ min: 1, max: 4 }) }), weight: 6 },
    { arbitrary: fc.record({ restart: which }), weight: 1 },
    { arbitrary: fc.record({ bury: which }), weight: 1 },
    { arbitrary: fc.record({ cut: which }), weight: 1 },
    { arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 12 }) }), weight: 3 },
  ),
  { minLength: 4, maxLength: 20 },
)

/** Nothing happens to the processes, so some letters are acknowledged. */
const CALM: Step[] = [{ ask: 0, times: 4 }, { pass: 12 }, { ask: 0, times: 4 }, { pass: 12 }]

type Process = Actors & { clock: ManualClock }

const newProcess = async (): Promise<Process> => {
  const clock = manualClock()
  return Object.assign(await actorsOn(store, { clock, sweepMs: 50, idleMs: 400 }), { clock })
}

/**
 * Sends letters of one tenant through both processes as told, and gives which were acknowledged.
 */
const play = async (
  program: Step[],
  tenant: string,
): Promise<{ acknowledged: string[]; sent: string[] }> => {
  const all = [await newProcess(), await newProcess()]
  const now: [Process, Process] = [all[0]!, all[1]!]
  const answers: Promise<string | undefined>[] = []
  const sent: string[] = []
  const tick = async () => {
    await Promise.all(all.map(({ clock }) => clock.advance(100)))
    // If time ran ahead of the database, slow on a busy machine, no letter would be in time.
    await store.owner`select`
    await Bun.sleep(4)
  }
  const ask = (at: Which) => {
    const id = newId()
    sent.push(id)
    answers.push(
      now[at].runtime.ask(tenant, span(id)).then(
        () => id,
        () => undefined,
      ),
    )
  }
  for (const step of program) {
    if ('ask' in step) for (let i = 0; i < step.times; i++) ask(step.ask)
    else if ('restart' in step) {
      await now[step.restart].runtime.abandon()
      now[step.restart] = await newProcess()
      all.push(now[step.restart])
    } else if ('bury' in step)
      await store.owner`delete from node where incarnation in
      (select incarnation from node order by started_at offset ${step.bury} limit 1)`
    else if ('cut' in step)
      await store.owner`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tendril-node' and datname = current_database()
        order by backend_start offset ${step.cut} limit 1`
    else for (let i = 0; i < step.pass; i++) await tick()
    await tick()
  }
  let isOver = false
  const over = Promise.all(answers).finally(() => {
    isOver = true
  })
  while (!isOver) await tick()
  const acknowledged = (await over).filter((id) => id !== undefined)
  await Promise.all(all.map((one) => one[Symbol.asyncDispose]()))
  return { acknowledged, sent }
}

test('letters of a tenant never overlap, and each acknowledged one happened once, whatever happens to two processes', async () => {
  let acknowledgedInAll = 0
  const property = async (program: Step[]) => {
    const tenant = await store.newTenant()
    const { acknowledged, sent } = await play(program, tenant)
    const rows = await store.owner`select data ->> 'id' as id, (data ->> 'start')::timestamptz >=
        lag((data ->> 'end')::timestamptz)
        over (order by (data ->> 'start')::timestamptz) as apart from outbox
          where tenant_id = ${tenant} and type = 'span'`
    expect(rows.filter(({ apart }) => apart === false)).toEqual([])
    const happened = rows.map(({ id }) => id as string).sort()
    expect(new Set(happened).size).toBe(happened.length)
    expect((await counters(store, tenant)).span ?? 0).toBe(happened.length)
    expect(acknowledged.filter((id) => !happened.includes(id))).toEqual([])
    expect(happened.filter((id) => !sent.includes(id))).toEqual([])
    acknowledgedInAll += acknowledged.length
    await store.quiet()
  }
  await fc.assert(fc.asyncProperty(steps, property), { ...runs(10), examples: [[CALM]] })
  expect(acknowledgedInAll).toBeGreaterThan(0)
})

/** A process whose time is the test's: it beats when it is told to. */
const frozen = (options: ActorsOptions = {}): Promise<Frozen> => frozenOn(store, options)

const nodes = async (): Promise<string[]> =>
  (await store.owner`select incarnation from node order by 1`).map((row) => row.incarnation)
const ownerOf = async (tenant: string) =>
  (await store.owner`select owner, epoch::int from actor where tenant_id = ${tenant}`)[0]

describe('when the owner of a tenant dies', () => {
  test('it is taken over within two beats of another process', async () => {
    const one = await frozen()
    await using other = await frozen()
    const tenant = await store.newTenant()
    await one.runtime.ask(tenant, bump('n'))
    await one.runtime.abandon()
    await beat(other)
    await beat(other)
    await other.runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 2 })
    expect(await ownerOf(tenant)).toMatchObject({ epoch: 2 })
    await one[Symbol.asyncDispose]()
  })

  test('its due work is done by another process without a request', async () => {
    const one = await frozen()
    await using other = await frozen({ lanes: [fakeLane({ instant: true })], sweepMs: 500 })
    const [tenant, ref] = [await store.newTenant(), newId()]
    await one.runtime.ask(tenant, addWork(workOn(ref)))
    await one.runtime.abandon()
    const done = eventually(
      () => counters(store, tenant),
      (counts) => counts[`settled:${ref}`] === 1,
    )
    expect(await passing(store, other.clock, done)).toMatchObject({ [`settled:${ref}`]: 1 })
    await one[Symbol.asyncDispose]()
  })

  test('one that only stopped beating is declared dead when its lease has ended, though it holds its lock', async () => {
    await using one = await frozen()
    await using other = await frozen()
    const tenant = await store.newTenant()
    await one.runtime.ask(tenant, bump('n'))
    const [first] = [(await ownerOf(tenant))!.owner]
    await beat(other)
    expect(await nodes()).toContain(first)
    await store.owner`update node set expires_at = now() where incarnation = ${first}`
    await beat(other)
    expect(await nodes()).not.toContain(first)
    await other.runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 2 })
  })
})

test('a process that cannot renew its lease refuses letters before the others take its tenants', async () => {
  const clock = manualClock()
  await using one = await actorsOn(store, { clock, sweepMs: 0 })
  const tenant = await store.newTenant()
  await one.runtime.ask(tenant, bump('n'))
  await store.owner.begin(async (sql) => {
    await sql`lock table node in access exclusive mode`
    await clock.advance(4_000)
    await expect(one.runtime.ask(tenant, bump('n'))).rejects.toMatchObject({ code: 'unavailable' })
  })
  await eventually(
    () => clock.pending,
    (armed) => armed === IDLE_TIMERS,
  )
  await one.runtime.ask(tenant, bump('n'))
  expect(await counters(store, tenant)).toEqual({ n: 2 })
})
