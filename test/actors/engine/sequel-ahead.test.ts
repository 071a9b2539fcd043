/**
 * The claim that an outcome makes room for, decided by what the outcome's gate loaded and written
 * in one statement with it.
 */
import { afterEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { one } from '#store/engine/load'
import type { RecordId } from '#store/engine/next-due'
import {
  actorStore,
  actorsOn,
  counters,
  type FakeLaneOptions,
  fakeLane,
} from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, letterOf, workOn } from '#test/support/actors/letters'
import { openWire } from '#test/support/database/lost-commit'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const MINUTE = 60_000
const ago = (minutes: number) => ({ runAt: new Date(Date.now() - minutes * MINUTE) })
/** Rows of one key, each due before the next. */
const inTurn = (...ids: string[]) =>
  addWork(...ids.map((id, index) => workOn(id, ago(ids.length - index))))

/** A lane whose claims can be decided ahead. `ways`: how each row was claimed. */
const laneAhead = (
  options: FakeLaneOptions & { ahead?: (refId: string) => Effects; divisor?: number } = {},
) => {
  const { divisor = 1 } = options
  const ways: string[] = []
  const lane = fakeLane({
    ...options,
    async claim(_sql, _gate, work) {
      ways.push(`claim ${work.ref_id}`)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  return Object.assign(lane, {
    ways,
    claimLoad: {
      payload: {},
      of: (refId: RecordId, settling: string | null) => ({
        seen: one<{ id: string; settling: string }>(
          {},
          (sql) => sql`select ${refId}::text as id, ${settling}::text as settling,
          case when ${settling}::text is not null then 1 / ${divisor}::int end`,
        ),
      }),
    },
    async claimAhead(
      _gate: unknown,
      work: { ref_id: string },
      { seen }: { seen?: { id: string; settling: string } },
    ) {
      ways.push(`ahead ${seen!.id} of ${seen!.settling}`)
      return {
        job: { refId: work.ref_id },
        decision: { reply: undefined, effects: options.ahead?.(work.ref_id) ?? {} },
      }
    },
    isPlain: () => true,
  })
}

const settled = (tenant: string, refId: string) =>
  eventually(
    () => counters(store, tenant),
    (counts) => counts[`settled:${refId}`] === 1,
  )

const states = async (sql: Sql) =>
  (await sql<{ state: string }>`select state from work order by run_at`).map(({ state }) => state)

test('is decided by what was loaded, as long as rows are known to be due', async () => {
  const lane = laneAhead({ instant: true })
  await using actors = await actorsOn(store, { lanes: [lane] })
  const [tenant, first, second, third] = [await store.newTenant(), newId(), newId(), newId()]
  await actors.runtime.ask(tenant, inTurn(first, second, third))
  await settled(tenant, third)
  expect(lane.ways).toEqual([
    `claim ${first}`,
    `ahead ${second} of ${first}`,
    `ahead ${third} of ${second}`,
  ])
})

test('leaves the outcome as it is when their statement fails, and is decided again after it', async () => {
  const broken: Effects = {
    writes: [(sql) => sql`update work set attempt = 1 / (attempt - attempt)`],
  }
  const lane = laneAhead({ instant: true, ahead: () => broken })
  await using actors = await actorsOn(store, { lanes: [lane] })
  const [tenant, first, second] = [await store.newTenant(), newId(), newId()]
  await actors.runtime.ask(tenant, inTurn(first, second))
  const counts = await settled(tenant, second)
  expect(counts).toEqual({ [`settled:${first}`]: 1, [`settled:${second}`]: 1 })
  expect(lane.ways).toEqual([`claim ${first}`, `ahead ${second} of ${first}`, `claim ${second}`])
})

test('is not made while a control letter waits', async () => {
  const [lane, points] = [laneAhead(), testFailpoints()]
  await using actors = await actorsOn(store, { lanes: [lane], failpoints: points.at })
  const [tenant, first, second] = [await store.newTenant(), newId(), newId()]
  await actors.runtime.ask(tenant, inTurn(first, second))
  const run = await lane.runOf(first)
  points.arm('letter.deciding:fake.settle', 'hang')
  run.finish()
  await points.reached('letter.deciding:fake.settle')
  const seen = letterOf(async (sql) => ({ reply: await states(sql) }), { priority: 'control' })
  const control = actors.runtime.ask(tenant, { ...seen, alone: true })
  points.release('letter.deciding:fake.settle')
  expect(await control).toEqual(['queued'])
  ;(await lane.runOf(second)).finish()
  await settled(tenant, second)
})

test('does not hide what the outcome makes due', async () => {
  const [tenant, first, second, third] = [await store.newTenant(), newId(), newId(), newId()]
  const added = { ...workOn(third), key: 'another' }
  const lane = laneAhead({ onSettle: (work) => (work.ref_id === first ? { work: [added] } : {}) })
  await using actors = await actorsOn(store, { lanes: [lane] })
  await actors.runtime.ask(tenant, inTurn(first, second))
  ;(await lane.runOf(first)).finish()
  const both = [await lane.runOf(second), await lane.runOf(third)]
  expect(lane.ways).toContain(`ahead ${second} of ${first}`)
  for (const run of both) run.finish()
  await settled(tenant, third)
})

test('is made after an outcome that does not end its row', async () => {
  const [tenant, first, second] = [await store.newTenant(), newId(), newId()]
  const later = (id: string): Effects => ({
    settled: [],
    requeued: [{ id, runAt: new Date(Date.now() + 60 * MINUTE) }],
  })
  const lane = laneAhead({ onSettle: (work) => (work.ref_id === first ? later(work.id) : {}) })
  await using actors = await actorsOn(store, { lanes: [lane] })
  await actors.runtime.ask(tenant, inTurn(first, second))
  ;(await lane.runOf(first)).finish()
  ;(await lane.runOf(second)).finish()
  await settled(tenant, second)
  expect(lane.ways).toEqual([`claim ${first}`, `claim ${second}`])
})

test('that is not heard of is settled, and the outcome is written once', async () => {
  const lane = laneAhead()
  await using wire = await openWire(store.options)
  await using actors = await actorsOn({ options: wire.options }, { lanes: [lane] })
  const [tenant, first, second] = [await store.newTenant(), newId(), newId()]
  await actors.runtime.ask(tenant, inTurn(first, second))
  const run = await lane.runOf(first)
  const lost = wire.loseCommitOf(`settled:${first}`)
  run.finish()
  await lost
  // Nobody runs the claimed row: it goes back to the queue, and is claimed again.
  ;(await lane.runOf(second)).finish()
  expect(await settled(tenant, second)).toEqual({
    [`settled:${first}`]: 1,
    [`orphaned:${second}`]: 1,
    [`settled:${second}`]: 1,
  })
})

test('does not keep the outcome from being written when its poll fails', async () => {
  const lane = laneAhead({ instant: true, divisor: 0 })
  await using actors = await actorsOn(store, { lanes: [lane] })
  const [tenant, first, second] = [await store.newTenant(), newId(), newId()]
  await actors.runtime.ask(tenant, inTurn(first, second))
  expect(await settled(tenant, second)).toEqual({
    [`settled:${first}`]: 1,
    [`settled:${second}`]: 1,
  })
  expect(lane.ways).toEqual([`claim ${first}`, `claim ${second}`])
})
