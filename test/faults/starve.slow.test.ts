/** Short seeded runs of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runStarve } from './starve.harness.ts'

/** What a run finds beside times, which short runs on a busy machine say little of. */
const lasting = (broken: string[]): string[] => broken.filter((says) => !says.includes("the others' p99"))

// Rows that keep the process busy are for the whole harness, on a quiet machine: a stall costs it its connections and its lease.
test('a poison row of each kind ends or rests, wherever it throws or hangs', async () => {
  const { broken } = await runStarve({ workspaces: 20, seconds: 2, hanging: 3, busy: 0, naive: 0, seed: 1 })
  expect(lasting(broken)).toEqual([])
}, 240_000)

test('rows whose failures nobody counts are found', async () => {
  const { broken } = await runStarve({ workspaces: 5, seconds: 1, hanging: 0, busy: 0, naive: 1, seed: 1 })
  expect(lasting(broken).some((says) => says.includes('has not ended'))).toBe(true)
}, 240_000)
