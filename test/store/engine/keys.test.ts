/**
 * The keys of tables that grow with every post: each state of a row makes an entry in each of their
 * indexes.
 */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { freshDb } from '#test/support/database/db'

const open = (options: object) => postgres({ ...options, max: 1, onnotice: () => {} })

/** Indexes on the id, alone or with the tenant. An expression has no attribute. */
const indexesOnId = async (sql: postgres.Sql, table: string): Promise<string[]> =>
  (
    await sql<
      { columns: string }[]
    >`select string_agg(a.attname, ', ' order by k.place) as columns from pg_index x
      cross join unnest(x.indkey::int2[]) with ordinality k (number, place)
      left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.number
      where x.indrelid = ${table}::regclass group by x.indexrelid having bool_or(a.attname = 'id')
        and bool_and(coalesce(a.attname in ('tenant_id', 'id'), false))`
  ).map(({ columns }) => columns)

test('a record has one index on its id, which begins with the tenant', async () => {
  await using database = await freshDb()
  await using stack = new AsyncDisposableStack()
  const sql = open(database.options)
  stack.defer(() => sql.end())
  for (const table of ['audit', 'engagement', 'item', 'item_metric'])
    expect({ table, indexes: await indexesOnId(sql, table) }).toEqual({
      table,
      indexes: ['tenant_id, id'],
    })
})

test('a record stays while another refers to it, and those of another workspace cannot be referred to', async () => {
  await using database = await freshDb()
  await using stack = new AsyncDisposableStack()
  const sql = open(database.options)
  stack.defer(() => sql.end())
  const [tenant, other, item] = [newId(), newId(), newId()]
  const count = (
    tenantId: string,
  ) => sql`insert into item_metric (id, tenant_id, item_id, at, impressions, likes, replies,
    reposts, quotes, clicks)
    values (${newId()}, ${tenantId}, ${item}, now(), 1, 1, 1, 1, 1, 1)`
  await sql`insert into tenant (id, name, plan) select id, 'Test', 'team'
    from unnest(${[tenant, other]}::uuid[]) id`
  await sql`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
    learnings, length, created_at, updated_at)
    values (${item}, ${tenant}, 'post', 'posted', 'Text', 'point', '', '', '[]', '[]', 1, now(),
      now())`
  await count(tenant)
  const refused = (running: PromiseLike<unknown>) =>
    running.then(undefined, ({ code }: { code: string }) => code)
  expect(await refused(sql`delete from item where id = ${item}`)).toBe('23503')
  expect(await refused(count(other))).toBe('23503')
  await count(tenant)
})
