/** Counters: one row per key, of one period at a time, whatever a statement adds to it. */
import { expect, test } from 'bun:test'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { apply } from '#store/engine/apply-effects'
import { openDb } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import type { Effects } from '#store/engine/letter'
import { actorStore } from '#test/support/actors/actors'
import { byTest } from '#test/support/actors/letters'
import { use } from '#test/support/use'

const NOW = new Date('2026-11-21T07:30:00Z')

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))

type Spend = NonNullable<Effects['spend']>[number]

const day = (period: string, amount: number): Spend => ({ key: 'reads_payg', period, amount })
const month = (period: string, amount: number): Spend => ({ key: 'posts', period, amount })
const hour = (period: string, amount: number): Spend => ({ key: 'post_now', period, amount })

/** The counters after these letters, by key and period. */
const after = async (letters: Spend[][], now = NOW): Promise<Record<string, number>> => {
  const tenantId = newId()
  const process = newId()
  await store.owner`insert into tenant (id, name, plan) values (${tenantId}, 'Test', 'team')`
  await store.owner`insert into actor (tenant_id, owner, epoch) values (${tenantId}, ${process}, 1)`
  for (const spend of letters)
    await db.letter(tenantId, async (sql) => {
      await gate(sql, { tenantId, owner: process, epoch: 1 }, { hook: gateHook })
      await apply(sql, { spend }, { now, wakeAt: null, provenance: byTest })
    })
  const rows = await store.owner<{ name: string; used: number }[]>`
    select key || '@' || period as name, used from counter where tenant_id = ${tenantId}`
  return Object.fromEntries(rows.map(({ name, used }) => [name, used]))
}

test('an amount for an earlier period does not reset the count of the current one', async () => {
  expect(await after([[day('2026-11-21', 5_000)], [day('2026-11-20', 300)]])).toEqual({
    'reads_payg@2026-11-21': 5_000,
  })
  expect(await after([[month('2026-11', 7)], [month('2026-10', 3)]])).toEqual({
    'posts@2026-11': 7,
  })
  expect(await after([[hour('2026-11-21T07', 4)], [hour('2026-11-21T06', 1)]])).toEqual({
    'post_now@2026-11-21T07': 4,
  })
})

test('amounts for two periods of one key in one letter both count', async () => {
  const both = [day('2026-11-20', 300), day('2026-11-21', 50)]
  for (const spend of [both, both.toReversed()]) {
    expect(await after([spend])).toEqual({ 'reads_payg@2026-11-21': 50 })
    expect(await after([[day('2026-11-20', 1)], spend])).toEqual({ 'reads_payg@2026-11-21': 50 })
    expect(await after([[day('2026-11-21', 1)], spend])).toEqual({ 'reads_payg@2026-11-21': 51 })
  }
})

test('giving back in one period and spending in another, in one letter, counts for each', async () => {
  const given = day('2026-11-20', -100)
  const before = [day('2026-11-20', 300)]
  expect(await after([before, [given, day('2026-11-21', 50)]])).toEqual({
    'reads_payg@2026-11-21': 50,
  })
  expect(await after([[day('2026-11-21', 70)], [given, day('2026-11-21', 50)]])).toEqual({
    'reads_payg@2026-11-21': 120,
  })
  expect(await after([before, [given, day('2026-11-21', -50)]])).toEqual({
    'reads_payg@2026-11-20': 200,
  })
  const late = [day('2026-11-20', 40), day('2026-11-21', -100)]
  expect(await after([[day('2026-11-21', 500)], late])).toEqual({ 'reads_payg@2026-11-21': 400 })
  expect(await after([before, late])).toEqual({ 'reads_payg@2026-11-20': 340 })
})

test('amounts of one period add up, never below zero', async () => {
  expect(await after([[month('2026-11', 2), month('2026-11', 3)], [month('2026-11', -1)]])).toEqual(
    { 'posts@2026-11': 4 },
  )
  expect(await after([[month('2026-11', 2)], [month('2026-11', -9)]])).toEqual({
    'posts@2026-11': 0,
  })
  expect(await after([[month('2026-11', -9)]])).toEqual({})
  expect(
    await after([[month('2026-10', 9)], [month('2026-11', 2)], [month('2026-10', -9)]]),
  ).toEqual({ 'posts@2026-11': 2 })
})

test('the count of a far future period, which a wrong clock began, gives way to the current one', async () => {
  expect(await after([[month('2027-03', 9)], [month('2026-11', 2)]])).toEqual({
    'posts@2026-11': 2,
  })
  // Minutes before midnight, the next day is no clock's mistake.
  const late = new Date('2026-11-20T23:59:50Z')
  expect(await after([[day('2026-11-21', 9)], [day('2026-11-20', 2)]], late)).toEqual({
    'reads_payg@2026-11-21': 9,
  })
})
