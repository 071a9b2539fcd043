import { expect, test } from 'bun:test'
import { runNaive } from './naive.ts'
import { runPosting } from './posting.harness.ts'

// Without `slow`: an account waits ten seconds for the answer to such a post.
const faults = '500=0.05,429=0.03,applied502=0.1,drop=0.08'
const options = { items: 60, kills: 8, workspaces: 5, clients: 10, seed: 11, faults, doubts: 'left' } as const

test('servers that are killed while they post through a network that misbehaves post nothing twice, and their items say the truth', async () => {
  const { counts, broken } = await runPosting(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ kills: 8, doubled: 0 })
}, 60_000)

test('a publisher that sends again is found out by the same kills on the same network', async () => {
  const { broken } = await runNaive(options)
  expect(broken).toEqual([])
}, 60_000)
