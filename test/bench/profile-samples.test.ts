import { expect, test } from 'bun:test'
import { type CpuProfile, largestFirst, sampled } from './profile-samples.ts'

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 6 })

/**
 * A request's handler that queries the database, a native write below it, and promises that
 * nobody's code is below.
 */
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 5] },
    { id: 2, callFrame: frame('serve', 'file:///here/src/edge/serve.ts'), children: [3, 6] },
    {
      id: 3,
      callFrame: frame('query', 'file:///here/node_modules/postgres/src/query.js'),
      children: [4],
    },
    { id: 4, callFrame: frame('writeBuffered') },
    { id: 5, callFrame: frame('processTicksAndRejections') },
    { id: 6, callFrame: frame('toString') },
  ],
  samples: [2, 3, 4, 4, 5, 6, 3],
  timeDeltas: [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000],
}

test('a sample belongs to the code of its frame, a native one to its name or else to its caller', () => {
  const { groups, samples } = sampled(profile, 0, 100)
  expect(samples).toBe(7)
  expect(Object.fromEntries(groups)).toEqual({
    'ours: edge': 2,
    'postgres.js': 2,
    'socket write to Postgres': 2,
    'Bun: promises settled, the answer written to the caller': 1,
  })
})

test('samples before and after the measured time do not count', () => {
  const { groups, samples } = sampled(profile, 2, 4)
  expect(samples).toBe(3)
  expect(largestFirst(groups)).toEqual([
    ['socket write to Postgres', 2],
    ['postgres.js', 1],
  ])
})

test('functions are named with their group, file and line', () => {
  expect([...sampled(profile, 0, 1).functions.keys()]).toEqual([
    'ours: edge — serve src/edge/serve.ts:7',
  ])
})

test('the name of a function is cut at 80 characters', () => {
  const named = (length: number): CpuProfile => ({
    nodes: [{ id: 1, callFrame: frame('x'.repeat(length)) }],
    samples: [1],
    timeDeltas: [1_000],
  })
  const nameOf = (length: number) => [...sampled(named(length), 0, 1).functions.keys()]
  expect(nameOf(80)).toEqual([`Bun: other — ${'x'.repeat(80)}`])
  expect(nameOf(81)).toEqual([`Bun: other — ${'x'.repeat(80)}…`])
})
