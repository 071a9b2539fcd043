/** The columns of a tenant that triggers keep for the gate. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { migrate } from '#store/engine/migrate'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { managedDb } from '#test/support/database/managed'
import { migrateOnly } from '#test/support/database/migrations'

let database: TestDatabase
let sql: postgres.Sql
beforeAll(async () => {
  database = await freshDb()
  sql = postgres({ ...database.options, max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql.end()
  await database[Symbol.asyncDispose]()
})

const newTenant = async (): Promise<string> => {
  const id = newId()
  await sql`insert into tenant (id, name, plan) values (${id}, 'Test', 'team')`
  return id
}

const factsOf = async (id: string) =>
  (await sql`select webhook, awaited from tenant where id = ${id}`)[0]!

const times = { created_at: new Date(), updated_at: new Date() }

test("a tenant's row names what its active webhook wants, whatever changes the webhook", async () => {
  const [id, other] = [await newTenant(), await newTenant()]
  const webhook = async () => [(await factsOf(id)).webhook, (await factsOf(other)).webhook]
  expect(await webhook()).toEqual([null, null])
  await sql`insert into webhook_endpoint
    ${sql({ tenant_id: id, id: newId(), url: 'https://example.com', events: ['item.posted'], secret: Buffer.from('x'), status: 'active', ...times })}`
  expect(await webhook()).toEqual([['item.posted'], null])
  await sql`update webhook_endpoint set events = '{}' where tenant_id = ${id}`
  expect(await webhook()).toEqual([[], null])
  await sql`update webhook_endpoint set status = 'disabled' where tenant_id = ${id}`
  expect(await webhook()).toEqual([null, null])
  await sql`update webhook_endpoint set status = 'active', events = '{batch.ready}'
    where tenant_id = ${id}`
  expect(await webhook()).toEqual([['batch.ready'], null])
  await sql`delete from webhook_endpoint where tenant_id = ${id}`
  expect(await webhook()).toEqual([null, null])
})

test("a tenant's row names what its active rules wait for, each kind once, whatever changes the rules", async () => {
  const [id, other] = [await newTenant(), await newTenant()]
  const awaited = async () => [(await factsOf(id)).awaited, (await factsOf(other)).awaited]
  const add = async (kind: string, status: string): Promise<string> => {
    const rule = newId()
    await sql`insert into rule ${sql({ tenant_id: id, id: rule, name: kind, status, trigger: sql.json({ kind }), action: sql.json({}), daily_cap: 1, ...times } as never)}`
    return rule
  }
  expect(await awaited()).toEqual([[], []])
  const [first, second, paused] = [
    await add('signal', 'active'),
    await add('signal', 'active'),
    await add('metric', 'paused'),
  ]
  expect(await awaited()).toEqual([['signal'], []])
  await sql`update rule set status = 'active' where id = ${paused}`
  expect(await awaited()).toEqual([['metric', 'signal'], []])
  await sql`update rule set status = 'paused' where id = ${first}`
  expect(await awaited()).toEqual([['metric', 'signal'], []])
  await sql`update rule set trigger = '{"kind": "item_posted"}' where id = ${second}`
  expect(await awaited()).toEqual([['item_posted', 'metric'], []])
  await sql`delete from rule where id = ${paused}`
  expect(await awaited()).toEqual([['item_posted'], []])
})

test('tenants of an earlier version get them by the migration, though policies bind the owner of the tables', async () => {
  await using earlier = await managedDb()
  await migrateOnly(earlier.options, (name) => name < 'sql/000032')
  const root = postgres({ ...earlier.root, max: 1, onnotice: () => {} })
  try {
    const id = newId()
    await root`insert into tenant (id, name, plan) values (${id}, 'Test', 'team')`
    await root`insert into webhook_endpoint ${root({ tenant_id: id, id: newId(), url: 'https://example.com', events: [], secret: Buffer.from('x'), status: 'active', ...times })}`
    await root`insert into rule ${root({ tenant_id: id, id: newId(), name: 'one', status: 'active', trigger: root.json({ kind: 'signal' }), action: root.json({}), daily_cap: 1, ...times } as never)}`
    await migrate(earlier.options, createLog('silent'))
    expect(await root`select webhook, awaited from tenant`).toEqual([
      { webhook: [], awaited: ['signal'] },
    ] as never)
  } finally {
    await root.end()
  }
})
