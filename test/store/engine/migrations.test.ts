/** What migrations must not forget. */
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BASELINE, type Migration, shippedMigrations } from '#store/engine/migrations'

/**
 * Without the bodies of functions, which run later and name their workspace, and without comments.
 */
const statementsOf = (text: string): string[] =>
  text
    .replace(/\$\$.*?\$\$/gs, '')
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())

const MAKES = /^create table (\w+)/
const FORCES = /^alter table (\w+) (?:enable row level security, )?force row level security$/
const RESTS = /^alter table (\w+) no force row level security$/
const WRITES = /^(?:update|insert into|delete from) (\w+)/

/** Tables whose policies bind their owner, by the generated schema of this version. */
const forcedNow = (): string[] =>
  [
    ...readFileSync('sql/schema.sql', 'utf8').matchAll(
      /^alter table public\.(\w+) force row level security;$/gm,
    ),
  ].map((match) => match[1]!)

/**
 * Tables of workspaces whose rows a migration after the baseline changes while their policies bind
 * the owner of the tables, who then sees none of them.
 */
const unseen = (migrations: Migration[]): string[] => {
  const later = migrations.filter(({ name }) => name !== BASELINE)
  const statements = later.flatMap(({ name, text }) =>
    statementsOf(text).map((statement) => ({ name, statement })),
  )
  const made = statements.map(({ statement }) => MAKES.exec(statement)?.[1])
  const forced = new Set(forcedNow().filter((table) => !made.includes(table)))
  return statements.flatMap(({ name, statement }) => {
    const [forces, rests, table = ''] = [
      FORCES.exec(statement)?.[1],
      RESTS.exec(statement)?.[1],
      WRITES.exec(statement)?.[1],
    ]
    if (forces !== undefined) forced.add(forces)
    if (rests !== undefined) forced.delete(rests)
    return forced.has(table) ? [`${name} ${table}`] : []
  })
}

test('the baseline stays as it is, down to its comments, or databases that have it are refused', () => {
  const { text } = shippedMigrations().find(({ name }) => name === BASELINE)!
  expect(createHash('sha256').update(text).digest('hex')).toBe(
    '5a9b04c2937c1229aa7dde3bd211449ceb09dd7a7cc8a7910c29f467ee8c65e3',
  )
})

test('a migration switches policies off while it changes rows of workspaces, or an owner who is no superuser changes none', () => {
  expect(unseen(shippedMigrations())).toEqual([])
})

test.each([
  ['update item set note = null', ['later item']],
  [
    `alter table item no force row level security; update item set note = null;
    alter table item force row level security; delete from item`,
    ['later item'],
  ],
  [
    `create table thing (); insert into thing default values;
    alter table thing enable row level security, force row level security; delete from thing`,
    ['later thing'],
  ],
  ['insert into deployment (canary) values (null)', []],
])('that is found in %s', (text, found) => {
  expect(unseen([{ name: 'later', text }])).toEqual(found)
})
