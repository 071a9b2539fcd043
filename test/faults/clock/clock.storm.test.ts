import { expect, test } from 'bun:test'
import { runClock } from './clock.harness.ts'

const options = {
  rounds: 1,
  scenes: 1,
  first: 1,
  items: 24,
  workspaces: 3,
  kills: 1,
  lateMs: 30_000,
  seed: 5,
  doubts: 'left',
} as const

test('when clocks step around the change to summer time and a server dies, nothing is early, doubled or missed', async () => {
  const { counts, broken } = await runClock({ ...options, publisher: 'ours' })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ steps: 5, kills: 1, early: 0, doubled: 0, missed: 0 })
  expect(Number(counts.posts)).toBeGreaterThan(0)
  expect(Number(counts.schedule_runs)).toBeGreaterThan(0)
}, 120_000)

test('the same scenes expose publishers that trust their own clocks', async () => {
  const { counts, broken } = await runClock({ ...options, kills: 0, publisher: 'naive' })
  expect(broken).toEqual([])
  expect(Number(counts.early)).toBeGreaterThan(0)
}, 120_000)
