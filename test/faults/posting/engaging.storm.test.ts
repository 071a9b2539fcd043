import { expect, test } from 'bun:test'
import { runEngaging } from './engaging.harness.ts'

// Without `slow`: an account waits ten seconds for the answer to such a one.
const faults = '500=0.05,429=0.03,applied502=0.1,drop=0.08'

test('servers that are killed while they reply, quote, repost and like do nothing twice, and the engagements say the truth', async () => {
  const { counts, broken } = await runEngaging({
    engagements: 48,
    kills: 5,
    workspaces: 4,
    clients: 10,
    seed: 11,
    faults,
    doubts: 'left',
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    kills: 5,
    engagements: 48,
    doubled_replies: 0,
    doubled_quotes: 0,
    doubled_reposts: 0,
    doubled_likes: 0,
  })
  expect(Number(counts.executed)).toBeGreaterThan(0)
}, 120_000)
