/** What a restore refuses, and that it then leaves nothing behind. */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { acquireLock } from '#postgres/lock'
import { DATA } from '#server/backup/contents'
import { restoreBackup } from '#server/backup/restore'
import { newSeal, sealed } from '#server/backup/sealing'
import { secretKeys } from '#server/secret-key'
import { BIG_PART, CHEAP, SMALL_AT, smallBackup } from '#test/support/backup/small'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const place = { config: readConfig({}), log: createLog('silent') }
const folder = use(temporaryFolder)
let made = 0
const fresh = (ending = ''): string => join(folder.path, `${++made}${ending}`)

const refusalOf = (from: string, home: string, passphrase?: string): Promise<string> =>
  restoreBackup(place, { from, home, passphrase }).then(
    () => 'it was restored',
    (cause: Error) => cause.message,
  )

test('a backup becomes a home, with a note of its time that only its user can read', async () => {
  const [from, home] = [fresh('.tar.zst'), join(fresh(), 'below')]
  await smallBackup(from, { passphrase: 'words' })
  const { restored_at, version } = await restoreBackup(place, { from, home, passphrase: 'words' })
  expect(readdirSync(home).sort()).toEqual(['postgres', 'restored.json', 'secret.key'])
  expect(JSON.parse(readFileSync(join(home, 'restored.json'), 'utf8'))).toEqual({
    backup_at: SMALL_AT,
    restored_at,
    version,
  })
  for (const name of ['restored.json', 'secret.key', 'postgres/password'])
    expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600])
  expect(statSync(join(home, DATA)).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(home, BIG_PART)).length).toBe(700_001)
  expect(readFileSync(join(home, 'postgres/password'), 'utf8')).toBe('password')
  expect(await refusalOf(from, home, 'words')).toContain('is the home of a deployment already')
})

test('the old key of a rotation comes back beside the new one, and a start knows both', async () => {
  const [from, home] = [fresh(), fresh()]
  const [secret, old] = ['n', 'o'].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  await smallBackup(from, { secret: `${secret}\n`, old: `${old}\n` })
  await restoreBackup(place, { from, home, passphrase: undefined })
  const known = await secretKeys(readConfig({ TENDRIL_HOME: home }))
  expect(known.map(({ bytes }) => bytes.toString('base64'))).toEqual([secret!, old!])
  expect(statSync(join(home, 'secret-next.key')).mode & 0o777).toBe(0o600)
})

test('an empty folder that exists is filled', async () => {
  const [from, home] = [fresh(), fresh()]
  await smallBackup(from)
  mkdirSync(home)
  expect(await refusalOf(from, home)).toBe('it was restored')
})

test('what cannot be restored leaves no home', async () => {
  const later = [{ name: 'sql/999999-later.sql', hash: 'of it' }]
  for (const [head, reason] of [
    [{ migrations: later }, 'sql/999999-later.sql'],
    [{ postgres: 99 }, 'has the files of Postgres 99, and this program has Postgres'],
    [{ postgres: 99 }, 'back up with --logical by a program that comes with Postgres 99'],
    [{ room: 2 ** 52 }, 'the backup needs'],
  ] as const) {
    const [from, home] = [fresh(), fresh()]
    await smallBackup(from, {
      head: { ...head, ...('migrations' in head ? { migrations: later } : {}) },
    })
    expect(await refusalOf(from, home)).toContain(reason)
    expect(existsSync(home)).toBe(false)
  }
})

test('a damaged backup leaves the folder as it was, and names the damaged file', async () => {
  const [from, home] = [fresh(), fresh()]
  await smallBackup(from)
  writeFileSync(join(from, BIG_PART), 'something else')
  mkdirSync(home)
  writeFileSync(join(home, 'note.txt'), 'mine')
  expect(await refusalOf(from, home)).toContain(`${BIG_PART} of the backup was altered`)
  expect(readdirSync(home)).toEqual(['note.txt'])
})

test('a home in use is refused, and of two restores at once one', async () => {
  const [from, home] = [fresh('.tar.zst'), fresh()]
  await smallBackup(from)
  mkdirSync(home)
  {
    using _ = acquireLock(join(home, 'server.lock'))
    expect(await refusalOf(from, home)).toContain(`process ${process.pid} already serves`)
  }
  const both = await Promise.all([refusalOf(from, home), refusalOf(from, home)])
  expect(both.filter((one) => one === 'it was restored').length).toBe(1)
  expect(readdirSync(home).sort()).toEqual(['postgres', 'restored.json', 'secret.key'])
})

test('a part that no home has is refused', async () => {
  for (const path of ['server.lock', `${DATA}/tablespace_map`, `${DATA}/postmaster.pid`]) {
    const [from, home] = [fresh(), fresh()]
    await smallBackup(from, { more: { [path]: 'x' } })
    expect(await refusalOf(from, home)).toBe(`${path} is in the backup, but is not part of a home`)
    expect(existsSync(home)).toBe(false)
  }
})

test('a backup that is cut off, encrypted twice, or not what it says leaves no home', async () => {
  const [whole, shut] = [fresh('.tar.zst'), fresh('.tar.zst')]
  await smallBackup(whole)
  await smallBackup(shut, { passphrase: 'words' })
  const [cut, twice, long] = [fresh('.tar.zst'), fresh('.tar.zst'), fresh('.tar.zst')]
  const bytes = readFileSync(whole)
  writeFileSync(cut, bytes.subarray(0, bytes.length - 40))
  const again = sealed(Bun.file(shut).stream(), await newSeal('words', CHEAP), '')
  writeFileSync(twice, Buffer.concat(await Array.fromAsync(again)))
  await smallBackup(long, { secret: 'k'.repeat(100_000) })
  for (const [from, passphrase, reason] of [
    [cut, undefined, 'is damaged or cut off'],
    [twice, 'words', 'is encrypted twice'],
    [long, undefined, 'secret.key of the backup is too long'],
  ] as const) {
    const home = fresh()
    expect(await refusalOf(from, home, passphrase)).toContain(reason)
    expect(existsSync(home)).toBe(false)
  }
})
