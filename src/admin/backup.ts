/** `tendril admin backup …`: copies of a deployment. */
import { Writable } from 'node:stream'
import { fail } from '#kernel/errors'
import { checkBackup, drain } from '#server/backup/check'
import {
  bytesOf,
  HEAD,
  OLD_SECRET,
  SECRET,
  SMALL_PART_BYTES,
  wholePart,
} from '#server/backup/contents'
import { USUAL_MB_PER_S } from '#server/backup/order'
import { readPassphrase } from '#server/backup/passphrase'
import { readParts } from '#server/backup/reading'
import { takeBackup } from '#server/backup/take'
import { type AdminGroup, optional, toggle } from './command.ts'
import { type AdminContext, type Flags, text } from './flags.ts'

/** Stands for standard output or input. */
const STREAM = '-'

export const passphraseFlag = { 'passphrase-file': optional('FILE') }

/** The passphrase that the flag names the file of. */
export const passphraseOf = (flags: Flags): Promise<string | undefined> =>
  flags['passphrase-file'] === undefined
    ? Promise.resolve(undefined)
    : readPassphrase(text(flags, 'passphrase-file'))

export const originOf = (from: string): string | AsyncIterable<Uint8Array> =>
  from === STREAM ? Bun.stdin.stream() : from

/** Waits for whoever reads it. Node's own stream for a file fails on a pipe that is full. */
const standardOutput = (): Writable => {
  const sink = Bun.stdout.writer()
  return new Writable({
    write(chunk, _, done) {
      const written = async (): Promise<void> => {
        await sink.write(chunk)
        await sink.flush()
      }
      written().then(() => done(), done)
    },
  })
}

const MOST_MB_PER_S = 100_000

const rateOf = (flags: Flags): number => {
  if (flags['mb-per-second'] === undefined) return USUAL_MB_PER_S
  const rate = Number(text(flags, 'mb-per-second'))
  return rate > 0 && rate <= MOST_MB_PER_S
    ? rate
    : fail('invalid_input', `--mb-per-second must be a number above 0: ${flags['mb-per-second']}`)
}

const OPEN_KEY =
  'the backup is not encrypted, so whoever can read it has the secret key: guard it like a password, or encrypt it with --passphrase-file'

const take = async (place: AdminContext, flags: Flags, to: string): Promise<object | undefined> => {
  const mbPerSecond = rateOf(flags)
  const passphrase = await passphraseOf(flags)
  const isStream = to === STREAM
  if (isStream && process.stdout.isTTY)
    fail('invalid_input', 'a backup cannot be written to a terminal: redirect standard output')
  if (passphrase === undefined) place.err(`tendril admin: ${OPEN_KEY}`)
  const order = { to: isStream ? standardOutput() : to, passphrase, mbPerSecond }
  const taken = await takeBackup(place, order, { logical: flags.logical === true })
  const said = { backup: to, ...taken }
  if (!isStream) return said
  // Standard output is the backup itself.
  place.err(JSON.stringify(said))
  return undefined
}

const verify = async (flags: Flags, from: string): Promise<object> => {
  const { head, manifest } = await checkBackup(originOf(from), await passphraseOf(flags))
  const { kind, version, deployment, postgres, secret_key, old_secret_key, files } = head
  return {
    backup: from,
    verified: true,
    at: manifest.at,
    kind,
    version,
    deployment,
    postgres,
    secret_key_fingerprint: secret_key,
    ...(old_secret_key !== undefined && { old_secret_key_fingerprint: old_secret_key }),
    encrypted: flags['passphrase-file'] !== undefined,
    files: manifest.files.length,
    bytes: bytesOf(manifest.files),
    stored_files: files,
  }
}

const KEYS: Record<string, string> = { [SECRET]: 'secret_key', [OLD_SECRET]: 'old_secret_key' }

/** Stops reading after the keys. */
const printKey = async (flags: Flags, from: string): Promise<object> => {
  const keys: Record<string, string> = {}
  for await (const { path, bytes } of readParts(originOf(from), await passphraseOf(flags))) {
    const name = KEYS[path]
    if (name !== undefined)
      keys[name] = String(await wholePart(path, bytes, SMALL_PART_BYTES)).trim()
    else if (path === HEAD) await drain(bytes)
    else break
  }
  return KEYS[SECRET]! in keys ? keys : fail('invalid_input', 'there is no secret key in it')
}

export const backupGroup: AdminGroup = {
  name: 'backup',
  about: 'backups, which are made while the server runs',
  commands: {
    '': {
      about: `Back up to a new folder, to a file that ends in .tar.zst, or with - to standard output`,
      operands: ['TO'],
      flags: { logical: toggle, ...passphraseFlag, 'mb-per-second': optional('N') },
      run: (place, flags, [to = '']) => take(place, flags, to),
    },
    verify: {
      about: 'Read all of a backup, and say what is missing or altered in it',
      operands: ['FROM'],
      flags: passphraseFlag,
      run: (_, flags, [from = '']) => verify(flags, from),
    },
    key: {
      about:
        'Print the secret key that a backup has, for TENDRIL_SECRET_KEY, and during a rotation the old one',
      operands: ['FROM'],
      flags: passphraseFlag,
      run: (_, flags, [from = '']) => printKey(flags, from),
    },
  },
}
