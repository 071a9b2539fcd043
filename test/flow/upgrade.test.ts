/**
 * Databases that earlier versions have filled, migrated by this one. Each version whose databases
 * must live on leaves its own: `UPDATE_UPGRADE=1 npm test -- test/flow/upgrade.test.ts` keeps one
 * of the present version in test/data/upgrade/, with every other one as it is.
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import postgres from 'postgres'
import { exportKinds } from '#contract/app/workspace'
import { createLog } from '#kernel/log'
import { exportSources } from '#store/app/export'
import { migrate } from '#store/engine/migrate'
import { shippedMigrations, versionOf } from '#store/engine/migrations'
import { testApp } from '#test/support/app'
import { emptyDb, freshDb } from '#test/support/database/db'
import { countRows, dumpRows, type Filled, fill, loadRows } from '#test/support/database/filled'
import { storyAt } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { jsonLines } from '#test/support/texts/lines'

const FOLDER = 'test/data/upgrade'
const silent = createLog('silent')
const migrations = shippedMigrations()

/** A row a line, so that the file can be read and searched. */
const textOf = ({ rows, ...head }: Filled): string => {
  const tables = Object.entries(rows).map(
    ([table, values]) =>
      `  ${JSON.stringify(table)}: [${values.map((row) => `\n    ${JSON.stringify(row)}`)}\n  ]`,
  )
  return `${JSON.stringify(head).slice(0, -1)}, "rows": {\n${tables.join(',\n')}\n}}\n`
}

const keepThisVersion = async (): Promise<void> => {
  await using database = await freshDb()
  await using stack = new AsyncDisposableStack()
  const owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  stack.defer(() => owner.end())
  const story = await (async () => {
    await using app = await testApp({ database: database.options })
    return await fill(app)
  })()
  const migration = migrations.at(-1)!.name
  const text = textOf({ migration, ...story, rows: await dumpRows(owner) })
  writeFileSync(`${FOLDER}/${versionOf([migration])}.json`, text)
}
if (process.env.UPDATE_UPGRADE) await keepThisVersion()

const kept: [string, Filled][] = readdirSync(FOLDER).map((name) => [
  name,
  JSON.parse(readFileSync(`${FOLDER}/${name}`, 'utf8')),
])

describe.each(kept)('a filled database of %s', (_, filled) => {
  test('keeps its rows, which the export shows, and its approved post goes out once', async () => {
    await using database = await emptyDb()
    await using stack = new AsyncDisposableStack()
    const owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
    stack.defer(() => owner.end())
    const at = migrations.findIndex(({ name }) => name === filled.migration)
    await migrate(database.options, silent, migrations.slice(0, at + 1))
    await loadRows(owner, filled)
    await migrate(database.options, silent)
    const batched = await owner`select source_kind, source_id = batch_id as is_its from item
      where batch_id is not null`
    expect([...new Set(batched.map((row) => JSON.stringify(row)))]).toEqual([
      '{"source_kind":"batch","is_its":true}',
    ])
    const counts = Object.entries(filled.rows).map(([table, rows]) => [table, rows.length])
    expect(await countRows(owner)).toMatchObject(Object.fromEntries(counts))

    await using app = await testApp({ database: database.options })
    for (const { id } of filled.rows['public.tenant']!)
      expect(await missingIn(app, filled, id as string)).toEqual([])

    const { api_key: key } = await app.newKey(['api:read'], filled.tenantId)
    const story = storyAt(app, { tenantId: filled.tenantId, account: '', key })
    await story.settled(filled.item, 'posted')
    expect((await story.posts())[filled.text]).toBe(1)
  })
})

/** The rows of a workspace that its export does not show. */
const missingIn = async (
  app: Awaited<ReturnType<typeof testApp>>,
  { rows }: Filled,
  tenantId: string,
): Promise<string[]> => {
  const key = await tokenOf(app, tenantId)
  const { status, text } = await app.send('GET', '/api/v1/app/workspace/export', { key })
  expect(status).toBe(200)
  const tableOf = (kind: string) =>
    `public.${exportSources[kind as keyof typeof exportSources]?.table}`
  const lines = jsonLines(text) as { kind: string; record: Record<string, unknown> }[]
  const shown = new Set(lines.map(({ kind, record }) => `${tableOf(kind)} ${record.id}`))
  return [...new Set(exportKinds.map(tableOf))].flatMap((table) =>
    (rows[table] ?? [])
      .filter((row) => row.id !== undefined && (row.tenant_id ?? row.id) === tenantId)
      .map((row) => `${table} ${row.id}`)
      .filter((line) => !shown.has(line)),
  )
}
