/**
 * Transactions outside of workspaces: each has its own connection, whatever runs at the same time.
 */
import { expect, test } from 'bun:test'
import { openDb, type Sql } from '#store/engine/db'
import { freshDb } from '#test/support/database/db'
import { use } from '#test/support/use'

const database = use(freshDb)
const db = use(() => openDb({ ...database.options, max: 4 }))

const idOf = async (sql: Sql): Promise<string> =>
  (await sql<{ id: string }>`select txid_current()::text as id`)[0]!.id

test('simultaneous transactions, among single statements, each have an id of their own', async () => {
  const transaction = () =>
    db.systemTransaction(async (tx) => {
      const first = await idOf(tx)
      await tx`select count(*) from person`
      return [first, await idOf(tx)]
    })
  const turns = Array.from({ length: 30 }, async () => {
    const ids: string[][] = []
    for (let round = 0; round < 10; round++) ids.push([await db.system(idOf)], await transaction())
    return ids
  })
  const ids = (await Promise.all(turns)).flat()
  for (const [first, second = first] of ids) expect(second).toBe(first!)
  expect(new Set(ids.map(([first]) => first)).size).toBe(600)
})

test('a failing transaction rolls back its own changes only', async () => {
  const key = (name: string) => `system-transaction ${name}`
  const insert = (tx: Sql, name: string) =>
    tx`insert into throttle (key, used, until) values (${key(name)}, 1, now() + interval '1 hour')`
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      db.systemTransaction(async (tx) => {
        await insert(tx, String(index))
        if (index % 2 === 1) throw new Error('no')
      }),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(
    outcomes.map((_, index) => (index % 2 === 1 ? 'rejected' : 'fulfilled')),
  )
  const [row] = await db.system(
    (sql) =>
      sql<{ kept: number }>`select count(*)::int as kept from throttle where key like ${key('%')}`,
  )
  expect(row!.kept).toBe(10)
})
