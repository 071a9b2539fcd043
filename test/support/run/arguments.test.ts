import { expect, test } from 'bun:test'
import manifest from '../../../package.json'
import { withDefaults } from './arguments.ts'

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
