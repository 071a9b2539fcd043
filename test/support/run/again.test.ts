import { expect, test } from 'bun:test'
import { filesToRunAgain } from './again.ts'
import type { Failure } from './totals.ts'

const late = (file: string, name = 'ends', type = 'TimeoutError'): Failure => ({ file, name, type })
const [a, b] = [late('test/a.test.ts'), late('test/b.test.ts')]

test('files whose tests failed by time alone run once more', () => {
  expect(filesToRunAgain([a, b, late('test/a.test.ts', 'begins')], 3)).toEqual([
    'test/a.test.ts',
    'test/b.test.ts',
  ])
  expect(filesToRunAgain([], 0)).toEqual([])
})

test.each<[string, Failure[], number]>([
  ['a failed assertion', [a, late('test/b.test.ts', 'is right', 'AssertionError')], 2],
  ['a failure that no test reports, as of a worker that crashed', [a], 2],
  ['a file that did not run', [a, late('test/b.test.ts', 'did not run', 'Missing')], 2],
  ['more than three', ['1', '2', '3', '4'].map((name) => late('test/a.test.ts', name)), 4],
  ['a crash of a process', [late('test/flow/crash/webhooks.test.ts')], 1],
  ['a fault', [late('test/faults/clock/clock.test.ts')], 1],
  ['a simulation', [late('test/sim/sim.test.ts')], 1],
])('nothing runs once more after %s', (_, failures, failed) => {
  expect(filesToRunAgain(failures, failed)).toEqual([])
})
