/**
 * Row-level security: what a workspace can see and write, whatever condition a statement forgets.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { namedAuthors } from '#store/app/names'
import { openDb, type Sql } from '#store/engine/db'
import { withTenant } from '#store/engine/read-scope'
import { planOf, takenBack } from '#test/support/database/plans'
import { readQueries, readQueriesIn, rowless } from '#test/support/database/read-queries'
import { markOf, type Rows, writeRows } from '#test/support/database/rows'
import { use, useApp } from '#test/support/use'

/** Tables in which the server's own role `tendril_system` works too, or that name no tenant. */
const NOT_WRITTEN = ['api_key', 'actor']

/**
 * An index by the tenant, the tenant's own row, or that of a person, who is in none; a policy
 * stands before each. Or the one row of what stops the deployment, which is about all tenants.
 */
const TENANTS_OWN = /^(\w+: \(+tenant_id = |(tenant|person)_pkey: \(+id = |hold_pkey: \(single = )/

interface Filled {
  tenantId: string
  keyId: string
  rows: Rows
}
let mine: Filled
let other: Filled
/** All tables with a tenant_id. */
let tables: string[]

const app = useApp({ newDatabase: true })
const db = use(() => openDb({ ...app.options, max: 4 }))
beforeAll(async () => {
  const filled = async (): Promise<Filled> => {
    const { tenantId } = await app.newWorkspace()
    const { id: keyId } = await app.newKey([...scopes], tenantId)
    await app.owner`delete from connection where tenant_id = ${tenantId}`
    return { tenantId, keyId, rows: await writeRows(app.owner, tenantId) }
  }
  mine = await filled()
  other = await filled()
  await app.owner`analyze`
  const found =
    await app.owner`select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and a.attname = 'tenant_id' order by 1`
  tables = found.map((row) => row.relname)
})

const tried = <T>(tenantId: string | null, run: (sql: Sql) => PromiseLike<T>): Promise<T> =>
  takenBack(db, tenantId, run)

const codeOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'none',
    (cause) => cause.code,
  )

const grants = async (table: string, right: string): Promise<boolean> =>
  (await app.owner`select has_table_privilege('tendril_app', ${table}, ${right}) as has`)[0]!.has

const shows = (rows: unknown, { tenantId, rows: written }: Filled): boolean => {
  const text = JSON.stringify(rows)
  const ids = Object.values(written).flatMap((row) => ('id' in row ? [row.id] : []))
  return [tenantId, markOf(tenantId), ...ids].some((trace) => text.includes(trace))
}

/** Columns that the database does not make itself. */
const written = async (table: string): Promise<string[]> =>
  (
    await app.owner`select attname from pg_attribute where attrelid = ${table}::regclass
      and attnum > 0 and not attisdropped and attgenerated = ''`
  ).map(({ attname }) => attname)

describe('every table of tenants', () => {
  test('has a forced policy, and rows of both workspaces in this test', async () => {
    expect(tables).toContain('item')
    for (const table of tables) {
      const [row] = await app.owner`select relrowsecurity and relforcerowsecurity as forced,
        (select count(*)::int from pg_policy p where p.polrelid = c.oid
          and 'tendril_app'::regrole = any(p.polroles)) as policies,
        (select count(distinct tenant_id)::int from ${app.owner(table)}
          where tenant_id in (${mine.tenantId}, ${other.tenantId})) as tenants
        from pg_class c where oid = ${table}::regclass`
      expect([table, row]).toEqual([table, { forced: true, policies: 1, tenants: 2 }])
    }
  })

  test('shows nothing without a tenant, even on a connection that has just had one', async () => {
    for (const tenant of [null, ''])
      for (const table of tables) {
        await Promise.all(
          Array.from({ length: 4 }, () =>
            db.read({ tenantId: mine.tenantId }, (sql) => sql`select id from item`),
          ),
        )
        const [row] = await tried(
          tenant,
          (sql) => sql`select count(*)::int as count from ${sql(table)}`,
        )
        expect([table, row]).toEqual([table, { count: 0 }])
      }
  })

  test('shows a workspace its own rows and no others', async () => {
    for (const table of tables) {
      const rows = await tried(
        mine.tenantId,
        (sql) => sql<{ tenant_id: string }>`select tenant_id from ${sql(table)}`,
      )
      expect([table, [...new Set(rows.map((row) => row.tenant_id))]]).toEqual([
        table,
        [mine.tenantId],
      ])
    }
  })

  test('accepts no row of another workspace or of none', async () => {
    for (const table of tables)
      for (const tenant of [mine.tenantId, null]) {
        const row = { tenant_id: other.tenantId, id: newId() }
        const columns = await written(table)
        const insert = (sql: Sql) =>
          sql`insert into ${sql(table)} (${sql(columns)}) select ${sql(columns)}
            from jsonb_populate_record(null::${sql(table)}, ${sql.json(row)})`
        expect([table, await codeOf(tried(tenant, insert))]).toEqual([table, '42501'])
      }
  })

  test('does not let a row move to another workspace', async () => {
    for (const table of tables) {
      const move = (sql: Sql) => sql`update ${sql(table)} set tenant_id = ${other.tenantId}`
      expect([table, await codeOf(tried(mine.tenantId, move))]).toEqual([table, '42501'])
    }
  })

  test('lets a workspace change and delete its own rows only', async () => {
    for (const table of tables.filter((name) => !NOT_WRITTEN.includes(name))) {
      if (await grants(table, 'update')) {
        const changed = await tried(
          mine.tenantId,
          (sql) =>
            sql<{
              tenant_id: string
            }>`update ${sql(table)} set tenant_id = tenant_id returning tenant_id`,
        )
        expect([table, [...new Set(changed.map((row) => row.tenant_id))]]).toEqual([
          table,
          [mine.tenantId],
        ])
      }
      if (await grants(table, 'delete')) {
        const remove = (sql: Sql) =>
          sql`delete from ${sql(table)} where tenant_id = ${other.tenantId} returning 1`
        expect([table, (await tried(mine.tenantId, remove)).length]).toEqual([table, 0])
      }
    }
  })
})

describe('reads of the store', () => {
  const modules = [...new Bun.Glob('src/store/**/*.ts').scanSync()].sort()
  const inSource = modules.flatMap((path) =>
    readQueriesIn(readFileSync(path, 'utf8')).map((name) => `${basename(path, '.ts')}.${name}`),
  )

  test('are all tested here', () => {
    expect(inSource.length).toBeGreaterThan(10)
    expect([...Object.keys(readQueries), ...rowless].sort()).toEqual(inSource.sort())
  })

  test('the name of a key of another workspace is read nowhere', async () => {
    const nameOf = async (id: string) =>
      (await db.read({ tenantId: mine.tenantId }, namedAuthors([{ kind: 'key', id }])))[0]!.author
    expect(await nameOf(mine.keyId)).toMatchObject({ name: expect.any(String) })
    expect(await nameOf(other.keyId)).toMatchObject({ name: null })
  })

  test.each(Object.entries(readQueries))(
    '%s shows a workspace its own rows and no others',
    async (_, make) => {
      for (const query of make(mine.rows)) {
        const rows = await db.read({ tenantId: mine.tenantId }, query)
        expect([shows(rows, mine), shows(rows, other)]).toEqual([true, false])
      }
      for (const query of make(other.rows)) {
        expect(shows(await db.read({ tenantId: mine.tenantId }, query), other)).toBe(false)
        expect(await db.read({ tenantId: newId() }, query)).toEqual([])
      }
    },
  )

  test.each(Object.entries(readQueries))(
    '%s finds its rows by indexes that begin with the tenant',
    async (_, make) => {
      for (const query of make(mine.rows)) {
        const nodes = await tried(null, async (sql) => {
          await sql`set local enable_seqscan = off`
          const caller = { kind: 'key', id: mine.keyId } as const
          return planOf(sql, withTenant(sql, { tenantId: mine.tenantId, caller }, query(sql)))
        })
        expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
        const conditions = nodes.flatMap((node) =>
          node['Index Name'] ? `${node['Index Name']}: ${node['Index Cond']}` : [],
        )
        // One of them says whether the key lives.
        expect(conditions.length).toBeGreaterThan(1)
        for (const condition of conditions) expect(condition).toMatch(TENANTS_OWN)
      }
    },
  )

  test('of two workspaces at the same time never mix', async () => {
    const reads = Array.from({ length: 200 }, async (_, index) => {
      const { tenantId, rows } = index % 2 ? mine : other
      const found = await db.read<{ id: string }>({ tenantId }, (sql) => sql`select id from item`)
      expect(found).toEqual([{ id: rows.item.id }])
    })
    await Promise.all(reads)
  })
})
