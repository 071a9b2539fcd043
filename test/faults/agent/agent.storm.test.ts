import { expect, test } from 'bun:test'
import { runAgent } from './agent.harness.ts'

const options = { kills: 5, workspaces: 4, clients: 8, seed: 11, naive: false }

test('agents whose servers are killed do each command once, send nothing twice, end every job and keep their budgets', async () => {
  const { counts, broken } = await runAgent(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ kills: 5, open: 0, doubled: 0, lost: 0, outside_repeated: 0 })
}, 120_000)

test('a loop that runs a command and then writes down that it has is found out by the same kills', async () => {
  const { counts } = await runAgent({ ...options, naive: true })
  expect(counts.doubled).toBeGreaterThan(0)
}, 120_000)
