/**
 * The claim that an outcome makes room for: in the outcome's transaction, and without harm to it.
 */
import { afterEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import { actorStore, actorsOn, counters, fakeLane } from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, letterOf, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const transactionOf = async (sql: Sql): Promise<string> =>
  (await sql<{ id: string }>`select pg_current_xact_id()::text as id`)[0]!.id
const two = () => [newId(), newId()] as const
/** Two due rows of one key, the first of which is due earlier. */
const inTurn = (first: string, second: string) =>
  addWork(workOn(first, { runAt: new Date(Date.now() - 60_000) }), workOn(second))

test('is in one transaction with the outcome', async () => {
  const seen: string[] = []
  const lane = fakeLane({
    async claim(sql, _gate, work) {
      seen.push(`claim ${await transactionOf(sql)}`)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  const { settle } = lane
  lane.settle = async (sql, gate, finished, loaded) => {
    seen.push(`settle ${await transactionOf(sql)}`)
    return settle(sql, gate, finished, loaded)
  }
  await using actors = await actorsOn(store, { lanes: [lane] })
  const tenant = await store.newTenant()
  const [first, second] = two()
  await actors.runtime.ask(tenant, inTurn(first, second))
  ;(await lane.runOf(first)).finish()
  ;(await lane.runOf(second)).finish()
  await eventually(
    () => counters(store, tenant),
    (counts) => counts[`settled:${second}`] === 1,
  )
  expect(seen.map((one) => one.split(' ')[0])).toEqual(['claim', 'settle', 'claim', 'settle'])
  const [, settled, claimed] = seen.map((one) => one.split(' ')[1])
  expect(claimed).toBe(settled)
})

test('leaves the outcome as it is when a statement of it fails, and is tried again', async () => {
  let failures = 0
  const [first, second] = two()
  const lane = fakeLane({
    async claim(sql, _gate, work) {
      if (work.ref_id === second && failures++ === 0) await sql`select 1 / 0`
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  await using actors = await actorsOn(store, { lanes: [lane] })
  const tenant = await store.newTenant()
  await actors.runtime.ask(tenant, inTurn(first, second))
  ;(await lane.runOf(first)).finish()
  ;(await lane.runOf(second)).finish()
  const counts = await eventually(
    () => counters(store, tenant),
    (all) => all[`settled:${second}`] === 1,
  )
  expect([counts, failures]).toEqual([{ [`settled:${first}`]: 1, [`settled:${second}`]: 1 }, 2])
})

test('is not made while a control letter waits', async () => {
  const [lane, points] = [fakeLane(), testFailpoints()]
  await using actors = await actorsOn(store, { lanes: [lane], failpoints: points.at })
  const tenant = await store.newTenant()
  const [first, second] = two()
  await actors.runtime.ask(tenant, inTurn(first, second))
  const run = await lane.runOf(first)
  points.arm('letter.deciding:fake.settle', 'hang')
  run.finish()
  await points.reached('letter.deciding:fake.settle')
  const rows = async (sql: Sql) =>
    (await sql<{ state: string }>`select state from work`).map(({ state }) => state)
  const control = actors.runtime.ask(tenant, {
    ...letterOf(async (sql) => ({ reply: await rows(sql) }), { priority: 'control' }),
    alone: true,
  })
  points.release('letter.deciding:fake.settle')
  expect(await control).toEqual(['queued'])
  ;(await lane.runOf(second)).finish()
  expect(
    await eventually(
      () => counters(store, tenant),
      (counts) => counts[`settled:${second}`] === 1,
    ),
  ).toMatchObject({ [`settled:${first}`]: 1 })
})
