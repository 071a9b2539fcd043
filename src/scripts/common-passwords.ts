/**
 * Packs the list of common passwords for src/kernel/common-passwords.ts:
 * `bun src/scripts/common-passwords.ts`. The source is @zxcvbn-ts/language-common (MIT): 49,233
 * passwords, the most leaked first. Keeps those that are long enough to be accepted, as the first
 * four bytes of their SHA-256. The source list is not shipped.
 */
import { join } from 'node:path'
import { dictionary } from '@zxcvbn-ts/language-common'
import { SHORTEST_PASSWORD } from '#domain/app/password'
import { commonHash } from '#kernel/common-passwords'

const TARGET = join(import.meta.dir, '../kernel/common-passwords.json')

const list = dictionary['passwords-common'] ?? []
const hashes = [
  ...new Set(list.filter(({ length }) => length >= SHORTEST_PASSWORD).map(commonHash)),
].sort((a, b) => a - b)
const bytes = Buffer.alloc(hashes.length * 4)
for (const [index, hash] of hashes.entries()) bytes.writeUInt32BE(hash, index * 4)
await Bun.write(TARGET, `${JSON.stringify({ hashes: bytes.toString('base64') })}\n`)
console.log(
  `${hashes.length} of ${list.length} passwords are long enough to be refused; ${bytes.length} bytes`,
)
