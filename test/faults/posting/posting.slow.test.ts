import { expect, test } from 'bun:test'
import { runNaive } from './naive.ts'
import { runPosting } from './posting.harness.ts'

// Without `slow`: an account waits ten seconds for the answer to such a post.
const faults = '500=0.05,429=0.03,applied502=0.1,drop=0.08'
const options = {
  items: 40,
  kills: 5,
  edits: 12,
  workspaces: 5,
  clients: 10,
  seed: 11,
  faults,
  doubts: 'left',
} as const

test('servers that are killed while they post through a network that misbehaves post nothing twice, and their items say the truth', async () => {
  const { counts, broken } = await runPosting(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ kills: 5, doubled: 0, unapproved: 0 })
  expect(Number(counts.withdrawn) + Number(counts.too_late_to_withdraw)).toBe(12)
}, 120_000)

test('a publisher that sends again is found out by the same kills on the same network', async () => {
  // How many depends on the machine's speed at this size; the full run asks for a fifth.
  const { counts } = await runNaive(options)
  expect(counts.doubled).toBeGreaterThan(0)
}, 120_000)
