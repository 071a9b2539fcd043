import { expect, test } from 'bun:test'
import { readFile, testsReachedBy } from './changed.ts'

const files: Record<string, string> = {
  'test/near.test.ts': `import { a } from '../src/domain/a.ts'`,
  'test/far.test.ts': `import { use } from '#test/support/use'`,
  'test/support/use.ts': `import {\n  b,\n} from '#ops/b'`,
  'src/ops/b.ts': `export const load = () => import('#domain/a')`,
  'src/domain/a.ts': `import type { c } from './c.ts'`,
  'test/starts.test.ts': `Bun.spawn(['bun', 'src/main.ts'])`,
  'src/main.ts': `import './ops/b.ts'`,
  'test/reads.test.ts': `readFileSync('README.md') + readFileSync('docs/cli.md')`,
  'test/searches.test.ts': `new Bun.Glob('src/**')`,
  'test/apart.test.ts': `import { expect } from 'bun:test'`,
}
const tests = Object.keys(files).filter((path) => path.endsWith('.test.ts'))
const reached = (...changed: string[]) =>
  testsReachedBy(changed, tests, (path) => files[path])
    .map((path) => path.slice('test/'.length, -'.test.ts'.length))
    .filter((name) => name !== 'searches')

test.each([
  ['a file that tests import, however far', 'src/domain/c.ts', ['near', 'far', 'starts']],
  ['what only some of it imports', 'src/ops/b.ts', ['far', 'starts']],
  ['a program that a test starts', 'src/main.ts', ['starts']],
  ['support of tests', 'test/support/use.ts', ['far']],
  ['a test', 'test/apart.test.ts', ['apart']],
  ['a page that a test reads', 'README.md', ['reads']],
  ['a page of the documentation', 'docs/cli.md', ['reads']],
  ['a page that none reads', 'SECURITY.md', []],
])('a change of %s reaches the tests that depend on it', (_, changed, expected) => {
  expect(reached(changed)).toEqual(expected)
})

test.each(['package.json', 'sql/000124-baseline/01-roles.sql', 'test/run.ts'])(
  'a change of %s reaches every test',
  (changed) => {
    expect(testsReachedBy([changed], tests, (path) => files[path])).toEqual(tests)
  },
)

test('a test that searches the tree depends on all of it', () => {
  expect(testsReachedBy(['src/any.ts'], tests, (path) => files[path])).toEqual([
    'test/searches.test.ts',
  ])
})

test('this tree is followed from a test over HTTP down to the store', () => {
  const far = 'test/flow/growth/drafting/approve.test.ts'
  expect(testsReachedBy(['src/store/growth/items.ts'], [far], readFile)).toEqual([far])
  expect(testsReachedBy(['src/cli/main.ts'], ['test/kernel/ids.test.ts'], readFile)).toEqual([])
})
