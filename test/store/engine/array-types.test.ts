import { expect, test } from 'bun:test'
import fc from 'fast-check'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { arrayTypes, parseArray, serializeArray } from '#store/engine/array-types'
import { freshDb } from '#test/support/database/db'
import { runs } from '#test/support/property'

const texts = fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')))

test('a list comes back as it was written', () => {
  fc.assert(
    fc.property(texts, (list) => {
      expect(parseArray(serializeArray(list))).toEqual(list)
    }),
    runs(500),
  )
})

test('the database stores and returns a list without a query for its types', async () => {
  await using db = await freshDb()
  const sql = postgres({ ...db.options, max: 1, fetch_types: false, types: arrayTypes as never })
  const property = async (list: string[]) => {
    const [row] = await sql`select ${list}::text[] as list, cardinality(${list}::text[]) as size,
        (${list}::text[])[1] as first`
    expect(row).toEqual({ list, size: list.length, first: list[0] ?? null })
  }
  await fc.assert(fc.asyncProperty(texts, property), runs(100))
  const ids = [newId(), newId()]
  expect(
    await sql`select ${ids}::uuid[] as ids, ${ids[0]!} = any(${ids}::uuid[]) as found`,
  ).toMatchObject([{ ids, found: true }])
  expect(
    await sql`select array['api:read', 'NULL', '', 'a b', '{x,y}', '"']::text[] as list`,
  ).toMatchObject([{ list: ['api:read', 'NULL', '', 'a b', '{x,y}', '"'] }])
  await sql.end()
})
