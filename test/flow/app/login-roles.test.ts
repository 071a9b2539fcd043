/** A statement that gives up the role of its connection gains nothing. */
import { expect, test } from 'bun:test'
import type { Sql } from '#store/engine/db'
import { eventually } from '#test/support/app'
import { newDeployment, startServer } from '#test/support/processes/server'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const codeOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'allowed',
    (cause) => cause.code,
  )

const ways = [
  'reset role',
  'set role none',
  'set session authorization default',
  'reset session authorization',
  'reset all',
]

test.each(ways)('after `%s`, a pool has no further rights', async (way) => {
  const { db } = app.workplace
  const first = async (sql: Sql, statement: string) => {
    await sql`${sql.raw(way)}`
    await sql`${sql.raw(statement)}`
  }
  for (const statement of [
    'select 1 from pg_authid',
    'alter table item disable row level security',
    'create role another superuser',
  ]) {
    expect([
      statement,
      await codeOf(db.letter(app.tenantId, (sql) => first(sql, statement))),
    ]).toEqual([statement, '42501'])
    expect([statement, await codeOf(db.systemTransaction((sql) => first(sql, statement)))]).toEqual(
      [statement, '42501'],
    )
  }
})

test('a server logs in as roles that are neither superusers nor owners, with a bounded number of connections', async () => {
  await using world = await newDeployment()
  await using server = await startServer(world.server)
  await Promise.all(
    Array.from({ length: 40 }, () => server.send('PUT', 'profile', { body: { goal: 'more' } })),
  )
  const sessions = await eventually(
    () => world.owner`select a.application_name as app, r.rolname as role, count(*)::int as count,
        r.rolsuper or r.rolcreaterole or r.rolbypassrls
          or exists (select 1 from pg_class c where pg_has_role(r.oid, c.relowner, 'member')) as
          more
      from pg_stat_activity a join pg_roles r on r.rolname = a.usename
      where a.datname = current_database() and a.application_name like 'tendril%'
        group by 1, 2, r.oid, 4 order by 1, 2`,
    (rows) => new Set(rows.map((row) => row.app)).size === 3,
  )
  expect(sessions.filter(({ more }) => more)).toEqual([])
  const counts = (app: string, kind: string) =>
    sessions
      .filter((row) => row.app === app && String(row.role).startsWith(kind))
      .reduce((sum, { count }) => sum + count, 0)
  // Two pools of ten for reads and letters, three and two for the system, four for the sandbox, one
  // for the lock.
  expect(counts('tendril', 'tendril_app')).toBeLessThanOrEqual(20)
  expect(counts('tendril', 'tendril_system')).toBeLessThanOrEqual(5)
  expect(counts('tendril-sandbox', 'tendril_sandbox')).toBeLessThanOrEqual(4)
  expect(counts('tendril-node', 'tendril_system')).toBe(1)
})
