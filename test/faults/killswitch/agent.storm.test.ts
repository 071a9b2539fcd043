import { expect, test } from 'bun:test'
import { runAgentSwitch } from './agent.ts'

const options = { jobs: 24, workspaces: 2, watchMs: 200, seed: 5, naive: false }

test('after the answer of pause-all no step begins that nobody asked for, on either server; people go on, and in the end every job does', async () => {
  const { counts, broken } = await runAgentSwitch(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ jobs: 24, completed: 24, begun_after_answer: 0, sent_unlisted: 0 })
}, 120_000)

test('a switch that holds back what begins, and not what has begun, is found out', async () => {
  const { counts } = await runAgentSwitch({ ...options, naive: true })
  expect(counts.begun_after_answer).toBeGreaterThan(0)
}, 120_000)
