/** A short seeded run of the harness of the same name. What took how long is the harness's to judge, on a machine of its own. */
import { expect, test } from 'bun:test'
import { noNamespaces } from './namespaces.ts'
import { runOwnership } from './ownership.harness.ts'
import type { Kind } from './ownership-rounds.ts'

const check = async (seed: number, ...rounds: Kind[]): Promise<void> => {
  const { broken, counts } = await runOwnership({ servers: 2, tenants: 6, seed, holdMs: 0, rounds })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ lost: 0, doubled: 0, overlapping: 0, unfenced: 0, acknowledged: counts.commands! })
  expect(Number(counts.takeovers)).toBeGreaterThan(0)
}

test('a server killed under load: the other serves every workspace, nothing is lost or done twice', () => check(1, 'kill'))

test('what a server said to the database while it was cut off arrives after its workspaces are taken: it changes nothing; nor does one counted out by mistake', () =>
  check(2, 'slow', 'outvoted'))

test.skipIf((await noNamespaces()) !== undefined)(
  'a server whose cable to the database is pulled: it refuses its clients until the other serves its workspaces, and joins again when it is back',
  () => check(3, 'netns_database'),
)
