/** A read is answered only for a credential that is still valid, whatever it finds. */
import { beforeAll, expect, test } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { openDb, type Query } from '#store/engine/db'
import { use, useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })
const db = use(() => openDb({ ...app.options, max: 1 }))

let tenantId: string
beforeAll(async () => {
  tenantId = (await app.newWorkspace()).tenantId
})

const queries: Record<string, { query: Query<{ id: string | null; n: number }>; rows: object[] }> =
  {
    nothing: { query: (sql) => sql`select 'a' as id, 1 as n where false`, rows: [] },
    'a row with a null': {
      query: (sql) => sql`select null::text as id, 1 as n`,
      rows: [{ id: null, n: 1 }],
    },
    'a row of nothing but nulls': {
      query: (sql) => sql`select null::text as id, null::int as n`,
      rows: [],
    },
    'two such rows': {
      query: (sql) => sql`select null::text as id from generate_series(1, 2)`,
      rows: [{ id: null }, { id: null }],
    },
    'ordered rows': {
      query: (sql) => sql`select n from generate_series(1, 3) n order by n desc`,
      rows: [{ n: 3 }, { n: 2 }, { n: 1 }],
    },
  }

test.each(Object.entries(queries))('a read that finds %s', async (_, { query, rows }) => {
  const { id } = await app.newKey([...scopes], tenantId)
  const caller = { kind: 'key', id } as const
  expect([...(await db.read({ tenantId }, query))]).toEqual(rows as never)
  expect([...(await db.read({ tenantId, caller }, query))]).toEqual(rows as never)
  await app.owner`update api_key set revoked_at = now() where id = ${id}`
  await expect(db.read({ tenantId, caller }, query)).rejects.toMatchObject({
    code: 'unauthenticated',
  })
})
