/** Backups of every form, whole, cut off, altered and encrypted. */
import { expect, test } from 'bun:test'
import { createWriteStream, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { backupGroup } from '#admin/backup'
import { checkBackup } from '#server/backup/check'
import { DATA, FINISHED, MANIFEST } from '#server/backup/contents'
import { checkDestination, shelfFor } from '#server/backup/destination'
import { newSeal, sealed } from '#server/backup/sealing'
import { BIG_PART, CHEAP, SMALL_AT, smallBackup } from '#test/support/backup/small'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)
let made = 0
const fresh = (ending = ''): string => join(folder.path, `${++made}${ending}`)

const WORDS = 'correct horse'

const reasonOf = (from: string, passphrase?: string): Promise<string> =>
  checkBackup(from, passphrase).then(
    () => 'nothing is wrong',
    (cause: Error) => cause.message,
  )

test.each([
  ['a folder', '', undefined],
  ['a file', '.tar.zst', undefined],
  ['an encrypted folder', '', WORDS],
  ['an encrypted file', '.tar.zst', WORDS],
])('%s is read as it was written, and nothing else is left', async (_, ending, passphrase) => {
  const to = fresh(ending)
  await smallBackup(to, passphrase === undefined ? {} : { passphrase })
  const { head, manifest } = await checkBackup(to, passphrase)
  expect([head.kind, manifest.at, manifest.files.length]).toEqual(['physical', SMALL_AT, 8])
  const itsParts = `${basename(to)}.part-`
  expect(readdirSync(folder.path).filter((name) => name.startsWith(itsParts))).toEqual([])
})

test('its keys are named by their fingerprints and can be printed, both of them during a rotation', async () => {
  const [alone, both] = [fresh('.tar.zst'), fresh('.tar.zst')]
  await smallBackup(alone, { secret: 'new\n' })
  const head = { secret_key: 'a'.repeat(16), old_secret_key: 'b'.repeat(16) }
  await smallBackup(both, { secret: 'new\n', old: 'old\n', head })
  const run = (name: 'verify' | 'key', from: string) =>
    backupGroup.commands[name]!.run({} as never, {}, [from])
  expect(await run('key', alone)).toEqual({ secret_key: 'new' })
  expect(await run('key', both)).toEqual({ secret_key: 'new', old_secret_key: 'old' })
  expect(await run('verify', alone)).not.toHaveProperty('old_secret_key_fingerprint')
  expect(await run('verify', both)).toMatchObject({
    secret_key_fingerprint: head.secret_key,
    old_secret_key_fingerprint: head.old_secret_key,
  })
})

test('a backup that exists is not overwritten', async () => {
  const to = fresh()
  await smallBackup(to)
  expect(() => checkDestination(to, undefined)).toThrow('exists already')
  await expect(smallBackup(to)).rejects.toThrow()
  expect(await reasonOf(to)).toBe('nothing is wrong')
})

test('a file that was cut off anywhere is refused, and so is one that was never finished', async () => {
  const to = fresh('.tar.zst')
  for (const passphrase of [undefined, WORDS]) {
    rmSync(to, { force: true })
    await smallBackup(to, passphrase === undefined ? {} : { passphrase })
    const whole = readFileSync(to)
    for (const share of [0, 0.1, 0.5, 0.9]) {
      writeFileSync(to, whole.subarray(0, Math.floor(whole.length * share)))
      expect(await reasonOf(to, passphrase)).not.toBe('nothing is wrong')
    }
    writeFileSync(to, whole)
    expect(await reasonOf(to, passphrase)).toBe('nothing is wrong')
  }
})

