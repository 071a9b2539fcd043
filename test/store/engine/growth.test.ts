/** docs/running.md says of every table what bounds its growth. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

const store = use(actorStore)

const HEADING = '## What grows, and what bounds it\n'

interface Row {
  tables: string[]
  bound: string
}

/**
 * The rows of the table under the heading; a table outside of `public` has its schema before it.
 */
const rowsIn = (page: string): Row[] => {
  const [, section = ''] = page.split(HEADING)
  const cells = section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  return cells.map(([, names = '', bound = '']) => ({
    tables: [...names.matchAll(/`([a-z_.]+)`/g)].map((match) => match[1]!),
    bound,
  }))
}

const inCatalogue = async (): Promise<string[]> => {
  const rows = await store.owner<{ name: string }[]>`
    select case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end as
      name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'm') and n.nspname not in ('pg_catalog', 'information_schema')
      and n.nspname not like 'pg_toast%'`
  return rows.map(({ name }) => name).sort()
}

const rows = rowsIn(readFileSync('docs/running.md', 'utf8'))

test('the page says of every table in the database what bounds it, once, and of no other', async () => {
  expect(rows.flatMap(({ tables }) => tables).sort()).toEqual(await inCatalogue())
})

test('each of them has a bound', () => {
  for (const { tables, bound } of rows) expect([tables, bound.length > 10]).toEqual([tables, true])
})

test('a table without a line in the page is noticed', async () => {
  await store.owner`create table public.forgotten (id uuid)`
  const known = rows.flatMap(({ tables }) => tables)
  expect((await inCatalogue()).filter((name) => !known.includes(name))).toEqual(['forgotten'])
  await store.owner`drop table public.forgotten`
})
