/** A workspace that is being made, and the erasure that takes over from a silent importer. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { eraseSome, restErasure } from '#store/app/erasure'
import { beginImport, finishImport, openImport, renewImport } from '#store/app/import'
import { hasTenant } from '#store/app/tenants'
import { openDb } from '#store/engine/db'
import { freshDb } from '#test/support/database/db'
import { use } from '#test/support/use'

const database = use(freshDb)
const db = use(() => openDb({ ...database.options, max: 2 }))

const insertProduct = (name: string) => ({
  id: newId(),
  name,
  one_liner: 'text',
  status: 'archived',
  created_at: new Date(),
  updated_at: new Date(),
})

test('an import whose erasure has begun is never finished, even where the erasure fails and rests', async () => {
  const id = newId()
  await beginImport(db, { id, name: 'Test', plan: 'free' })
  await using session = openImport(database.options, id)
  const write = () =>
    session.transaction(async (sql) => {
      for (const name of ['Dock', 'Gate'])
        await sql`insert into product ${sql(insertProduct(name) as never)}`
    })
  await write()
  await renewImport(db, id)
  await db.system((sql) => sql`update tenant set erasure_rests_until = now() where id = ${id}`)
  expect(await eraseSome(db, id, 1)).toBe(true)
  await restErasure(db, id, { ms: 60_000, counted: true, error: 'away' })
  for (const next of [() => renewImport(db, id), write, () => finishImport(db, { id, detail: {} })])
    await expect(next()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('nothing of it is kept'),
    })
  while (await eraseSome(db, id, 100));
  expect(await hasTenant(db, id)).toBe(false)
})
