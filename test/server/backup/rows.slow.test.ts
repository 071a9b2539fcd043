/** Backups of the rows of a database, and empty databases that are filled with them. */

import { expect, test } from 'bun:test'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { checkBackup } from '#server/backup/check'
import { COUNTS, rowsPart } from '#server/backup/contents'
import { restoreBackup } from '#server/backup/restore'
import { settleIdentity } from '#server/identity'
import { openSnapshot } from '#store/backup/snapshot'
import { checkCanary } from '#store/engine/canary'
import { readStanding } from '#store/engine/hold'
import { migrate } from '#store/engine/migrate'
import { shippedMigrations } from '#store/engine/migrations'
import { sqlOf } from '#store/engine/sql'
import {
  everythingIn,
  fillTables,
  noted,
  placeOn,
  takeRows,
  withOwner,
} from '#test/support/backup/logical'
import { SMALL_AT, smallBackup } from '#test/support/backup/small'
import { emptyDb, freshDb, TEST_SECRET } from '#test/support/database/db'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const log = createLog('silent')
const folder = use(temporaryFolder)
const source = use(async () => {
  const database = await freshDb()
  await fillTables(database.options)
  return database
})
let made = 0
const fresh = (): string => join(folder.path, String(++made))

const tablesIn = async (target: { options: object }): Promise<unknown> =>
  await withOwner(
    target.options,
    (sql) => sql`select 1 from pg_tables
    where schemaname in ('public', 'sandbox') limit 1`,
  )

test('every row, constraint and sequence comes back, and the time is noted in place of an identity', async () => {
  const [to, home] = [fresh(), fresh()]
  const before = Date.now()
  const { at } = await takeRows(source.options, home, to)
  expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
  expect(Date.parse(at)).toBeGreaterThan(before - 60_000)
  await using target = await emptyDb()
  const place = placeOn(target.options, home)
  await restoreBackup(place, { from: to, passphrase: undefined })
  const original = await everythingIn(source.options)
  expect(await everythingIn(target.options)).toEqual(noted(original, at))
  await expect(restoreBackup(place, { from: to, passphrase: undefined })).rejects.toThrow(
    'the database is not empty',
  )
})

test('a backup of a version that has no place for the note is filled in, and held once it is migrated', async () => {
  const to = fresh()
  const last = shippedMigrations().findIndex(({ name }) => name.includes('-held'))
  const earlier = shippedMigrations().slice(0, last)
  await using old = await emptyDb()
  await migrate(old.options, log, earlier)
  await checkCanary(old.options, [secretKeyOf(TEST_SECRET)])
  const { at } = await takeRows(old.options, fresh(), to)
  await using target = await emptyDb()
  const place = placeOn(target.options, fresh())
  await restoreBackup(place, { from: to, passphrase: undefined })
  await migrate(target.options, log)
  await settleIdentity(place.config, target.options, log)
  await withOwner(target.options, async (sql) => {
    expect(await readStanding(sqlOf(sql))).toMatchObject({ cause: 'restored', as_of: new Date(at) })
  })
})

test('a table that is emptier than it was is refused, and the database stays empty', async () => {
  const to = fresh()
  await takeRows(source.options, fresh(), to)
  // As a dump that row-level security filters would have it: all lists agree, but for the counts.
  const [list, part] = [join(to, 'manifest.json'), join(to, rowsPart('public.item', 0))]
  renameSync(part, `${fresh()}-item`)
  const manifest = JSON.parse(readFileSync(list, 'utf8'))
  manifest.files = manifest.files.filter(({ path }: { path: string }) => !path.includes('.item/'))
  const text = JSON.stringify(manifest)
  writeFileSync(list, text)
  const manifest_sha256 = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  writeFileSync(join(to, 'finished.json'), JSON.stringify({ manifest_sha256 }))
  const reason = 'public.item has 0 rows in the backup, and had 2'
  await expect(checkBackup(to, undefined)).rejects.toThrow(reason)
  await using target = await emptyDb()
  const place = placeOn(target.options, fresh())
  await expect(restoreBackup(place, { from: to, passphrase: undefined })).rejects.toThrow(reason)
  expect(await tablesIn(target)).toEqual([])
})

test('a role that row-level security binds is refused, with what it lacks', async () => {
  await using bound = await freshDb()
  const { options } = bound
  await withOwner(
    options,
    (sql) => sql`alter database ${sql(options.database!)} set role tendril_app`,
  )
  await expect(openSnapshot(options)).rejects.toThrow('the role tendril_app does not see all rows')
})

test('another secret key, a damaged part and files of a home leave the database empty', async () => {
  const [to, files] = [fresh(), fresh()]
  await takeRows(source.options, fresh(), to)
  await smallBackup(files)
  expect((await checkBackup(files, undefined)).manifest.at).toBe(SMALL_AT)
  await using target = await emptyDb()
  const other = { TENDRIL_SECRET_KEY: Buffer.alloc(32, 'other').toString('base64') }
  const restore = (from: string, env = {}) =>
    restoreBackup(placeOn(target.options, fresh(), env), { from, passphrase: undefined })
  await expect(restore(to, other)).rejects.toThrow('TENDRIL_SECRET_KEY must be the key')
  await expect(restore(files)).rejects.toThrow('the files of an embedded database')
  writeFileSync(join(to, COUNTS), readFileSync(join(to, COUNTS), 'utf8').replace('2', '3'))
  await expect(restore(to)).rejects.toThrow(`${COUNTS} of the backup was altered`)
  expect(await tablesIn(target)).toEqual([])
})

test('what no restore could put back is refused by name', async () => {
  await using foreign = await freshDb()
  const { options } = foreign
  await withOwner(options, (sql) => sql`create sequence counting`)
  const reason = 'is not part of Tendril'
  await expect(takeRows(options, fresh(), fresh())).rejects.toThrow(`public.counting ${reason}`)
  await withOwner(options, (sql) => sql`create table "My notes" (id serial)`)
  await expect(takeRows(options, fresh(), fresh())).rejects.toThrow(`public."My notes" ${reason}`)
})

test('of two restores into one database at once one is refused', async () => {
  const to = fresh()
  const { at } = await takeRows(source.options, fresh(), to)
  await using target = await emptyDb()
  const restore = () =>
    restoreBackup(placeOn(target.options, fresh()), { from: to, passphrase: undefined })
  const both = await Promise.allSettled([restore(), restore()])
  const refused = both.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
  expect(refused).toEqual([expect.stringContaining('a backup or a restore of this database runs')])
  const original = await everythingIn(source.options)
  expect(await everythingIn(target.options)).toEqual(noted(original, at))
})

test('tables whose end comes while the client has much to read are backed up as others are', async () => {
  await using large = await freshDb()
  const { options } = large
  for (const rows of [300, 1_000, 3_000, 10_000]) {
    await withOwner(
      options,
      (sql) => sql`insert into tenant (id, name, plan)
        select gen_random_uuid(), repeat('x', 60), 'pro' from generate_series(1, ${rows})`,
    )
    await takeRows(options, fresh(), fresh())
  }
})

test('one backup of a database is made at a time', async () => {
  await using _ = await openSnapshot(source.options)
  await expect(takeRows(source.options, fresh(), fresh())).rejects.toThrow('another backup')
})
