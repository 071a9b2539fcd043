/** Which files of a data folder a copy has. */
import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataFiles } from '#postgres/data-files'
import { sizeOfData } from '#server/backup/data-copy'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)
const names = async () => (await Array.fromAsync(dataFiles(folder.path))).map(({ path }) => path)

test('what only the running server needs is left out, and what a copy would lack is refused', async () => {
  const at = (path: string) => join(folder.path, path)
  for (const path of ['global', 'pg_notify', 'pg_tblspc']) mkdirSync(at(path))
  for (const path of ['global/pg_control', 'pg_notify/0000', 'postmaster.pid', 'standby.signal'])
    writeFileSync(at(path), 'x')
  // The log on a disk of its own.
  symlinkSync('/tmp', at('pg_wal'))
  const whole = ['global', 'pg_notify', 'pg_tblspc', 'pg_wal/archive_status', 'pg_wal/summaries']
  expect(await names()).toEqual([...whole, 'global/pg_control'])
  for (const path of ['pg_tblspc/16384', 'postgresql.conf']) {
    symlinkSync('/tmp', at(path))
    await expect(names()).rejects.toThrow(`${JSON.stringify(path)} in the data folder is a link`)
    rmSync(at(path))
  }
  writeFileSync(at('my file'), '')
  await expect(sizeOfData(folder.path)).rejects.toThrow(
    '"postgres/data/my file" cannot be in a backup',
  )
})
