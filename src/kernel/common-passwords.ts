/**
 * Passwords that so many people have that they are tried first: 1,557 of ten characters or more, the 10,000 most common of all
 * among them. Kept as hashes of 32 bits: of passwords that are not common, one in 2.8 million is taken for one that is.
 */
import { createHash } from 'node:crypto'
import packed from './common-passwords.json'

/** By case and by how accents are written, common passwords do not become uncommon. */
export const commonHash = (password: string): number =>
  createHash('sha256').update(password.normalize('NFC').toLowerCase()).digest().readUInt32BE(0)

let known: Set<number> | undefined

const read = (): Set<number> => {
  const bytes = Buffer.from(packed.hashes, 'base64')
  return new Set(Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4)))
}

export const isCommonPassword = (password: string): boolean => {
  known ??= read()
  return known.has(commonHash(password))
}
