import { expect, test } from 'bun:test'
import manifest from '../../../package.json'
import { filesOf, runsFor, withDefaults } from './arguments.ts'

const kinds = ['slow', 'storm'] as const
const left = kinds.map((kind) => `--path-ignore-patterns=**/*.${kind}.test.ts`)

test.each([[[]], [['--bail']], [['--seed=7', '--parallel=1']]])(
  'slow tests and storms are left out of a run of all: %p',
  (args) => {
    expect(withDefaults(args)).toEqual(expect.arrayContaining(left))
  },
)

test('files and folders that are named run, slow or not', () => {
  const scripts = kinds.map((kind) => manifest.scripts[`test:${kind}`].split(' ').slice(2))
  for (const args of [
    ['test/faults/posting/kill.slow.test.ts'],
    ['test/faults'],
    ['--seed=7', 'test/faults'],
    ...scripts,
  ])
    for (const option of left) expect(withDefaults(args)).not.toContain(option)
})

test.each(kinds)('every %s test is in a file that its script names', (kind) => {
  const name = manifest.scripts[`test:${kind}`].split(' ').at(-1)!
  const files = [...new Bun.Glob(`test/**/*.${kind}.test.ts`).scanSync()]
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter((path) => !path.includes(name))).toEqual([])
})

test('an option that is given replaces the default', () => {
  expect(withDefaults(['--seed=7']).filter((arg) => arg.startsWith('--seed'))).toEqual(['--seed=7'])
  expect(
    withDefaults(['--parallel=4', 'test']).filter((arg) => arg.startsWith('--parallel')),
  ).toEqual(['--parallel=4'])
  expect(withDefaults([]).filter((arg) => arg.startsWith('--seed=')).length).toBe(1)
})

test('tests that compare times run after the others, one at a time', () => {
  const timed = ['test/port/a.timed.test.ts', 'test/store/b.timed.test.ts']
  const namesIn = (run: string[]) => run.filter((arg) => !arg.startsWith('-'))
  const [first, alone, ...more] = runsFor(['--seed=7'], timed)
  expect([namesIn(first!), namesIn(alone!), more]).toEqual([[], timed, []])
  expect(first).toContain('--path-ignore-patterns=**/*.timed.test.ts')
  expect(first).toEqual(expect.arrayContaining(left))
  expect(alone).toEqual(expect.arrayContaining(['--parallel=1', '--seed=7']))
  expect(runsFor(['test/port'], timed).map(namesIn)).toEqual([['test/port'], [timed[0]!]])
  expect(runsFor([timed[1]!], timed).map(namesIn)).toEqual([[timed[1]!]])
  expect(runsFor(['.slow.test.ts'], timed).map(namesIn)).toEqual([['.slow.test.ts']])
  expect(runsFor(['--test-name-pattern=sent'], timed)).toHaveLength(1)
})

test.each<[string, string[], string[] | undefined]>([
  ['all but slow ones and storms', [], ['test/a/b.test.ts', 'test/c.test.ts']],
  ['a folder', ['test/a'], ['test/a/b.test.ts', 'test/a/b.slow.test.ts']],
  ['a kind', ['.slow.test.ts'], ['test/a/b.slow.test.ts']],
  ['tests by name', ['-t', 'one'], undefined],
])('the files of %s are known', (_, args, files) => {
  const all = [
    'test/a/b.test.ts',
    'test/a/b.slow.test.ts',
    'test/c.test.ts',
    'test/d.storm.test.ts',
  ]
  expect(filesOf(withDefaults(args), all)).toEqual(files)
})
