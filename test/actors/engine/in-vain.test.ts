/** No row may be claimed for ever: what fails rests, is claimed alone, is counted in its row, and ends by what is known or rests for an hour. */
import { expect, test } from 'bun:test'
import type { AnyLane, Ending } from '#actors/engine/lane'
import { workTable } from '#decisions/work'
import { systemClock } from '#kernel/clock'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import {
  type ActorsOptions,
  actorStore,
  actorsOn,
  counters,
  type FakeLane,
  fakeLane,
  kill,
  laneThatHangs,
  type Store,
} from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, letterOf, newGate, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'

/** Beside the others: what fails rests for seconds. */
const inStore =
  <A extends unknown[]>(run: (store: Store, ...args: A) => Promise<void>) =>
  async (...args: A): Promise<void> => {
    await using store = await actorStore()
    await run(store, ...args)
  }

const counted = (key: string): Effects => ({ spend: [{ key, period: 'test', amount: 1 }] })

interface Failing {
  lane: Ending<FakeLane>
  /** The record whose row fails. */
  bad: string
  tries: number
}

/** Its row cannot be claimed, or its outcome not be settled, for so many times. Its end is counted under `ended:<state>`. */
const failing = (where: 'claim' | 'settle', fail: (sql: Sql) => Promise<unknown>, times = Number.POSITIVE_INFINITY): Failing => {
  const [usual, bad] = [fakeLane({ kind: 'fake', instant: true }), newId()]
  const failed: Failing = { lane: undefined as never, bad, tries: 0 }
  const trying = async (sql: Sql, { ref_id }: Work): Promise<void> => {
    if (ref_id !== bad || failed.tries >= times) return
    failed.tries++
    await fail(sql)
  }
  failed.lane = Object.assign(usual, {
    claim: async (...[sql, , work]: Parameters<FakeLane['claim']>) => {
      if (where === 'claim') await trying(sql, work)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
    settle: async (...[sql, , { work }]: Parameters<FakeLane['settle']>) => {
      if (where === 'settle') await trying(sql, work)
      return { reply: undefined, effects: { settled: [work.id], ...counted(`settled:${work.ref_id}`) } }
    },
    givenUp: async (_sql: Sql, _gate: unknown, work: Work) => ({
      reply: undefined,
      effects: { settled: [work.id], ...counted(`ended:${work.state}`) },
    }),
  })
  return failed
}

const kindsWith = (end: 'ends' | 'rests') => ({ ...workTable, inVain: { fake: { most: 3, end } } })

const becomes = (store: Store, tenant: string, key: string) =>
  eventually(
    () => counters(store, tenant),
    (counts) => counts[key] === 1,
    20_000,
  )
const rowOf = async (store: Store, ref: string) =>
  (await store.owner<(Work & { due_at: Date | null })[]>`select * from work where ref_id = ${ref}`)[0]
const hang = () => new Promise(() => {})

/** Once its first letters are over, so that what fails shares no transaction with the test's own letter. */
const started = async (store: Store, lane: AnyLane, end: 'ends' | 'rests', more: ActorsOptions = {}) => {
  const actors = await actorsOn(store, { lanes: [lane], kinds: kindsWith(end), ...more })
  const tenant = await store.newTenant()
  await actors.runtime.ask(
    tenant,
    letterOf(() => ({ reply: undefined })),
  )
  await eventually(() => actors.runtime.idle, Boolean)
  return { ...actors, tenant, add: (...work: Parameters<typeof addWork>) => actors.runtime.ask(tenant, addWork(...work)) }
}

/** `most`: as often is it tried. The first time it may be, once more, alone, at once. */
const ways: [words: string, fail: (sql: Sql) => Promise<unknown>, most: number][] = [
  ['throws', () => Promise.reject(new Error('no')), 4],
  ['makes a statement fail', async (sql) => await sql`select 1 / 0`, 4],
  [
    'takes the database too long',
    async (sql) => {
      await sql`select set_config('statement_timeout', '100', true)`
      await sql`select pg_sleep(60)`
    },
    3,
  ],
  ['loses its connection', (sql) => sql`select set_config('idle_in_transaction_session_timeout', '50', true)`.then(hang), 3],
  ['hangs', hang, 3],
]

test.concurrent.each(ways)(
  'a row whose claim %s ends after the bound of its kind, with nothing sent, and others go on',
  inStore(async (store, _, fail, most) => {
    const failed = failing('claim', fail)
    await using actors = await started(store, failed.lane, 'ends')
    const { tenant, add } = actors
    const good = newId()
    await add(workOn(failed.bad, { key: 'bad' }), workOn(good, { key: 'good', runAt: new Date() }))
    await becomes(store, tenant, `settled:${good}`)
    expect(await becomes(store, tenant, 'ended:queued')).toEqual({ 'ended:queued': 1, [`settled:${good}`]: 1 })
    expect([await rowOf(store, failed.bad), failed.lane.started]).toEqual([undefined, [good]])
    expect(failed.tries).toBeLessThanOrEqual(most)
  }),
)

test.concurrent.each(ways)(
  'an outcome that %s while it is settled ends as perhaps sent, and its row does not run again',
  inStore(async (store, _, fail) => {
    const failed = failing('settle', fail)
    await using actors = await started(store, failed.lane, 'ends')
    const { tenant, add } = actors
    const good = newId()
    await add(workOn(failed.bad, { key: 'bad' }), workOn(good, { key: 'good', runAt: new Date() }))
    await becomes(store, tenant, `settled:${good}`)
    await becomes(store, tenant, 'ended:running')
    expect(failed.lane.started.filter((ref) => ref === failed.bad)).toHaveLength(1)
  }),
)

test.concurrent(
  'a row of a kind that must go on rests for an hour, keeps its own due time, and is not hastened',
  inStore(async (store) => {
    const failed = failing('claim', () => Promise.reject(new Error('no')))
    await using actors = await started(store, failed.lane, 'rests')
    const work = workOn(failed.bad)
    await actors.add(work)
    const rests = (row: Awaited<ReturnType<typeof rowOf>>) => row?.failures === 3
    const row = await eventually(() => rowOf(store, failed.bad), rests, 20_000)
    expect(row!.due_at).toEqual(work.runAt)
    expect(row!.run_at.getTime()).toBeGreaterThan(Date.now() + 3_500_000)
    await actors.add({ ...workOn(failed.bad), second: 'hastens', runAt: new Date() })
    expect(await rowOf(store, failed.bad)).toEqual(row!)
  }),
)

test.concurrent(
  'a row that succeeds at last has no failures any more',
  inStore(async (store) => {
    const { lane, bad } = failing('claim', () => Promise.reject(new Error('no')), 2)
    lane.settle = async (_sql, gate, { work }) => ({
      reply: undefined,
      effects: { requeued: [{ id: work.id, runAt: new Date(gate.now.getTime() + 3_600_000) }], ...counted('again') },
    })
    await using actors = await started(store, lane, 'ends')
    await actors.add(workOn(bad))
    await becomes(store, actors.tenant, 'again')
    expect(await rowOf(store, bad)).toMatchObject({ failures: 0, due_at: null, tried_by: null })
  }),
)

test.concurrent(
  'nothing is counted while the database takes nothing',
  inStore(async (store) => {
    const points = testFailpoints()
    const failed = failing('claim', () => Promise.reject(new Error('no')), 3)
    const full = Object.assign(new Error('the disk is full'), { code: '53100' })
    points.arm('letter.deciding:work.failed', full)
    await using actors = await started(store, failed.lane, 'ends', { failpoints: points.at })
    await actors.add(workOn(failed.bad))
    await becomes(store, actors.tenant, `settled:${failed.bad}`)
    expect(await counters(store, actors.tenant)).toEqual({ [`settled:${failed.bad}`]: 1 })
  }),
)

test.concurrent(
  'not even a row whose end fails is claimed for ever',
  inStore(async (store) => {
    const failed = failing('claim', () => Promise.reject(new Error('no')))
    failed.lane.givenUp = () => Promise.reject(new Error('nor that'))
    const tenant = await store.newTenant()
    {
      await using before = await actorsOn(store, { lanes: [], kinds: kindsWith('ends') })
      await before.runtime.ask(tenant, addWork(workOn(failed.bad)))
      await store.owner`update work set failures = 3 where ref_id = ${failed.bad}`
    }
    await using _actors = await actorsOn(store, { lanes: [failed.lane], kinds: kindsWith('ends') })
    const audit = () =>
      store.owner`select detail from audit where tenant_id = ${tenant} and operation = 'work.dropped' and ref_id = ${failed.bad}`
    expect(await eventually(audit, (rows) => rows.length > 0)).toEqual([{ detail: { kind: 'fake', failures: 6 } }] as never)
    expect(await rowOf(store, failed.bad)).toBeUndefined()
  }),
)

test.concurrent(
  'an orphan that cannot be settled ends, and does not stop the others',
  inStore(async (store) => {
    const lane = fakeLane({ instant: true })
    const bad = newId()
    const orphaned = lane.orphaned
    Object.assign(lane, {
      orphaned: (...[sql, gate, work]: Parameters<typeof orphaned>) =>
        work.ref_id === bad ? Promise.reject(new Error('no')) : orphaned(sql, gate, work),
      givenUp: async (_sql: Sql, _gate: unknown, work: Work) => ({
        reply: undefined,
        effects: { settled: [work.id], ...counted(`ended:${work.state}`) },
      }),
    })
    const [tenant, good] = [await store.newTenant(), newId()]
    {
      await using before = await actorsOn(store, { lanes: [] })
      await before.runtime.ask(tenant, addWork(workOn(bad, { key: 'bad' }), workOn(good, { key: 'good' })))
    }
    await store.owner`update work set state = 'running', claimed_by = ${newId()}, attempt = 1 where tenant_id = ${tenant}`
    await using _actors = await actorsOn(store, { lanes: [lane], kinds: kindsWith('ends') })
    await becomes(store, tenant, `settled:${good}`)
    await becomes(store, tenant, 'ended:running')
    expect(await rowOf(store, bad)).toBeUndefined()
  }),
)

/** A process that had lived for a while, hung in the claim of a row, and was killed. */
const died = async (store: Store): Promise<void> => {
  const { lane, claiming } = laneThatHangs()
  const actors = await actorsOn(store, { lanes: [lane], kinds: kindsWith('ends'), trouble: { calmMs: 0 } })
  await claiming
  await kill(actors, store)
}

test.concurrent(
  'a row that one process after the other dies of ends: each marks it before it claims it',
  inStore(async (store) => {
    const [tenant, bad] = [await store.newTenant(), newId()]
    const { lane } = failing('claim', () => Promise.resolve())
    {
      await using before = await actorsOn(store, { lanes: [], kinds: kindsWith('ends') })
      await before.runtime.ask(tenant, addWork(workOn(bad)))
    }
    for (let death = 1; death <= 4; death++) {
      await died(store)
      expect((await rowOf(store, bad))!.failures).toBe(Math.max(0, death - 2))
    }
    await using _actors = await actorsOn(store, { lanes: [lane], kinds: kindsWith('ends'), trouble: { calmMs: 0 } })
    expect(await becomes(store, tenant, 'ended:queued')).toEqual({ 'ended:queued': 1 })
    expect(lane.started).toEqual([])
  }),
)

test.each([
  ['hangs', hang],
  ['the database takes long for', async (sql: Sql) => void (await sql`select pg_sleep(30)`)],
])(
  'the kill switch does not wait for a claim that %s',
  inStore(async (store, _, slow) => {
    const claiming = newGate()
    const failed = failing('claim', async (sql) => {
      claiming.open()
      await slow(sql)
    })
    await using actors = await started(store, failed.lane, 'ends')
    await actors.add(workOn(failed.bad))
    await claiming.opened
    const pause = letterOf(() => ({ reply: 'paused', effects: { paused: true } }), { priority: 'control' })
    const began = performance.now()
    expect(await actors.runtime.ask(actors.tenant, pause)).toBe('paused')
    // Without giving way it waits for the end of the session, which comes after two seconds at the earliest.
    expect(performance.now() - began).toBeLessThan(1_900)
  }),
)

test.concurrent(
  'work whose claim was decided again because another letter failed has not failed',
  inStore(async (store) => {
    const [claiming, decides] = [newGate(), newGate()]
    const failed = failing('claim', async () => {
      claiming.open()
      await decides.opened
    })
    // Time that stands still closes no group.
    const clock = { ...systemClock, monotonic: () => 0 }
    await using actors = await actorsOn(store, { lanes: [failed.lane], clock })
    const tenant = await store.newTenant()
    await actors.runtime.ask(tenant, addWork(workOn(failed.bad)))
    await claiming.opened
    const broken = actors.runtime.ask(
      tenant,
      letterOf<void>(() => Promise.reject(new Error('no'))),
    )
    decides.open()
    await expect(broken).rejects.toThrow('no')
    expect(await becomes(store, tenant, `settled:${failed.bad}`)).toEqual({ [`settled:${failed.bad}`]: 1 })
  }),
)
