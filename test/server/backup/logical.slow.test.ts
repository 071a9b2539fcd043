/** Logical backups where the owner of the tables is no superuser, and restored as another kind. */

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { findEmbedded } from '#postgres/start'
import { restoreBackup } from '#server/backup/restore'
import { secretKeys } from '#server/secret-key'
import { checkCanary } from '#store/engine/canary'
import { withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import {
  everythingIn,
  fillTables,
  noted,
  placeOn,
  takeRows,
  withOwner,
} from '#test/support/backup/logical'
import { TEST_SECRET } from '#test/support/database/db'
import { start } from '#test/support/database/embedded'
import { managedDb } from '#test/support/database/managed'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)
const managed = use(managedDb)
const log = createLog('silent')
const [key, old] = [secretKeyOf(TEST_SECRET), secretKeyOf(Buffer.alloc(32, 'old'))]
const both = { TENDRIL_SECRET_KEY_NEXT: old.bytes.toString('base64') }

test('an owner that is no superuser needs BYPASSRLS for a backup, and nothing for a restore', async () => {
  const { options, root } = managed
  await migrate(options, log)
  await checkCanary(options, [key])
  await fillTables(await withLogins(options, key, log), root)
  // In the middle of a rotation.
  await withOwner(
    root,
    (sql) => sql`insert into secret_key (fingerprint, state)
      values (${key.fingerprint}, 'new'), (${old.fingerprint}, 'old')`,
  )
  const [home, to] = [join(folder.path, 'home'), join(folder.path, 'rows.tar.zst')]
  await expect(takeRows(options, home, to, both)).rejects.toThrow('alter role plain bypassrls')
  expect(existsSync(to)).toBe(false)
  await withOwner(root, (sql) => sql`alter role plain bypassrls`)
  const { at } = await takeRows(options, home, to, both)
  await withOwner(root, async (sql) => {
    await sql`alter role plain nobypassrls`
    await sql`create database again owner plain`
  })
  const [again, original] = [{ ...options, database: 'again' }, await everythingIn(root)]
  const restore = (env: object) =>
    restoreBackup(placeOn(again, home, env), { from: to, passphrase: undefined })
  await expect(restore({})).rejects.toThrow('and during a rotation one for TENDRIL_SECRET_KEY_NEXT')
  await restore(both)
  expect(await everythingIn({ ...root, database: 'again' })).toEqual(noted(original, at))
  // The same rows as a home with a database of its own.
  const made = join(folder.path, 'made')
  const place = { config: readConfig({ TENDRIL_HOME: made }), log }
  await restoreBackup(place, { from: to, passphrase: undefined })
  await using _ = await start(made)
  const embedded = (await findEmbedded(made))!
  expect(await everythingIn(embedded)).toEqual(original)
  // A server needs both keys, and has them.
  const { newest, accepted } = await checkCanary(embedded, await secretKeys(place.config))
  expect([newest, accepted]).toEqual([key, [key, old]])
}, 120_000)
