import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { openDb } from '#store/engine/db'
import type { TestDatabase } from './db.ts'
import { warmDb } from './db.ts'

const nameOf = ({ options }: TestDatabase): string => options.database!

/** Uses the next database of this worker, after others that are in use have been taken. */
const withNext = async <T>(use: (db: TestDatabase) => Promise<T>): Promise<T> => {
  await using db = await warmDb()
  return await use(db)
}

const ask = async <T>({ options }: TestDatabase, run: (sql: postgres.Sql) => Promise<T>) => {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} })
  try {
    return await run(sql)
  } finally {
    await sql.end()
  }
}

const facts = (db: TestDatabase) =>
  ask(db, async (sql) => ({
    tenants: (await sql`select from tenant`).length,
    migrations: (await sql`select from migration`).length,
    hold: (await sql`select from hold`).length,
    deployment: (await sql`select from deployment`).length,
    tail: (await sql`select nextval('sandbox.id_tail')::int as next`)[0]!.next,
  }))

test('the next test finds the database as new, with the connections of the last', async () => {
  const [first, pid, before] = await withNext(async (db) => {
    const before = await facts(db)
    await using store = openDb({ ...db.options, max: 2 })
    const [row] = await store.system((sql) => sql<{ pid: number }>`select pg_backend_pid() as pid`)
    await ask(
      db,
      (sql) => sql`insert into tenant (id, name, plan) values (gen_random_uuid(), 'One', 'free')`,
    )
    await ask(db, (sql) => sql`delete from hold`)
    return [nameOf(db), row!.pid, before]
  })
  await withNext(async (db) => {
    expect([nameOf(db), await facts(db)]).toEqual([first, before])
    await using store = openDb({ ...db.options, max: 2 })
    const [row] = await store.system((sql) => sql<{ pid: number }>`select pg_backend_pid() as pid`)
    expect(row!.pid).toBe(pid)
  })
})

/** Which connection the next transaction of a new server has. */
const transactionOn = async (db: TestDatabase): Promise<number> => {
  await using store = openDb({ ...db.options, max: 2 })
  return await store.systemTransaction(async (sql) => {
    const [row] = await sql<{ pid: number }>`select pg_backend_pid() as pid`
    return row!.pid
  })
}

test('of the sessions of a server, the one that is used has the connection of the last', async () => {
  const first = await withNext(async (db) => [nameOf(db), await transactionOn(db)])
  await withNext(async (db) => expect([nameOf(db), await transactionOn(db)]).toEqual(first))
})

test.each([
  ['a definition', (sql: postgres.Sql) => sql`create table only_here ()`],
  [
    'a definition of before',
    (sql: postgres.Sql) => sql`alter table tenant alter name drop not null`,
  ],
  ['a grant', (sql: postgres.Sql) => sql`grant select on tenant to public`],
  ['an analysis', (sql: postgres.Sql) => sql`analyze tenant`],
])('after %s, the next test has another database', async (_, change) => {
  const first = await withNext(async (db) => {
    await ask(db, async (sql) => {
      await sql`insert into tenant (id, name, plan) values (gen_random_uuid(), 'One', 'free')`
      await change(sql)
    })
    return nameOf(db)
  })
  expect(await withNext(async (db) => nameOf(db))).not.toBe(first)
})

test('a connection that a test has forgotten is cut before the next one', async () => {
  const forgotten = await withNext(async (db) => {
    const sql = postgres({ ...db.options, max: 1, backoff: () => 3_600 })
    const [row] = await sql`select pg_backend_pid() as pid`
    return { sql, pid: row!.pid }
  })
  await withNext(async (db) => {
    const living = await ask(
      db,
      (sql) => sql`select from pg_stat_activity where pid = ${forgotten.pid}`,
    )
    expect(living.length).toBe(0)
  })
  await forgotten.sql.end({ timeout: 0 })
})

test('a server that ends leaves no transaction open', async () => {
  await withNext(async (db) => {
    const sql = db.options.client!({ ...db.options, max: 1, onnotice: () => {} })
    await sql.unsafe('begin; lock table tenant in access exclusive mode')
    await sql.end({ timeout: 1 })
    await ask(db, (other) => other`select from tenant`)
    await expect(sql.unsafe('select 1')).rejects.toMatchObject({ code: 'CONNECTION_ENDED' })
  })
})
