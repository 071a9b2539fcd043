/**
 * Each row of the document's tables of endpoints answers with each of its codes, at a server that
 * `src/main.ts` has started.
 */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { braces } from '#contract/op'
import { use } from '#test/support/use'
import documented from '../data/contract.json'
import { openPlace } from './place.ts'
import { documentedRows, faultsOf, type Line, tableOf, textOf } from './table.ts'

const place = use(openPlace)

test('all 49 rows of the document about the agent answer with all of their codes', async () => {
  const lines = await tableOf(place)
  expect(lines).toHaveLength(49)
  expect(faultsOf(lines)).toEqual([])
  // The Authentication section has 401 for every row that needs a credential.
  const others = lines.filter(({ documented, seen }) =>
    seen.some((code) => code !== 401 && !documented.includes(code)),
  )
  expect(others).toEqual([])
})

test('all 104 rows of both documents exist', async () => {
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${braces(path)}`
  const known = new Set([...operations, ...documentedRows].map(nameOf))
  const open = documented.filter((row) => !known.has(nameOf(row)))
  expect([documented.length, new Set(documented.map(nameOf)).size, open.length]).toEqual([
    104, 104, 3,
  ])
  for (const { method, path } of open)
    expect([path, (await place.send(method, path, undefined, null)).status]).toEqual([path, 200])
})

test('a row that is not called, a code that does not come and another code in its place are faults', () => {
  const line = (changes: Partial<Line>): Line => ({
    method: 'GET',
    path: '/a',
    documented: [200, 404],
    seen: [200, 404],
    wrong: [],
    ...changes,
  })
  expect(faultsOf([line({})])).toEqual([])
  expect(faultsOf([line({ seen: [] })])).toEqual(['GET /a: not called'])
  expect(faultsOf([line({ seen: [200] })])).toEqual(['GET /a: 404 did not come'])
  expect(faultsOf([line({ wrong: ['500 in the place of 404: {}'] })])).toEqual([
    'GET /a: 500 in the place of 404: {}',
  ])
  expect(textOf([line({})])).toContain('| GET | /a | 200, 404 | 200, 404 |')
  expect(documentedRows.flatMap(({ codes }) => codes)).toHaveLength(132)
})