test('what is wrong in a folder is named', async () => {
  const to = fresh()
  await smallBackup(to)
  const [path, manifest] = [join(to, BIG_PART), join(to, MANIFEST)]
  const whole = readFileSync(path)
  const changed = Buffer.from(whole)
  changed[350_000]! ^= 1
  writeFileSync(path, changed)
  expect(await reasonOf(to)).toBe(`${BIG_PART} of the backup was altered: its SHA-256 is another`)
  writeFileSync(path, whole.subarray(1))
  expect(await reasonOf(to)).toContain(`${BIG_PART} of the backup was altered`)
  rmSync(path)
  expect(await reasonOf(to)).toBe(`${BIG_PART} is missing in the backup`)
  writeFileSync(path, whole)
  writeFileSync(join(to, DATA, 'more'), '')
  expect(await reasonOf(to)).toBe(`${DATA}/more is in the backup, but not in its list`)
  rmSync(join(to, DATA, 'more'))
  const list = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, list.replace(SMALL_AT, '2026-11-02T10:00:05.000Z'))
  expect(await reasonOf(to)).toContain(`${MANIFEST} of the backup was altered`)
  writeFileSync(manifest, list)
  expect(await reasonOf(to)).toBe('nothing is wrong')
  rmSync(join(to, FINISHED))
  expect(await reasonOf(to)).toBe(
    `the backup was not finished, or is cut off: it has no ${FINISHED}`,
  )
})

test('an encrypted backup is refused when any byte of it is altered, or two parts change places', async () => {
  const [file, to] = [fresh('.tar.zst'), fresh()]
  await smallBackup(file, { passphrase: WORDS })
  const whole = readFileSync(file)
  for (const at of [3, 20, 25, 45, 60, 80, Math.floor(whole.length / 2), whole.length - 1]) {
    const changed = Buffer.from(whole)
    changed[at]! ^= 1
    writeFileSync(file, changed)
    expect([at, await reasonOf(file, WORDS)]).not.toEqual([at, 'nothing is wrong'])
  }
  await smallBackup(to, { passphrase: WORDS, more: { [`${DATA}/one`]: '1', [`${DATA}/two`]: '1' } })
  const [one, two] = [join(to, DATA, 'one'), join(to, DATA, 'two')]
  const first = readFileSync(one)
  writeFileSync(one, readFileSync(two))
  writeFileSync(two, first)
  expect(await reasonOf(to, WORDS)).toContain(`${DATA}/one was altered or cut off`)
})

test('a wrong, a missing and a needless passphrase are refused, and so is a second encryption', async () => {
  const [shut, open] = [fresh('.tar.zst'), fresh('.tar.zst')]
  await smallBackup(shut, { passphrase: WORDS })
  await smallBackup(open)
  expect(await reasonOf(shut, 'wrong')).toContain('the passphrase is wrong')
  expect(await reasonOf(shut)).toContain('the backup is encrypted')
  expect(await reasonOf(open, WORDS)).toContain('the backup is not encrypted')
  const twice = fresh('.tar.zst')
  const bytes = sealed(Bun.file(shut).stream(), await newSeal(WORDS, CHEAP), '')
  await Bun.write(twice, Buffer.concat(await Array.fromAsync(bytes)))
  expect(await reasonOf(twice, WORDS)).toContain('the backup is encrypted twice')
})

test('what is no backup is refused, and one of a later format names the reason', async () => {
  const other = fresh('.tar.zst')
  writeFileSync(other, 'something else altogether')
  expect(await reasonOf(other)).toContain('this is not a backup of Tendril')
  expect(await reasonOf(folder.path)).toContain('it has no backup.json')
  expect(await reasonOf(fresh())).toContain('cannot be read')
  const later = fresh()
  await smallBackup(later, { head: { format: 2 } })
  expect(await reasonOf(later)).toContain('made by a newer version of Tendril')
})

test('a path that leads elsewhere, or that a terminal obeys, is refused by readers and writers', async () => {
  for (const path of ['postgres/../../escaped', '/etc/passwd', 'a\u001b[2Jb', 'my file', '']) {
    const to = fresh('.tar.zst')
    const shelf = await shelfFor(to, undefined)
    await shelf.file(path, 1, Readable.from([Buffer.from('x')]))
    await shelf.finish()
    expect(await reasonOf(to)).toContain('a part with a strange name')
    await expect(smallBackup(fresh('.tar.zst'), { more: { [path]: 'x' } })).rejects.toThrow(
      `${JSON.stringify(path)} cannot be in a backup`,
    )
  }
  const strange = fresh()
  await smallBackup(strange, { head: { version: '\u001b[2J' } })
  expect(await reasonOf(strange)).toContain('backup.json of the backup is damaged')
})

test('a full disk ends the backup with its reason', async () => {
  await expect(smallBackup(createWriteStream('/dev/full'))).rejects.toThrow(/ENOSPC|no space/)
})
