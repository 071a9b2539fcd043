/** The roles that the pools log in as: how they are made, changed and removed. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { readConfig } from '#config/config'
import { newId } from '#kernel/ids'
import { secretKeyOf } from '#kernel/secret'
import { openDatabase } from '#server/database'
import {
  type ConnectionOptions,
  connectionAs,
  openDb,
  type PoolRole,
  poolRoles,
} from '#store/engine/db'
import { assertIsolation } from '#store/engine/isolation'
import { dropOtherLogins, withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import { nodeStates, register } from '#store/engine/nodes'
import { emptyDb, type TestDatabase, unusedDb } from '#test/support/database/db'
import { managedDb } from '#test/support/database/managed'
import { urlOf } from '#test/support/processes/server'
import { asking, codeOf, entered, logsIn, secret, silent } from './logins.ts'

/** What each role must be refused, besides what all are. */
const closed: Record<PoolRole, string[]> = {
  tendril_app: [
    'select password_hash from person',
    'select 1 from node',
    'delete from tenant',
    'select 1 from sandbox.posts',
  ],
  tendril_system: [
    'select body from item',
    'select hash from migration',
    'select 1 from sandbox.posts',
  ],
  tendril_sandbox: [
    'select 1 from tenant',
    'select 1 from item',
    `update sandbox.posts set text = 'other'`,
  ],
}
const closedToAll = [
  'select 1 from pg_authid',
  'select 1 from deployment',
  'alter table item disable row level security',
  'create table public.mine ()',
  'create role mine',
]

const wayOut = (owner: string): string[] => [
  'reset role',
  'set role none',
  'reset session authorization',
  'set session authorization default',
  `set session authorization ${owner}`,
  `set role ${owner}`,
  'reset all',
]

/** What the role may do after each way to be somebody else, of what it must not. */
const gained = (role: PoolRole, options: ConnectionOptions, owner: string): Promise<string[]> =>
  asking(connectionAs(role, options, {}), async (sql) => {
    const found: string[] = []
    for (const way of ['select 1', ...wayOut(owner)]) {
      await sql.unsafe(way).catch(() => {})
      for (const statement of [...closed[role], ...closedToAll]) {
        await sql.unsafe('begin')
        if ((await codeOf(sql.unsafe(statement))) !== '42501') found.push(`${way}: ${statement}`)
        await sql.unsafe('rollback')
      }
    }
    return found
  })

const places: [string, () => Promise<TestDatabase>][] = [
  ['the superuser of a cluster of our own', unusedDb],
  ['a role that may create roles and is no superuser', managedDb],
]

describe.each(places)('made by %s', (_, open) => {
  let place: TestDatabase
  let options: ConnectionOptions
  beforeAll(async () => {
    place = await open()
    await migrate(place.options, silent)
    options = await entered(place.options)
  })
  afterAll(() => place[Symbol.asyncDispose]())

  test.each([...poolRoles])('the login for %s gains nothing by changing roles', async (role) => {
    expect(options.logins?.[role].username).toStartWith(`${role}_`)
    expect(await gained(role, options, place.options.username!)).toEqual([])
  })

  test('a startup parameter alone would not prevent that', async () => {
    expect(await gained('tendril_app', place.options, place.options.username!)).toContain(
      'set role none: select 1 from deployment',
    )
  })

  test('the pools work, and the server accepts them', async () => {
    await using db = openDb({ ...options, max: 1 })
    await assertIsolation(db, options.logins)
    expect(await db.read({ tenantId: newId() }, (sql) => sql`select id from item`)).toEqual([])
    await register(db, { incarnation: newId(), lockKey: 1n, url: 'http://127.0.0.1:9' })
    expect(await asking(place.options, nodeStates)).toMatchObject([
      { url: 'http://127.0.0.1:9', expired: false, backend: null },
    ])
  })

  test('servers can start together, and another start changes nothing', async () => {
    const together = await Promise.all(Array.from({ length: 4 }, () => entered(place.options)))
    expect(together).toEqual(Array.from({ length: 4 }, () => options))
  })

  test('making logins leaves no connection open', async () => {
    const sessions = (
      sql: postgres.Sql,
    ) => sql`select 1 from pg_stat_activity where datname = current_database()
      and pid <> pg_backend_pid()
      and usename ~ '^tendril_(app|system|sandbox)_'`
    expect(await asking(place.options, async (sql) => await sessions(sql))).toHaveLength(0)
  })
})

