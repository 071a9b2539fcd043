/** Short seeded runs of the harnesses that post to Bluesky. */
import { expect, test } from 'bun:test'
import { runBluesky, runNaiveBluesky } from './bluesky.harness.ts'
import { runTokens } from './tokens.harness.ts'

const options = { items: 30, kills: 4, edits: 0, workspaces: 4, clients: 8, seed: 3 }

test('servers that are killed while they post to a PDS that misbehaves post everything that was asked for once, and leave nothing to a person', async () => {
  const { counts, broken } = await runBluesky(options)
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ kills: 4, doubled: 0, missing: 0, in_review: 0, unapproved: 0 })
}, 120_000)

test('a publisher that creates records and sends again is found out by the same PDS', async () => {
  // How many depends on the machine's speed at this size; the full run asks for a tenth.
  const { counts } = await runNaiveBluesky(options)
  expect(counts.doubled).toBeGreaterThan(0)
}, 120_000)

test('accounts whose access ends every two seconds, and whose renewals get lost, lose nothing', async () => {
  const { counts, broken } = await runTokens({
    accounts: 4,
    posts: 10,
    kills: 3,
    clients: 8,
    seed: 3,
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ kills: 3, used_again: 0, lost_accounts: 0, missing: 0 })
}, 120_000)
