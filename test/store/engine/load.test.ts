/**
 * Records loaded in the gate's statement are the same as those that a query of their own returns.
 */
import { beforeAll, expect, test } from 'bun:test'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { openDb, type Query } from '#store/engine/db'
import { openGate } from '#store/engine/gate'
import { many, one, when } from '#store/engine/load'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

interface Sample {
  id: string
  amount: number
  names: string[]
  data: { deep: [number, string] }
  at: Date
  never: Date | null
  text: string
}

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))
const tenantId = newId()
const own = { tenantId, owner: newId(), epoch: 1 }
beforeAll(async () => {
  await store.owner`with t as (insert into tenant (id, name, plan)
    values (${tenantId}, 'Test', 'free') returning id)
    insert into actor (tenant_id, owner, epoch) select id, ${own.owner}, 1 from t`
})

const samples =
  (count: number): Query<Sample> =>
  (sql) =>
    sql<Sample>`select ${own.owner}::uuid as id, n as amount, array['a', 'b, "c"'] as names,
      '{"deep": [1, "x"]}'::jsonb as data,
    timestamptz '2026-01-02 03:04:05.678901+00' as at, null::timestamptz as never,
      E'tab\t"quote" \\\\ \u2028' as text
    from generate_series(1, ${count}::int) n order by n desc`

test('a row, no row and several rows have the same values as a query returns', async () => {
  const times = { at: true, never: true } as const
  const load = {
    first: one<Sample>(times, samples(1)),
    none: one<Sample>(times, samples(0)),
    all: many<Sample>(times, samples(3)),
  }
  const [opened, alone, all] = await db.letter(tenantId, async (sql) => [
    await openGate(sql, own, { hook: gateHook, load }),
    await samples(1)(sql),
    await samples(3)(sql),
  ])
  expect(opened?.loaded).toEqual({ first: alone[0], none: undefined, all: [...all] } as never)
  expect(opened?.loaded.all.map(({ amount }) => amount)).toEqual([3, 2, 1])
  expect(opened?.loaded.first?.at).toEqual(new Date('2026-01-02T03:04:05.678Z'))
  expect(opened?.gate.paused).toBe(false)
})

test('a part that is not needed is not asked for', async () => {
  const broken = one<Sample>({ at: true, never: true }, (sql) => sql<Sample>`select 1 / 0`)
  const opened = await db.letter(tenantId, (sql) =>
    openGate(sql, own, { hook: gateHook, load: { broken: when(false, broken) } }),
  )
  expect(opened?.loaded).toEqual({ broken: undefined })
})

test('a query that finds more than one row where one is expected is an error', async () => {
  const load = { first: one<Sample>({ at: true, never: true }, samples(2)) }
  await expect(
    db.letter(tenantId, (sql) => openGate(sql, own, { hook: gateHook, load })),
  ).rejects.toThrow('more than one row')
})