describe('on a database of our own', () => {
  let database: TestDatabase
  let owner: postgres.Sql
  beforeAll(async () => {
    database = await unusedDb()
    owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  })
  afterAll(async () => {
    await owner.end()
    await database[Symbol.asyncDispose]()
  })

  const appLogin = ({ logins }: ConnectionOptions) => logins!.tendril_app
  const passwordOf = async (username: string): Promise<string> =>
    (await owner`select rolpassword from pg_authid where rolname = ${username}`)[0]!.rolpassword

  test('servers that are the first to start, and start together, do not collide', async () => {
    await using fresh = await unusedDb()
    const together = await Promise.all(Array.from({ length: 4 }, () => entered(fresh.options)))
    for (const options of together)
      expect(await logsIn({ ...options, ...appLogin(options) })).toBe('allowed')
  })

  test('passwords are stored as SCRAM verifiers and stay while they work', async () => {
    const { username } = appLogin(await entered(database.options))
    const before = await passwordOf(username)
    expect(before).toStartWith('SCRAM-SHA-256$1:')
    await entered(database.options)
    expect(await passwordOf(username)).toBe(before)
  })

  test.each([
    ['has another password', `password 'other'`],
    ['may not log in', 'nologin'],
    ['has expired', `valid until '2020-01-01'`],
  ])('a login that %s is corrected', async (_, change) => {
    const { username, password } = appLogin(await entered(database.options))
    await owner.unsafe(`alter role ${username} ${change}`)
    await entered(database.options)
    expect(await logsIn({ ...database.options, username, password })).toBe('allowed')
  })

  test('a server with another secret is refused before it changes a password', async () => {
    const { username } = appLogin(await entered(database.options))
    const before = await passwordOf(username)
    const other = {
      DATABASE_URL: urlOf(database.options),
      TENDRIL_SECRET_KEY: randomBytes(32).toString('base64'),
    }
    await expect(openDatabase(readConfig(other), silent)).rejects.toThrow(
      'TENDRIL_SECRET_KEY is not the secret key of this database',
    )
    expect(await passwordOf(username)).toBe(before)
  })

  test('logins of two keys stand beside each other, until those of one are dropped', async () => {
    await using own = await unusedDb()
    const [key, next] = [secretKeyOf(secret), secretKeyOf(randomBytes(32))]
    const before = await entered(own.options)
    const after = await withLogins(own.options, next, silent)
    expect(appLogin(after).username).not.toBe(appLogin(before).username)
    for (const options of [before, after])
      expect(await logsIn({ ...options, ...appLogin(options) })).toBe('allowed')
    const drop = (...kept: string[]) => asking(own.options, (sql) => dropOtherLogins(sql, kept))
    expect(await drop(key.fingerprint, next.fingerprint)).toEqual([])
    expect(await drop(next.fingerprint)).toHaveLength(poolRoles.length)
    expect(await logsIn({ ...own.options, ...appLogin(after) })).toBe('allowed')
    expect(await logsIn({ ...own.options, ...appLogin(before) })).toBe('28P01')
  })

  test('a copy of a database gets its own logins, and those of the original stay', async () => {
    await using original = await unusedDb()
    const first = await entered(original.options)
    const name = `${original.options.database}_copy`
    await asking({ ...original.options, database: 'postgres' }, (sql) =>
      sql.unsafe(`create database ${name} template ${original.options.database}`),
    )
    try {
      const second = await entered({ ...original.options, database: name })
      expect(appLogin(second).username).not.toBe(appLogin(first).username)
      for (const options of [first, second])
        expect(await logsIn({ ...options, ...appLogin(options) })).toBe('allowed')
    } finally {
      await asking({ ...original.options, database: 'postgres' }, async (sql) => {
        const [row] = await sql`select oid from pg_database where datname = ${name}`
        await sql.unsafe(`drop database ${name} with (force)`)
        for (const role of await sql`select rolname from pg_roles
          where rolname ~ ${`_${row!.oid}_`}`)
          await sql.unsafe(`drop role ${role.rolname}`)
      })
    }
  })
})

test('the template of the tests and empty databases have no logins of servers', async () => {
  await using empty = await emptyDb()
  const made = await asking(
    empty.options,
    (sql) => sql`select r.rolname from pg_database d join pg_roles r
    on r.rolname ~ ('^tendril_(app|system|sandbox)_' || d.oid || '_')
      where d.datname = current_database()`,
  )
  expect(made).toHaveLength(0)
})
