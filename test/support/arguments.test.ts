import { expect, test } from 'bun:test'
import manifest from '../../package.json'
import { withDefaults } from './arguments.ts'

const WITHOUT_SLOW = '--path-ignore-patterns=**/*.slow.test.ts'

test.each([[[]], [['--bail']], [['--seed=7', '--parallel=1']]])('slow tests are left out of a run of all: %p', (args) => {
  expect(withDefaults(args)).toContain(WITHOUT_SLOW)
})

test('files and folders that are named run, slow or not', () => {
  const slow = manifest.scripts['test:slow'].split(' ').slice(2)
  for (const args of [['test/faults/kill.slow.test.ts'], ['test/faults'], ['--seed=7', 'test/faults'], slow])
    expect(withDefaults(args)).not.toContain(WITHOUT_SLOW)
})

test('every slow test is in a file that its script names', () => {
  const name = manifest.scripts['test:slow'].split(' ').at(-1)!
  const files = [...new Bun.Glob('test/**/*.slow.test.ts').scanSync()]
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter((path) => !path.includes(name))).toEqual([])
})

test('an option that is given replaces the default', () => {
  expect(withDefaults(['--seed=7']).filter((arg) => arg.startsWith('--seed'))).toEqual(['--seed=7'])
  expect(withDefaults(['--parallel=4', 'test']).filter((arg) => arg.startsWith('--parallel'))).toEqual(['--parallel=4'])
  expect(withDefaults([]).filter((arg) => arg.startsWith('--seed=')).length).toBe(1)
})
