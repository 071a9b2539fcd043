/** Databases of the last version before the baseline become databases of the baseline. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { migrate } from '#store/engine/migrate'
import { BASELINE, shippedMigrations } from '#store/engine/migrations'
import { dumpSchema } from '#store/engine/schema-dump'
import type { TestDatabase } from '#test/support/database/db'
import { type Filled, loadRows } from '#test/support/database/filled'
import { managedDb } from '#test/support/database/managed'
import { beforeBaseline, earlierDb, migrateToBaseline } from '#test/support/database/migrations'

const shipped = shippedMigrations().map(({ name }) => name)
const earlier = beforeBaseline.map(({ name }) => name)

let stack: AsyncDisposableStack
let database: TestDatabase
let owner: postgres.Sql
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

const open = async (made: Promise<TestDatabase>): Promise<void> => {
  database = stack.use(await made)
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
}
const adopt = () => migrateToBaseline(database.options)
const bringUp = () => migrate(database.options, createLog('silent'))
const applied = async (): Promise<string[]> =>
  (await owner`select name from migration order by name`).map(({ name }) => name)

/** Each row of each table of ours, but what was migrated. */
const rows = async (): Promise<string[]> => {
  const tables = await owner<{ name: string }[]>`select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace in ('public'::regnamespace, 'sandbox'::regnamespace)
      and relname <> 'migration' order by 1`
  const found = await Promise.all(
    tables.map(({ name }) => owner.unsafe(`select '${name} ' || t::text as row from ${name} t`)),
  )
  return found.flatMap((part) => part.map(({ row }) => row)).sort()
}

describe('a database with exactly the migrations of before the baseline', () => {
  beforeEach(() => open(earlierDb()))

  test('is adopted with its schema and its rows as they are', async () => {
    const filled: Filled = JSON.parse(readFileSync('test/data/upgrade/000124.json', 'utf8'))
    await loadRows(owner, filled)
    const [schema, before] = [await owner.begin(dumpSchema), await rows()]
    expect(before.length).toBeGreaterThan(60)
    await Promise.all([adopt(), adopt()])
    expect(await applied()).toEqual([BASELINE])
    expect(await rows()).toEqual(before)
    expect(await owner.begin(dumpSchema)).toEqual(schema)
    expect(await owner`select 1 from pg_namespace where nspname ~ '^aside'`).toHaveLength(0)
    await bringUp()
    expect(await applied()).toEqual(shipped)
  })

  test('stays as it is if its adoption ends in the middle, and is adopted afterwards', async () => {
    await owner`create schema apart`
    await owner`create function apart.stop() returns trigger language plpgsql as
      'begin raise exception ''stopped''; end'`
    await owner`create trigger stop after insert on migration execute function apart.stop()`
    await expect(bringUp()).rejects.toThrow('stopped')
    expect(await applied()).toEqual(earlier)
    await owner`drop schema apart cascade`
    await bringUp()
    expect(await applied()).toEqual(shipped)
  })

  test.each([
    ['alter table item add extra text', 'public.item has "extra text"'],
    ['alter table item drop note', 'public.item lacks "note text"'],
    ['alter table work alter lane drop not null', 'public.work has "lane text"'],
    ['create table mine ()', 'public.mine does not belong to it'],
    ['drop table sandbox.delayed', 'sandbox.delayed is missing'],
    ['drop index work_due', 'public.work lacks "CREATE INDEX work_due ON public.work'],
    ['alter table rule disable trigger rule_set', 'public.rule has "CREATE TRIGGER rule_set'],
    ['alter table item no force row level security', 'public.item lacks "alter table public.item'],
    ['grant delete on audit to tendril_app', 'public.audit has "grant delete, insert, select on'],
    [
      'alter function erase_person(uuid) security invoker',
      'public.erase_person(uuid) lacks "SECURITY',
    ],
    ['grant execute on function erase_person(uuid) to public', 'public.erase_person(uuid) has'],
    ['alter sequence sandbox.id_tail no cycle', 'sandbox.id_tail has "create sequence'],
    [
      `alter table target drop priority, add priority integer not null check (priority between 1 and 3)`,
      'public.target has its lines in another order',
    ],
  ])('is refused after %s', async (edit, difference) => {
    await owner.unsafe(edit)
    await expect(bringUp()).rejects.toThrow(
      `the schema of the database was changed by hand: ${difference}`,
    )
    expect(await applied()).toEqual(earlier)
    expect(await owner`select 1 from pg_namespace where nspname ~ '^aside'`).toHaveLength(0)
  })
})

test('an owner who is no superuser adopts as well', async () => {
  await open(managedDb())
  await adopt()
  await owner`delete from migration`
  await owner`insert into migration ${owner(beforeBaseline)}`
  await bringUp()
  expect(await applied()).toEqual(shipped)
})

test.each([
  ['fewer', beforeBaseline.slice(0, -1), '000122'],
  [
    'edited',
    beforeBaseline.map((one, at) => (at === 5 ? { ...one, hash: 'other' } : one)),
    '000123',
  ],
])(
  'a database with %s migrations is refused, and told what brings it up',
  async (_, old, version) => {
    await open(earlierDb(old))
    await expect(bringUp()).rejects.toThrow(
      new RegExp(
        `^the database has version ${version}, which this program cannot migrate: start the server ` +
          `of commit [0-9a-f]{40} once, which brings it to version 000123, and then this one$`,
      ),
    )
    expect(await applied()).toEqual(old.map(({ name }) => name))
  },
)
