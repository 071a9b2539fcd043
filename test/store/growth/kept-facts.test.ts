/** What triggers keep in the row of an item: its comments, counted, and its newest redraft. */
import { describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { migrate } from '#store/engine/migrate'
import { shippedMigrations } from '#store/engine/migrations'
import { emptyDb, freshDb, type TestDatabase } from '#test/support/database/db'
import { insertItem } from '#test/support/database/writes'

interface Place {
  owner: postgres.Sql
  tenantId: string
}

const withOwner = async (
  database: TestDatabase,
  body: (owner: postgres.Sql) => Promise<void>,
): Promise<void> => {
  const owner = postgres({ ...database.options, max: 2, onnotice: () => {} })
  try {
    await body(owner)
  } finally {
    await owner.end()
  }
}

const newTenant = async (owner: postgres.Sql): Promise<Place> => {
  const tenantId = newId()
  await owner`insert into tenant (id, name, plan) values (${tenantId}, 'Test', 'team')`
  return { owner, tenantId }
}

const comment = async ({ owner, tenantId }: Place, item: string): Promise<string> => {
  const id = newId()
  await owner`insert into comment (id, tenant_id, item_id, kind, body, written_by, created_at)
    values (${id}, ${tenantId}, ${item}, 'comment', 'Which dock?', '{}', now())`
  return id
}

const redraft = async (
  { owner, tenantId }: Place,
  item: string,
  [revision, status]: [revision: number, status: string],
): Promise<string> => {
  const id = newId()
  await owner`insert into redraft (id, tenant_id, item_id, revision, hint, status, created_at,
      updated_at)
    values (${id}, ${tenantId}, ${item}, ${revision}, '', ${status}, now(), now())`
  return id
}

const keptOf = async ({ owner }: Place, item: string) => {
  const [row] = await owner`select comments, redraft from item where id = ${item}`
  return [row!.comments, row!.redraft]
}

test('comments are counted as they come and go, at once or one by one', async () => {
  await using database = await freshDb()
  await withOwner(database, async (owner) => {
    const place = await newTenant(owner)
    const [item, other] = [
      await insertItem(place, place.tenantId),
      await insertItem(place, place.tenantId),
    ]
    const first = await comment(place, item)
    await Promise.all([comment(place, item), comment(place, item), comment(place, other)])
    expect(await keptOf(place, item)).toEqual([3, null])
    await owner`delete from comment where id = ${first}`
    expect(await keptOf(place, item)).toEqual([2, null])
    await owner`delete from comment`
    expect([await keptOf(place, item), await keptOf(place, other)]).toEqual([
      [0, null],
      [0, null],
    ])
    await comment(place, item)
    await owner`delete from item where id = ${item}`
    expect(await owner`select id from comment`).toEqual([] as never)
  })
})

test('the newest redraft stands there until it is ready', async () => {
  await using database = await freshDb()
  await withOwner(database, async (owner) => {
    const place = await newTenant(owner)
    const item = await insertItem(place, place.tenantId)
    const first = await redraft(place, item, [1, 'queued'])
    expect(await keptOf(place, item)).toEqual([0, { status: 'queued', revision: 1 }])
    await owner`update redraft set status = 'failed', error = 'model' where id = ${first}`
    expect(await keptOf(place, item)).toEqual([0, { status: 'failed', revision: 1 }])
    const second = await redraft(place, item, [2, 'generating'])
    expect(await keptOf(place, item)).toEqual([0, { status: 'generating', revision: 2 }])
    await owner`update redraft set status = 'ready' where id = ${second}`
    expect(await keptOf(place, item)).toEqual([0, null])
  })
})

describe('a database of an earlier version', () => {
  const shipped = shippedMigrations()
  const at = shipped.findIndex(({ name }) => name.includes('kept-facts'))

  test('is given what its items would have', async () => {
    await using database = await emptyDb()
    const log = createLog('silent')
    await migrate(database.options, log, shipped.slice(0, at))
    await withOwner(database, async (owner) => {
      const place = await newTenant(owner)
      const [talked, failed, ready] = await Promise.all(
        Array.from({ length: 3 }, () => insertItem(place, place.tenantId)),
      )
      await comment(place, talked!)
      await comment(place, talked!)
      await redraft(place, failed!, [1, 'ready'])
      await redraft(place, failed!, [2, 'failed'])
      await redraft(place, ready!, [1, 'failed'])
      await redraft(place, ready!, [1, 'ready'])
      await migrate(database.options, log, shipped)
      expect(
        await Promise.all([talked!, failed!, ready!].map((one) => keptOf(place, one))),
      ).toEqual([
        [2, null],
        [0, { status: 'failed', revision: 2 }],
        [0, null],
      ])
    })
  })
})
