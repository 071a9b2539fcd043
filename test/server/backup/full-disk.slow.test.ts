/** Backups onto a disk that fills up while they are made. */
import { expect, test } from 'bun:test'
import { noSmallDisk } from '#test/faults/database/small-disk'
import { temporaryFolder } from '#test/support/folder'
import { jsonLines } from '#test/support/texts/lines'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)

test.skipIf((await noSmallDisk()) !== undefined)(
  'a disk that fills up ends a backup with its reason, and nothing is left of it',
  () => {
    const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
    const mounting = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    const { stdout, stderr } = Bun.spawnSync([
      ...['unshare', ...user, '--mount', 'sh', '-c', mounting, folder.path],
      ...[process.execPath, 'test/support/backup/fill-disk.ts', folder.path],
    ])
    const said = 'the disk that it is written to is full: what was written is removed again'
    expect([jsonLines(String(stdout)), String(stderr)]).toEqual([
      [
        { said, left: [] },
        { said, left: [] },
      ],
      '',
    ])
  },
)
