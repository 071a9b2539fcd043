/**
 * The keys of records. A key is a TID: 53 bits of microseconds and 10 bits that tell clocks apart,
 * as 13 characters that sort by time. Ours has the minute of an approval; all other bits come from
 * a hash, so that the same approval has the same key wherever it is sent from.
 */
import { createHash } from 'node:crypto'
import type { SentApproval } from '../network.ts'

const LETTERS = '234567abcdefghijklmnopqrstuvwxyz'
const LENGTH = 13
const BITS_EACH = 5n
const CLOCK_BITS = 10n
const MINUTE_MS = 60_000
const MINUTE = 60_000_000n

/** How many keys are tried while others' records stand under the first. */
export const MOST_KEYS = 3

const encode = (value: bigint): string =>
  Array.from(
    { length: LENGTH },
    (_, place) => LETTERS[Number((value >> (BITS_EACH * BigInt(LENGTH - 1 - place))) & 31n)],
  ).join('')

const decode = (key: string): bigint =>
  [...key].reduce((value, letter) => (value << BITS_EACH) | BigInt(LETTERS.indexOf(letter)), 0n)

const keyAt = (minute: bigint, digest: Buffer): string => {
  const within = digest.readBigUInt64BE(0) % MINUTE
  const clock = BigInt(digest.readUInt16BE(8)) & ((1n << CLOCK_BITS) - 1n)
  return encode(((minute * MINUTE + within) << CLOCK_BITS) | clock)
}

export const tidOf = ({ at, digest }: SentApproval): string =>
  keyAt(BigInt(Math.floor(at.getTime() / MINUTE_MS)), digest)

/** The key itself for 0; then others in the same minute, always the same ones. */
export const nthKey = (key: string, n: number): string => {
  if (n === 0) return key
  const minute = (decode(key) >> CLOCK_BITS) / MINUTE
  return keyAt(minute, createHash('sha256').update(`${key}/${n}`).digest())
}
