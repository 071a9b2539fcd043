/** A short seeded run of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runSoak, slopeOf } from './soak.harness.ts'

test('each kind of mixed load is served, and a growth of memory is found', async () => {
  const sizes = {
    minutes: 4,
    workspaces: 4,
    clients: 8,
    pauseMs: 50,
    idleMinutes: 1,
    minuteSeconds: 3,
    seed: 1,
  }
  const { broken, counts } = await runSoak(sizes)
  // In a few seconds memory only grows: what is judged here is the load.
  expect(broken.filter((one) => !one.startsWith('resident memory'))).toEqual([])
  expect(Number(counts.acts)).toBeGreaterThan(50)
  expect(Number(counts.last_mib)).toBeGreaterThan(50)
}, 120_000)

test('the growth of memory is the slope over all minutes', () => {
  expect(slopeOf([100, 102, 104, 106])).toBeCloseTo(2)
  expect(slopeOf([100, 140, 100, 140, 100])).toBeCloseTo(0)
  expect(slopeOf([300, 299, 298])).toBeCloseTo(-1)
})
