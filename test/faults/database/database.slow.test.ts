/**
 * A short seeded run of the harness of the same name. The harness alone judges durations, on a
 * machine of its own.
 */
import { expect, test } from 'bun:test'
import { runDatabase } from './database.harness.ts'
import { noSmallDisk } from './small-disk.ts'

test('while a database refuses or cuts every connection, a server answers 503, and afterwards serves again without a restart or a loss', async () => {
  const { broken, counts } = await runDatabase({
    tenants: 6,
    clients: 3,
    seed: 1,
    awayMs: 2_000,
    rounds: ['refused', 'reset'],
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    lost: 0,
    doubled: 0,
    unanswered: 0,
    acknowledged: counts.commands!,
  })
  expect(Number(counts.unavailable)).toBeGreaterThan(0)
})

test('after a network has dropped everything for five seconds, nothing waits for the old connections', async () => {
  const { broken, counts } = await runDatabase({
    tenants: 3,
    clients: 8,
    seed: 4,
    awayMs: 5_000,
    rounds: ['stranded'],
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    lost: 0,
    doubled: 0,
    unanswered: 0,
    acknowledged: counts.commands!,
  })
})

test('while a database is silent for five seconds, queued commands are answered, and none is lost', async () => {
  const { broken, counts } = await runDatabase({
    tenants: 3,
    clients: 8,
    seed: 2,
    awayMs: 5_000,
    rounds: ['silent'],
  })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({
    lost: 0,
    doubled: 0,
    unanswered: 0,
    acknowledged: counts.commands!,
  })
})

test.skipIf((await noSmallDisk()) !== undefined)(
  'while the disk is full for tables, and then for the log, which ends the database, a server answers 503, reads while it can, and recovers by itself',
  async () => {
    const { broken, counts } = await runDatabase({
      tenants: 3,
      clients: 2,
      seed: 3,
      awayMs: 1_500,
      rounds: ['disk', 'wal'],
    })
    expect(broken).toEqual([])
    expect(counts).toMatchObject({
      lost: 0,
      doubled: 0,
      unanswered: 0,
      acknowledged: counts.commands!,
    })
    expect(Number(counts.database_deaths)).toBeGreaterThan(0)
  },
)
