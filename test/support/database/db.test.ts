import { expect, test } from 'bun:test'
import postgres from 'postgres'
import type { ConnectionOptions } from '#store/engine/db'
import { freshDb, TEMPLATE_VARIABLE } from './db.ts'

const connect = (options: ConnectionOptions) => {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} })
  return { sql, [Symbol.asyncDispose]: () => sql.end() }
}

const nameOf = (options: ConnectionOptions): string => options.database ?? ''

test('a fresh database has the migrated schema', async () => {
  await using db = await freshDb()
  await using connection = connect(db.options)
  const applied = await connection.sql`select name from migration`
  expect(applied.length).toBeGreaterThan(0)
})

test('fresh databases share no rows', async () => {
  await using first = await freshDb()
  await using second = await freshDb()
  await using one = connect(first.options)
  await using two = connect(second.options)
  await one.sql`create table only_here ()`
  const [row] = await two.sql`select to_regclass('only_here') as found`
  expect(row).toEqual({ found: null })
})

test('disposing drops the database, even under an open connection', async () => {
  const db = await freshDb()
  await using other = await freshDb()
  await using left = connect(db.options)
  await left.sql`select 1`
  await db[Symbol.asyncDispose]()
  await using connection = connect(other.options)
  expect(
    await connection.sql`select datname from pg_database where datname = ${nameOf(db.options)}`,
  ).toHaveLength(0)
})

test('without the runner, a test that needs a database says how to run it', async () => {
  const template = process.env[TEMPLATE_VARIABLE]
  delete process.env[TEMPLATE_VARIABLE]
  try {
    await expect(freshDb()).rejects.toThrow('npm test -- <file>')
  } finally {
    process.env[TEMPLATE_VARIABLE] = template
  }
})
