/** The plan of the gate's statement. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { type Db, openDb } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import { freshDb, type TestDatabase } from '#test/support/database/db'

let database: TestDatabase
let owner: postgres.Sql
let db: Db
beforeAll(async () => {
  database = await freshDb()
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  db = openDb({ ...database.options, max: 1 })
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await owner.end()
  await database[Symbol.asyncDispose]()
})

test('the gate finds its tenant by primary key even if statistics say that its owner has few', async () => {
  await owner`with t as (insert into tenant (id, name, plan)
    select gen_random_uuid(), 'Test', 'free' from generate_series(1, 1000) returning id)
    insert into actor (tenant_id) select id from t`
  await owner`analyze actor`
  const process = newId()
  await owner`update actor set owner = ${process}, epoch = 1`
  const [actor] = await owner<{ tenant_id: string }[]>`select tenant_id from actor limit 1`
  const tenantId = actor!.tenant_id
  const used = await db.letter(tenantId, async (sql) => {
    expect(
      await gate(sql, { tenantId, owner: process, epoch: 1 }, { hook: gateHook }),
    ).toBeDefined()
    return await sql<{
      name: string
    }>`select relname as name from pg_class where relname like 'actor\\_%' and relkind = 'i'
      and pg_stat_get_xact_numscans(oid) > 0`
  })
  expect(used.map(({ name }) => name)).toEqual(['actor_pkey'])
})
