/**
 * The roles of the server: what they cannot do, and that the server refuses to start with any
 * other.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { checkCanary } from '#store/engine/canary'
import { type Db, type Logins, openDb, type Sql } from '#store/engine/db'
import { assertIsolation } from '#store/engine/isolation'
import { withLogins } from '#store/engine/logins'
import { sqlOf } from '#store/engine/sql'
import { TEST_SECRET, type TestDatabase, unusedDb } from '#test/support/database/db'

const ROLES = ['tendril_app', 'tendril_system', 'tendril_sandbox']

let database: TestDatabase
let owner: postgres.Sql
let db: Db
beforeAll(async () => {
  database = await unusedDb()
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  db = openDb({ ...database.options, max: 1 })
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await owner.end()
  await database[Symbol.asyncDispose]()
})

test('no constraint or trigger runs at the commit, which letters of other tenants may share', async () => {
  const deferred = await owner`select conname as name from pg_constraint where condeferrable
    union all select tgname from pg_trigger where tgdeferrable`
  expect([...deferred]).toEqual([])
})

describe.each(ROLES)('%s', (role) => {
  test('cannot log in, bypass a policy or make anything of its own', async () => {
    const [row] =
      await owner`select rolcanlogin or rolsuper or rolbypassrls or rolcreaterole or rolcreatedb
        or rolreplication as more,
      has_schema_privilege(rolname, 'public', 'create') as creates from pg_roles
        where rolname = ${role}`
    expect({ ...row }).toEqual({ more: false, creates: false })
  })

  test('owns nothing, is a member of no role, and is granted to no login but the owner', async () => {
    const [row] = await owner`select
      (select count(*)::int from pg_class where relowner = ${role}::regrole) + (select count(*)::int
        from pg_namespace where nspowner = ${role}::regrole)
        + (select count(*)::int from pg_proc where proowner = ${role}::regrole) as owned,
      (select count(*)::int from pg_auth_members where member = ${role}::regrole) as others`
    expect({ ...row }).toEqual({ owned: 0, others: 0 })
  })
})

describe('the pools', () => {
  const currentUser = (sql: Sql) => sql<{ name: string }>`select current_user::text as name`
  const tenant = Bun.randomUUIDv7()
  test('work as their roles', async () => {
    expect((await db.letter(tenant, async (sql) => await currentUser(sql)))[0]?.name).toBe(
      'tendril_app',
    )
    expect((await db.system(async (sql) => await currentUser(sql)))[0]?.name).toBe('tendril_system')
    expect((await db.read({ tenantId: tenant }, currentUser))[0]?.name).toBe('tendril_app')
  })

  const denied = (running: Promise<unknown>): Promise<string> =>
    running.then(
      () => 'allowed',
      (cause) => cause.code,
    )

  test("of the system reads only those tenants' tables that placement, sign-in and posts from outside need, and no texts of what waits", async () => {
    const found =
      await owner`select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'tenant_id'
        order by 1`
    const tables = found.map((row) => String(row.relname))
    expect(tables).toContain('item')
    const open: string[] = []
    for (const table of tables) {
      const read = await denied(db.system((sql) => sql`select 1 from ${sql(table)}`))
      if (read === 'allowed') open.push(table)
      else expect([table, read]).toEqual([table, '42501'])
    }
    // Of these operators see ids and times of what waits: test/flow/app/admin/attention.test.ts.
    // A person comes back from a network to whichever workspace their browser is in.
    const waiting = [
      'account_authorization',
      ...['agent_approval', 'agent_job', 'attempt', 'channel_connection', 'channel_reply'],
      ...['connection', 'engagement', 'item', 'mcp_server', 'webhook_endpoint'],
    ]
    const needed = ['actor', 'api_key', 'inbound_route', 'invitation', 'member', 'session', 'work']
    expect(open.filter((table) => ![...needed, ...waiting, 'counter'].includes(table))).toEqual([])
    for (const table of [...waiting, 'work'])
      expect([table, await denied(db.system((sql) => sql`select * from ${sql(table)}`))]).toEqual([
        table,
        '42501',
      ])
  })

  test('of the system sees of counters the budgets of reads alone', async () => {
    for (const key of ['reads_free', 'reads_payg', 'posts', 'agent_tokens_day'])
      await owner`insert into counter (tenant_id, key, period, used)
        values (${tenant}, ${key}, '2026-11-21', 1)`
    const seen = await db.system(
      (sql) => sql<{ key: string }>`select key from counter where tenant_id = ${tenant}`,
    )
    expect(seen.map(({ key }) => key).sort()).toEqual(['reads_free', 'reads_payg'])
    expect(await denied(db.system((sql) => sql`update counter set used = 0`))).toBe('42501')
    await owner`delete from counter where tenant_id = ${tenant}`
  })

  test('of the system sees of work what fails or sends alone, for operators, and no payload of it', async () => {
    const [healthy, failing] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    for (const [id, failures] of [[healthy, 0] as const, [failing, 1] as const])
      await owner`insert into work (id, tenant_id, lane, kind, ref_id, origin, run_at, failures)
        values (${id}, ${tenant}, 'sync', 'metrics', ${id}, 'automatic', now(), ${failures})`
    const seen = await db.system(
      (sql) => sql<{ id: string }>`select id from work where tenant_id = ${tenant}`,
    )
    expect(seen.map(({ id }) => id)).toEqual([failing])
    expect(await denied(db.system((sql) => sql`select payload from work`))).toBe('42501')
    await owner`delete from work where tenant_id = ${tenant}`
  })

  test.each(['node', 'migration', 'sandbox.posts', 'pg_authid'])(
    'of tenants cannot read %s',
    async (table) => {
      expect(await denied(db.letter(tenant, (sql) => sql`select 1 from ${sql(table)}`))).toBe(
        '42501',
      )
    },
  )

  test('of tenants cannot read credentials of people', async () => {
    expect(await denied(db.letter(tenant, (sql) => sql`select password_hash from person`))).toBe(
      '42501',
    )
    expect(await denied(db.letter(tenant, (sql) => sql`select email from person`))).toBe('allowed')
  })

  test.each(['tenant', 'api_key'])('of tenants cannot write %s', async (table) => {
    for (const write of [
      (sql: Sql) => sql`delete from ${sql(table)}`,
      (sql: Sql) => sql`insert into ${sql(table)} default values`,
    ])
      expect(await denied(db.letter(tenant, async (sql) => void (await write(sql))))).toBe('42501')
  })
})

describe('the server refuses to start', () => {
  /**
   * Asks in a transaction of the owner's, which is taken back: roles belong to all databases of the
   * cluster.
   */
  const refusal = async (
    arrange: (sql: Sql) => PromiseLike<unknown>,
    logins?: Logins,
  ): Promise<string> => {
    let said = 'nothing'
    await owner
      .begin(async (client) => {
        const sql = sqlOf(client)
        await arrange(sql)
        const asOwner = {
          ...db,
          system: async <T>(body: (sql: Sql) => PromiseLike<T>) => await body(sql),
        }
        await assertIsolation(asOwner, logins).catch((cause) => {
          said = cause.message
        })
        throw new Error('taken back')
      })
      .catch(() => {})
    return said
  }
  const asSystem = (sql: Sql) => sql`set local role tendril_system`

  test('never with the intended roles', async () => {
    await assertIsolation(db)
    expect(await refusal(asSystem)).toBe('nothing')
  })

  const breaches: [string, string, (sql: Sql) => PromiseLike<unknown>][] = [
    ['as the owner of the tables', 'row-level security does not bind', async () => {}],
    [
      'when its role bypasses policies',
      'tendril_app',
      (sql) => sql`alter role tendril_app bypassrls`.then(() => asSystem(sql)),
    ],
    [
      'when the other one does',
      'tendril_system',
      (sql) => sql`alter role tendril_system bypassrls`.then(() => asSystem(sql)),
    ],
    [
      'when its role owns a table of tenants',
      'tendril_app',
      (sql) => sql`alter table item owner to tendril_app`.then(() => asSystem(sql)),
    ],
    [
      'when its role is a member of one that bypasses policies',
      'tendril_app',
      (sql) =>
        sql`grant ${sql(String(database.options.username))} to tendril_app`.then(() =>
          asSystem(sql),
        ),
    ],
  ]
  test.each(breaches)('%s', async (_, named, arrange) => {
    expect(await refusal(arrange)).toContain(named)
  })

  const breachesOfLogins: [string, (login: string) => string][] = [
    ['is a superuser', (login) => `alter role ${login} superuser`],
    ['bypasses policies', (login) => `alter role ${login} bypassrls`],
    ['may make itself a member of any role', (login) => `alter role ${login} createrole`],
    [
      'owns a table of tenants',
      (login) => `grant create on schema public to ${login}; alter table item owner to ${login}`,
    ],
    ['is a member of the owner', (login) => `grant ${database.options.username} to ${login}`],
  ]
  const arranged = async (sql: Sql, text: string) => {
    for (const statement of text.split('; ')) await sql`${sql.raw(statement)}`
    await asSystem(sql)
  }
  test.each(breachesOfLogins)('when a login of its pools %s', async (_, breach) => {
    await checkCanary(database.options, [secretKeyOf(TEST_SECRET)])
    const { logins } = await withLogins(
      database.options,
      secretKeyOf(TEST_SECRET),
      createLog('silent'),
    )
    const login = logins!.tendril_sandbox.username
    expect(await refusal((sql) => arranged(sql, breach(login)), logins)).toContain(login)
  })

  test('when its pools log in as another role', async () => {
    await checkCanary(database.options, [secretKeyOf(TEST_SECRET)])
    const { logins } = await withLogins(
      database.options,
      secretKeyOf(TEST_SECRET),
      createLog('silent'),
    )
    await expect(assertIsolation(db, logins)).rejects.toThrow(
      `connect as tendril_app, not as ${logins!.tendril_app.username}`,
    )
  })
})
