/** What migrations must not forget. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

const files = readdirSync('sql').filter((name) => /^\d{6}-/.test(name))
/**
 * Without the bodies of functions, which run later and name their workspace, and without comments.
 */
const statementsOf = (name: string): string[] =>
  readFileSync(`sql/${name}`, 'utf8')
    .replace(/\$\$.*?\$\$/gs, '')
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())

const FORCES = /^alter table (\w+) force row level security$/
const RESTS = /^alter table (\w+) no force row level security$/
const WRITES = /^(?:update|insert into|delete from) (\w+)/

/**
 * Tables of workspaces whose rows a migration changes while their policies bind the owner of the
 * tables, who then sees none of them.
 */
const unseen = (): string[] => {
  const forced = new Set<string>()
  return files.toSorted().flatMap((file) =>
    statementsOf(file).flatMap((statement) => {
      const [forces, rests, table = ''] = [
        FORCES.exec(statement)?.[1],
        RESTS.exec(statement)?.[1],
        WRITES.exec(statement)?.[1],
      ]
      if (forces !== undefined) forced.add(forces)
      if (rests !== undefined) forced.delete(rests)
      return forced.has(table) ? [`${file} ${table}`] : []
    }),
  )
}

test('a migration switches policies off while it changes rows of workspaces, or an owner who is no superuser changes none', () => {
  expect(unseen()).toEqual([])
})
