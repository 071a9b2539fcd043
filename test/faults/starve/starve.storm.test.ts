/**
 * Short seeded runs of the harness of the same name, which say nothing of times. busy.storm.test.ts
 * has what keeps the process busy.
 */
import { expect, test } from 'bun:test'
import { runStarve } from './starve.harness.ts'

const small = {
  workspaces: 20,
  seconds: 0,
  hanging: 3,
  throwing: 1,
  busy: 0,
  together: 0,
  spin: 0,
  naive: 0,
  seed: 1,
}

test('a poison row of each kind ends or rests, wherever it throws or hangs', async () => {
  const { broken, counts } = await runStarve(small)
  expect(broken).toEqual([])
  expect(Number(counts.most_tries)).toBeGreaterThan(1)
}, 240_000)

test('rows whose failures nobody counts are found', async () => {
  const { broken } = await runStarve({ ...small, workspaces: 5, hanging: 0, naive: 1 })
  expect(broken.some((says) => says.includes('has not ended'))).toBe(true)
}, 240_000)
