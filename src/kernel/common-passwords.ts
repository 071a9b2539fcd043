/**
 * Passwords so common that attackers try them first: 1,557 of ten characters or more, including all
 * of the 10,000 most common ones that are long enough. They are kept as 32-bit hashes, so about one
 * uncommon password in 2.8 million counts as common.
 */
import { createHash } from 'node:crypto'
import packed from './common-passwords.json'

/** A common password stays common when its case, or the encoding of its accents, is changed. */
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
