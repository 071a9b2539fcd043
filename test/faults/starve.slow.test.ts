/** Short seeded runs of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runStarve } from './starve.harness.ts'

/** What a run finds beside times, which short runs on a busy machine say little of. */
const lasting = (broken: string[]): string[] => broken.filter((says) => !says.includes("the others' p99"))

test('a poison row of each kind ends or rests, wherever it throws, hangs or keeps the process busy', async () => {
  const { broken, counts } = await runStarve({ workspaces: 20, seconds: 2, hanging: 3, busy: 1, naive: 0, seed: 1 })
  expect(lasting(broken)).toEqual([])
  expect(Number(counts.most_stalls_of_a_row)).toBeGreaterThan(1)
}, 240_000)

test('rows whose failures nobody counts are found', async () => {
  const { broken } = await runStarve({ workspaces: 5, seconds: 1, hanging: 0, busy: 0, naive: 1, seed: 1 })
  expect(lasting(broken).some((says) => says.includes('has not ended'))).toBe(true)
}, 240_000)
