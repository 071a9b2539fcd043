/**
 * A short seeded run of the harness of the same name. The harness alone judges durations, on a
 * machine of its own.
 */
import { expect, test } from 'bun:test'
import { noNamespaces } from '../namespaces.ts'
import { runOwnership } from './ownership.harness.ts'
import type { Kind } from './rounds.ts'

const check = async (seed: number, ...rounds: Kind[]): Promise<void> => {
  const { broken, counts } = await runOwnership({ servers: 2, tenants: 6, seed, holdMs: 0, rounds })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    lost: 0,
    doubled: 0,
    overlapping: 0,
    unfenced: 0,
    acknowledged: counts.commands!,
  })
  expect(Number(counts.takeovers)).toBeGreaterThan(0)
}

test('after a server is killed under load, the other serves every workspace, and nothing is lost or doubled', () =>
  check(1, 'kill'))

test('a server that was cut off, or counted out by mistake, changes nothing once its workspaces are taken, even when its statements arrive late', () =>
  check(2, 'slow', 'outvoted'))

test.skipIf((await noNamespaces()) !== undefined)(
  'a server that loses the cable to its database refuses its clients until another serves its workspaces, and rejoins when it is back',
  () => check(3, 'netns_database'),
)
