import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { openDb } from '#store/engine/db'
import { use } from '#test/support/use'
import { steppedDb } from './clock.ts'

const HOUR_MS = 3_600_000

let owner: postgres.Sql
afterAll(async () => {
  await owner.end()
})
const db = use(() => steppedDb({ timezone: "'Australia/Lord_Howe'" }))
beforeAll(() => {
  owner = postgres({ ...db.options, max: 1 })
})

test('every role gets the stepped time', async () => {
  await using own = openDb(db.options)
  const asked =
    'extract(epoch from clock_timestamp() - pg_catalog.clock_timestamp())::float8 / 3600 as hours, now() > clock_timestamp() as ahead'
  const views = async (): Promise<unknown[]> => {
    const [read] = await own.read(
      { tenantId: newId() },
      (sql) => sql<object>`select ${sql.raw(asked)}`,
    )
    const [system] = await own.system((sql) => sql<object>`select ${sql.raw(asked)}`)
    return [read, system, (await owner.unsafe(`select ${asked}`))[0]].map((row) => ({
      ...row,
      hours: Math.round((row as { hours: number }).hours),
    }))
  }
  const [before] = (await views()) as { hours: number }[]
  await db.clock.step(HOUR_MS)
  const stepped = { hours: before!.hours + 1, ahead: false }
  expect(await views()).toEqual([stepped, stepped, stepped])
  await db.clock.step(-HOUR_MS)
  expect((await views())[0]).toEqual({ hours: before!.hours, ahead: false })
})

test('every default time comes from the stepped clock', async () => {
  const rows = await owner<
    { at: string; stepped: boolean }[]
  >`select a.attrelid::regclass || '.' || a.attname as at,
      exists (select 1 from pg_depend p where p.classid = 'pg_attrdef'::regclass and p.objid = d.oid
        and p.refclassid = 'pg_proc'::regclass
        and p.refobjid in (select oid from pg_proc where pronamespace = 'stepped'::regnamespace)) as
          stepped
    from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum 
    where a.atttypid = 'timestamptz'::regtype and a.attgenerated = ''`
  expect(rows.length).toBeGreaterThan(5)
  expect(rows.filter(({ stepped }) => !stepped)).toEqual([])
})

/** These functions cannot be replaced, so they would miss a step. */
const UNSTEPPED =
  /\b(current_timestamp|current_date|current_time|localtimestamp|localtime|statement_timestamp|transaction_timestamp)\b/i

test('no statement reads the time in another way', () => {
  const files = ['sql/**/*.sql', 'src/store/**/*.ts', 'src/port/**/*.ts'].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync(),
  ])
  const texts = files.map((name) => [name, readFileSync(name, 'utf8')] as const)
  expect(texts.length).toBeGreaterThan(15)
  expect(texts.filter(([, text]) => UNSTEPPED.test(text)).map(([name]) => name)).toEqual([])
})
