/** What is said of a record that the database refuses. */
import { expect, test } from 'bun:test'
import { productRecord } from '#contract/records/growth/product'
import { ImportIds } from '#server/import/ids'
import type { Looked } from '#server/import/look'
import { type ImportSink, ImportWriting } from '#server/import/write'
import type { Query, Sql } from '#store/engine/db'
import { exportedRow } from '#test/support/archives'
import { sampleOf } from '#test/support/database/sample'

/** The rows that a statement writes. */
const rowsOf = (query: Query): Record<string, unknown>[] => {
  let rows: Record<string, unknown>[] = []
  const sql = Object.assign(() => ({}), {
    json: (value: Record<string, unknown>[]) => {
      rows = value
      return {}
    },
  })
  query(sql as unknown as Sql)
  return rows
}

/** A database that refuses rows by their names. */
const refusing = (code: string, details: object = {}) => {
  const written: unknown[] = []
  const rows = async (queries: readonly Query[]) => {
    const names = queries.flatMap(rowsOf).map(({ name }) => name)
    if (names.includes('Bad')) throw Object.assign(new Error('too large'), { code, ...details })
    written.push(...names)
    return [[]]
  }
  return { written, sink: { rows } as Partial<ImportSink> as ImportSink }
}

const products = ['Dock', 'Bad', 'Gate'].map((name) =>
  exportedRow(productRecord, { ...sampleOf(productRecord, 'text', { url: null }), name }),
)

const write = async (sink: ImportSink): Promise<void> => {
  const arrival = { ids: new ImportIds(), sealed: false, now: new Date(), language: 'en' }
  const looked = { arrival, expected: new Map(), channels: [] } as Partial<Looked> as Looked
  const report = { made() {}, left() {} }
  const writing = new ImportWriting(looked, { late: false, files: new Map(), sink, report })
  for (const record of products) await writing.record({ kind: 'product', record })
  await writing.flush()
}

test.each(['54000', '22P02', '23514'])(
  'of several rows, the one that the database refuses with %s is named',
  async (code) => {
    const { sink, written } = refusing(code)
    await expect(write(sink)).rejects.toMatchObject({
      code: 'invalid_input',
      message: `the database refuses the product ${products[1]!.id} of the archive, so nothing was imported: too large`,
    })
    expect(written).toEqual(['Dock'])
  },
)

test('a row that breaks another rule than that of ids is named; an id that is taken is not at fault', async () => {
  const named = refusing('23505', { constraint_name: 'product_tenant_id_lower_idx' })
  await expect(write(named.sink)).rejects.toMatchObject({ code: 'invalid_input' })
  const taken = refusing('23505', { constraint_name: 'product_pkey' })
  await expect(write(taken.sink)).rejects.toMatchObject({ code: '23505' })
})

test('a database that fails is asked once', async () => {
  const { sink, written } = refusing('57014')
  await expect(write(sink)).rejects.toMatchObject({ code: '57014' })
  expect(written).toEqual([])
})
