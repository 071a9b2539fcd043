/**
 * A short seeded run of the harness of starve.harness.ts: nine stalls of three seconds, so in a
 * file of its own, beside others.
 */
import { expect, test } from 'bun:test'
import { runStarve } from './starve.harness.ts'

test('a row that keeps the process busy for 3 s, in its claim, its run or its outcome, does so three times at most, and rests', async () => {
  const busy = {
    workspaces: 20,
    seconds: 0,
    hanging: 0,
    throwing: 0,
    busy: 1,
    together: 0,
    spin: 0,
    naive: 0,
    seed: 1,
  }
  const { broken, counts } = await runStarve(busy)
  expect(broken).toEqual([])
  expect(Number(counts.most_stalls_of_a_row)).toBeGreaterThan(1)
}, 240_000)
