/** The passphrase of an encrypted backup, and the key that is derived from it. */
import { type Argon2Parameters, argon2, hkdfSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { fail } from '#kernel/errors'

/** What one guess of the passphrase costs (argon2id): 64 MiB and a third of a second. */
export interface Cost {
  memoryKib: number
  passes: number
  lanes: number
}

export const USUAL_COST: Cost = { memoryKib: 65_536, passes: 3, lanes: 4 }
/** A backup that asks for more was not made by us. */
export const MOST_COST: Cost = { memoryKib: 1_048_576, passes: 16, lanes: 16 }

const KEY_BYTES = 32
const LONGEST = 4_096

/** The first line of a file, without the line break. */
export const readPassphrase = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8').catch((cause: Error) =>
    fail('invalid_input', `the file of the passphrase cannot be read: ${cause.message}`),
  )
  const [line = ''] = text.split(/\r?\n/, 1)
  return line !== '' && line.length <= LONGEST
    ? line
    : fail(
        'invalid_input',
        `${path} must have a passphrase of up to ${LONGEST} letters as its first line`,
      )
}

const derive = promisify(
  argon2 as (
    algorithm: string,
    parameters: Argon2Parameters,
    callback: (error: Error | null, key: Buffer) => void,
  ) => void,
)

/** Slow on purpose. The same passphrase, salt and cost give the same key. */
export const passphraseKey = (passphrase: string, salt: Buffer, cost: Cost): Promise<Buffer> =>
  derive('argon2id', {
    message: Buffer.from(passphrase.normalize('NFC')),
    nonce: salt,
    memory: cost.memoryKib,
    passes: cost.passes,
    parallelism: cost.lanes,
    tagLength: KEY_BYTES,
  })

/** A key for one purpose. */
export const keyFor = (key: Buffer, salt: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, purpose, KEY_BYTES))
