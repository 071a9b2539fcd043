/** A short seeded run of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runShutdown } from './shutdown.harness.ts'

test('after SIGTERM amid requests, posts and a generation, a server answers what it has and exits 0, and the next one continues', async () => {
  const { broken, counts } = await runShutdown({ rounds: 1, rate: 200, seed: 1, slow: 0 })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ failed_in_flight: 0, lost: 0, doubled: 0 })
  expect(Number(counts.in_flight)).toBeGreaterThan(0)
})
