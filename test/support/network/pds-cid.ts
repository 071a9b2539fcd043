/** Content identifiers as a PDS computes them: of a record's DAG-CBOR, by SHA-256; and TIDs. */
import { createHash } from 'node:crypto'

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const SORTABLE = '234567abcdefghijklmnopqrstuvwxyz'

const base32 = (bytes: Uint8Array): string => {
  let [bits, held, text] = [0, 0, '']
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + BASE32[(held << (5 - bits)) & 31] : text
}

const head = (major: number, size: number): Buffer => {
  const type = major << 5
  if (size < 24) return Buffer.from([type | size])
  if (size < 2 ** 8) return Buffer.from([type | 24, size])
  const width = size < 2 ** 16 ? 2 : size < 2 ** 32 ? 4 : 8
  const bytes = Buffer.alloc(9)
  bytes.writeBigUInt64BE(BigInt(size), 1)
  return Buffer.concat([
    Buffer.from([type | (width === 2 ? 25 : width === 4 ? 26 : 27)]),
    bytes.subarray(9 - width),
  ])
}

const cbor = (value: unknown): Buffer => {
  if (value === null) return Buffer.from([0xf6])
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4])
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([head(3, bytes.length), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  const pairs = Object.entries(value as object).map(([key, of]) => [cbor(key), cbor(of)] as const)
  // The head holds the length, so this order is by length first.
  pairs.sort(([one], [other]) => Buffer.compare(one, other))
  return Buffer.concat([head(5, pairs.length), ...pairs.flat()])
}

/** Equal values, in whatever order their keys come, have equal ones. */
export const cidOf = (value: unknown): string => {
  const digest = createHash('sha256').update(cbor(value)).digest()
  return `b${base32(Buffer.concat([Buffer.from([1, 0x71, 0x12, 32]), digest]))}`
}

/** `count` in place of a random clock id keeps those of one millisecond apart, and in order. */
export const tidAt = (ms: number, count: number): string => {
  let [rest, text] = [((BigInt(ms) * 1_000n) << 10n) + BigInt(count), '']
  for (let nth = 0; nth < 13; nth += 1, rest >>= 5n) text = SORTABLE[Number(rest & 31n)] + text
  return text
}

/** Random letters as DIDs and app passwords have them. */
export const base32Letters = (count: number): string =>
  base32(crypto.getRandomValues(new Uint8Array(count))).slice(0, count)
