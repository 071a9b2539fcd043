/** The newest metrics of an item, which a trigger keeps in its row. */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { freshDb } from '#test/support/database/db'

const at = (hour: number) => `2026-11-22T${String(hour).padStart(2, '0')}:00:00+00:00`

const newItem = async (sql: postgres.Sql): Promise<{ id: string; tenant_id: string }> => {
  const [id, tenant_id] = [newId(), newId()]
  await sql`insert into tenant (id, name, plan) values (${tenant_id}, 'Test', 'team')`
  await sql`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
    learnings, length, created_at, updated_at)
    values (${id}, ${tenant_id}, 'post', 'posted', 'Text', 'point', '', '', '[]', '[]', 1, now(),
      now())`
  return { id, tenant_id }
}

const count = (
  sql: postgres.Sql,
  { id, tenant_id }: { id: string; tenant_id: string },
  hour: number,
  likes: number,
) =>
  sql`insert into item_metric (id, tenant_id, item_id, at, impressions, likes, replies, reposts,
    quotes, clicks)
    values (${newId()}, ${tenant_id}, ${id}, ${at(hour)}, 100, ${likes}, 1, 2, 3, 4)`

const shown = (hour: number, likes: number) => ({
  at: at(hour),
  impressions: 100,
  likes,
  replies: 1,
  reposts: 2,
  quotes: 3,
  clicks: 4,
})

const metricsOf = async (sql: postgres.Sql, id: string) =>
  (await sql`select metrics from item where id = ${id}`)[0]!.metrics

test('are those that were counted last, in whatever order and time zone they are stored', async () => {
  await using database = await freshDb()
  const sql = postgres({
    ...database.options,
    max: 1,
    onnotice: () => {},
    connection: { TimeZone: 'Asia/Tokyo' } as object,
  })
  try {
    const [item, other] = [await newItem(sql), await newItem(sql)]
    expect(await metricsOf(sql, item.id)).toBeNull()
    await count(sql, item, 9, 5)
    expect(await metricsOf(sql, item.id)).toEqual(shown(9, 5))
    await count(sql, item, 11, 7)
    await count(sql, item, 10, 6)
    expect([await metricsOf(sql, item.id), await metricsOf(sql, other.id)]).toEqual([
      shown(11, 7),
      null,
    ])
  } finally {
    await sql.end()
  }
})
