/**
 * The order of claims: groups of work take turns while much is due, and nothing starves behind what
 * people have asked for.
 */
import { beforeEach, expect, test } from 'bun:test'
import { workLanes } from '#contract/work'
import { gateHook } from '#decisions/gate'
import { workTable } from '#decisions/work'
import { newId } from '#kernel/ids'
import { apply } from '#store/engine/apply-effects'
import { openDb, type Transaction } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import type { NewWork } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { type ClaimView, nextDue } from '#store/engine/next-due'
import { actorStore } from '#test/support/actors/actors'
import { byTest, workOn } from '#test/support/actors/letters'
import { use } from '#test/support/use'

const store = use(actorStore)
let tenant: string
beforeEach(async () => {
  tenant = await store.newTenant()
})

const inTenant = async <T>(body: (sql: Transaction, now: Date) => Promise<T>): Promise<T> => {
  await using db = openDb({ ...store.options, max: 1 })
  const [owner, epoch] = [newId(), 1]
  await store.owner`update actor set owner = ${owner}, epoch = ${epoch} where tenant_id = ${tenant}`
  return await db.letter(tenant, async (sql) =>
    body(sql, (await gate(sql, { tenantId: tenant, owner, epoch }, { hook: gateHook }))!.now),
  )
}

const ago = (ms: number): Date => new Date(Date.now() - ms)
const row = (lane: NewWork['lane'], origin: NewWork['origin'], dueAgo: number): NewWork =>
  workOn(newId(), { lane, key: newId(), origin, runAt: ago(dueAgo) })

/** All groups, beginning with this one. Behind the last comes the first. */
const from = (lane: NewWork['lane']): NewWork['lane'][] => {
  const at = workLanes.indexOf(lane)
  return [...workLanes.slice(at), ...workLanes.slice(0, at)]
}

/** The first row that each poll finds. */
const order = (
  rows: NewWork[],
  polls: ClaimView['laneOrder'][],
  paused = false,
): Promise<number[]> =>
  inTenant(async (sql, now) => {
    await apply(sql, { work: rows }, { now, wakeAt: null, provenance: byTest })
    const found: number[] = []
    const excluded: string[] = []
    for (const laneOrder of polls) {
      const view: ClaimView = {
        kinds: workTable,
        at: { now: new Date(), paused },
        running: [],
        excluded,
        laneOrder,
      }
      const { work } = (await loadNow(sql, { found: nextDue(view) })).found
      found.push(rows.findIndex(({ id }) => id === work?.id))
      if (work) excluded.push(work.id)
    }
    return found
  })

test('a due post is claimed before what people have asked for later', async () => {
  const rows = [
    row('agent', 'manual', 4_000),
    row('publish', 'automatic', 10_000),
    row('delivery', 'manual', 3_000),
  ]
  expect(await order(rows, [undefined, undefined, undefined])).toEqual([1, 0, 2])
})

test('what people have asked for goes first where both have been due as long', async () => {
  const rows = [row('agent', 'automatic', 6_000), row('agent', 'manual', 4_000)]
  expect(await order(rows, [undefined, undefined])).toEqual([1, 0])
})

test('while much is due, a group whose turn it is goes first, by due time', async () => {
  const answers = Array.from({ length: 20 }, () => row('agent', 'manual', 60_000))
  const rows = [...answers, row('publish', 'automatic', 100), row('publish', 'automatic', 200)]
  expect(await order(rows, [from('publish'), from('publish')])).toEqual([21, 20])
})

test('a group with nothing to claim gives its turn to the next, not to what has waited longest', async () => {
  const rows = [
    row('agent', 'manual', 60_000),
    row('delivery', 'manual', 3_000),
    row('publish', 'automatic', 100),
  ]
  expect(await order(rows, [from('delivery'), from('delivery'), from('ingest')])).toEqual([1, 2, 0])
})

test('the turn of a group does not undo the kill switch', async () => {
  expect(
    await order(
      [row('publish', 'automatic', 60_000), row('agent', 'manual', 1_000)],
      [from('publish'), from('publish')],
      true,
    ),
  ).toEqual([1, -1])
})

test('a turn among thousands of rows is read from its index', async () => {
  const many = Array.from({ length: 400 }, () => row('agent', 'manual', 60_000))
  const rows = await inTenant(async (sql, now) => {
    for (let part = 0; part < 400; part += 100)
      await apply(
        sql,
        { work: many.slice(part, part + 100) },
        { now, wakeAt: null, provenance: byTest },
      )
    const view: ClaimView = {
      kinds: workTable,
      at: { now: new Date(), paused: false },
      running: [],
      excluded: [],
      laneOrder: workLanes,
    }
    return await sql<{ 'QUERY PLAN': string }>`explain ${nextDue(view).query(sql)}`
  })
  expect(rows.map((line) => line['QUERY PLAN']).join('\n')).toContain('work_due_in_lane')
})
