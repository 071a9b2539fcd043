/** Claims that fail for reasons of their own: their lane is told of each in a letter of its own, and they fail no other letter twice. */
import { afterEach, expect, test } from 'bun:test'
import { systemClock } from '#kernel/clock'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { actorStore, actorsOn, counters, type FakeLane, fakeLane } from '#test/support/actors'
import { eventually } from '#test/support/eventually'
import { addWork, letterOf, newGate, workOn } from '#test/support/letters'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const counted = (key: string): Effects => ({ spend: [{ key, period: 'test', amount: 1 }] })

/** Its first row cannot be claimed until the lane has been told so many times. It makes the row due again at once. */
const failingLane = (times: number, failing: (sql: Sql) => Promise<unknown>): FakeLane => {
  let left = times
  let first: string | undefined
  const lane = fakeLane({
    instant: true,
    async claim(sql, _gate, work) {
      first ??= work.ref_id
      if (work.ref_id === first && left > 0) await failing(sql)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  return Object.assign(lane, {
    async failed(_sql: Sql, { now }: { now: Date }, { id, ref_id }: { id: string; ref_id: string }) {
      left--
      return { reply: undefined, effects: { requeued: [{ id, runAt: now }], ...counted(`failed:${ref_id}`) } }
    },
  })
}

const ways: [words: string, failing: (sql: Sql) => Promise<unknown>][] = [
  ['a rule', () => Promise.reject(new Error('no'))],
  ['a statement', async (sql) => await sql`select 1 / 0`],
  [
    'a statement that takes too long',
    async (sql) => {
      await sql`select set_config('statement_timeout', '100', true)`
      await sql`select pg_sleep(60)`
    },
  ],
  ['the end of its connection', async (sql) => await sql`select pg_terminate_backend(pg_backend_pid())`],
]

test.each(ways)('each failure by %s is told once, and others go on', async (_, failing) => {
  const lane = failingLane(2, failing)
  await using actors = await actorsOn(store, { lanes: [lane] })
  const [tenant, bad, good] = [await store.newTenant(), newId(), newId()]
  await actors.runtime.ask(tenant, addWork(workOn(bad, { key: 'bad' }), workOn(good, { key: 'good', runAt: new Date() })))
  const all = await eventually(
    () => counters(store, tenant),
    (counts) => counts[`settled:${bad}`] === 1 && counts[`settled:${good}`] === 1,
  )
  expect(all).toEqual({ [`failed:${bad}`]: 2, [`settled:${bad}`]: 1, [`settled:${good}`]: 1 })
})

test('work whose claim was decided again because another letter failed has not failed', async () => {
  const [claiming, decides] = [newGate(), newGate()]
  let claims = 0
  const lane = failingLane(1, async () => {
    if (++claims > 1) return
    claiming.open()
    await decides.opened
  })
  // Time that stands still closes no group.
  const clock = { ...systemClock, monotonic: () => 0 }
  await using actors = await actorsOn(store, { lanes: [lane], clock })
  const [tenant, ref] = [await store.newTenant(), newId()]
  await actors.runtime.ask(tenant, addWork(workOn(ref)))
  await claiming.opened
  const broken = actors.runtime.ask(
    tenant,
    letterOf<void>(() => Promise.reject(new Error('no'))),
  )
  decides.open()
  await expect(broken).rejects.toThrow('no')
  const all = await eventually(
    () => counters(store, tenant),
    (counts) => counts[`settled:${ref}`] === 1,
  )
  expect(all).toEqual({ [`settled:${ref}`]: 1 })
})
