/** A short seeded run of the harness of the same name. What took how long is the harness's to judge, on a machine of its own. */
import { expect, test } from 'bun:test'
import { runDatabase } from './database.harness.ts'
import { noSmallDisk } from './small-disk.ts'

test('a database that refuses, or cuts every connection, and is back: 503 meanwhile, nothing lost, nothing hangs, no restart', async () => {
  const { broken, counts } = await runDatabase({ tenants: 6, clients: 3, seed: 1, awayMs: 2_000, rounds: ['refused', 'reset'] })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ lost: 0, doubled: 0, unanswered: 0, acknowledged: counts.commands! })
  expect(Number(counts.unavailable)).toBeGreaterThan(0)
})

test('a network that loses all that was said for five seconds: nobody waits for the connections of before', async () => {
  const { broken, counts } = await runDatabase({ tenants: 3, clients: 8, seed: 4, awayMs: 5_000, rounds: ['stranded'] })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ lost: 0, doubled: 0, unanswered: 0, acknowledged: counts.commands! })
})

test('a database that says nothing for five seconds, with commands waiting in line: each is answered, and none is lost', async () => {
  const { broken, counts } = await runDatabase({ tenants: 3, clients: 8, seed: 2, awayMs: 5_000, rounds: ['silent'] })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ lost: 0, doubled: 0, unanswered: 0, acknowledged: counts.commands! })
})

test.skipIf((await noSmallDisk()) !== undefined)(
  'a disk that is full, for tables and then for the log too, which ends the database: 503, reads go on while it answers, all by itself again',
  async () => {
    const { broken, counts } = await runDatabase({ tenants: 3, clients: 2, seed: 3, awayMs: 1_500, rounds: ['disk', 'wal'] })
    expect(broken).toEqual([])
    expect(counts).toMatchObject({ lost: 0, doubled: 0, unanswered: 0, acknowledged: counts.commands! })
    expect(Number(counts.database_deaths)).toBeGreaterThan(0)
  },
)
