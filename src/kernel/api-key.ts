import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from './ids.ts'

const PREFIX = 'ak_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const FORM = /^ak_[0-9A-Za-z]{36}$/

const checksum = (random: string): string => toBase62(crc32(random), CHECKSUM_LENGTH)

/**
 * `ak_`, 30 random base62 characters and 6 characters of checksum. The checksum catches mistyped
 * keys without a database lookup.
 */
export const newApiKey = (): string => {
  const random = randomBase62(RANDOM_LENGTH)
  return PREFIX + random + checksum(random)
}

export const isApiKey = (text: string): boolean => {
  if (!FORM.test(text)) return false
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  return text.endsWith(checksum(random))
}

/** Only this hash of a key is stored. Keys are random enough that a slow hash would add nothing. */
export const hashApiKey = (key: string): Buffer => createHash('sha256').update(key).digest()
