/**
 * Passwords so common that attackers try them first: 1,557 of ten characters or more, which include
 * those of the 10,000 most common that are long enough. Kept as 32-bit hashes, so one uncommon
 * password in 2.8 million counts as common.
 */
import { createHash } from 'node:crypto'
import packed from './common-passwords.json'

/** Changing the case, or how accents are encoded, does not make a common password uncommon. */
export const commonHash = (password: string): number =>
  createHash('sha256').update(password.normalize('NFC').toLowerCase()).digest().readUInt32BE(0)

let known: Set<number> | undefined

const read = (): Set<number> => {
  const bytes = Buffer.from(packed.hashes, 'base64')
  return new Set(
    Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4)),
  )
}

export const isCommonPassword = (password: string): boolean => {
  known ??= read()
  return known.has(commonHash(password))
}
