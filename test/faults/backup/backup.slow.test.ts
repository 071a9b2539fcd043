/** A short seeded run of the harness of the same name. */
import { expect, test } from 'bun:test'
import { runBackup } from './backup.harness.ts'

test('backups of a server under load, one of which is killed, are restored beside it: nothing is sent while held, or twice, and nothing acknowledged is missing', async () => {
  const { broken, counts } = await runBackup({ posts: 20, backups: 2, kills: 1, seed: 1 })
  expect(broken).toEqual([])
  expect(counts).toMatchObject({ backups: 2, sent_while_held: 0, doubled: 0, lost: 0 })
})
