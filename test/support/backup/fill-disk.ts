/** Backs up more than a folder has room for, in both forms, and prints what comes of each. */

import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { secretKeyOf } from '#kernel/secret'
import { DATA } from '#server/backup/contents'
import { type BackupSource, writeBackup } from '#server/backup/write'

const [, , folder = ''] = process.argv
const MIB = 2 ** 20

const source: BackupSource = {
  kind: 'physical',
  facts: { deployment: crypto.randomUUID(), version: '000124', migrations: [], postgres: 18 },
  keys: { newest: secretKeyOf(Buffer.alloc(32)) },
  room: 0,
  async copy(writing) {
    for (let file = 0; file < 8; file++) await writing.put(`${DATA}/base/${file}`, randomBytes(MIB))
    return new Date()
  },
}

for (const name of ['b.tar.zst', 'b']) {
  const order = { to: join(folder, name), passphrase: undefined, mbPerSecond: 1_000 }
  const said = await writeBackup(readConfig({}), order, source).then(
    () => 'it was made',
    (cause: Error) => cause.message,
  )
  process.stdout.write(`${JSON.stringify({ said, left: readdirSync(folder) })}\n`)
}
