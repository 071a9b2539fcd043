/**
 * Files as blocks of a MiB, each with its SHA-256, so that part of a file can be checked without
 * the rest.
 */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import type { KeptFile } from '#store/app/files'
import type { FileReading, Source } from './files.ts'

export const BLOCK_BYTES = 1_048_576
/** Hex characters of a SHA-256. */
const DIGEST = 64

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Computes the hashes of bytes that come in pieces. */
export class Hashing {
  readonly #whole = createHash('sha256')
  #block = createHash('sha256')
  #digests = ''
  /** How many bytes the current block has so far. */
  #begun = 0
  byteSize = 0

  add(bytes: Uint8Array): void {
    this.#whole.update(bytes)
    this.byteSize += bytes.length
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + BLOCK_BYTES - this.#begun)
      this.#block.update(piece)
      this.#begun += piece.length
      at += piece.length
      if (this.#begun === BLOCK_BYTES) this.#endBlock()
    }
  }

  /** Must be called once, after all bytes. */
  end(): Pick<KeptFile, 'byte_size' | 'sha256' | 'digests'> {
    if (this.#begun > 0) this.#endBlock()
    return { byte_size: this.byteSize, sha256: this.#whole.digest('hex'), digests: this.#digests }
  }

  #endBlock(): void {
    this.#digests += this.#block.digest('hex')
    this.#block = createHash('sha256')
    this.#begun = 0
  }
}

const sizeWords = (bytes: number): string => `${bytes / BLOCK_BYTES} MiB`

export const refuseSize = (most: number): never =>
  fail('payload_too_large', `a file has at most ${sizeWords(most)}`)

/**
 * The bytes in pieces of `size`; the last piece has what is left. Throws `payload_too_large` beyond
 * `most` bytes.
 */
export const splitBytes = (
  source: Source,
  sizes: Sizes,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> =>
  source instanceof Uint8Array ? cut(source, sizes) : gather(source, sizes)

interface Sizes {
  size: number
  most: number
}

function* cut(bytes: Uint8Array, { size, most }: Sizes): Generator<Uint8Array> {
  if (bytes.length > most) refuseSize(most)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function* gather(
  source: AsyncIterable<Uint8Array>,
  { size, most }: Sizes,
): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(size)
  let [filled, total] = [0, 0]
  for await (const bytes of source) {
    total += bytes.length
    if (total > most) refuseSize(most)
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + size - filled)
      piece.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < size) continue
      yield piece
      piece = new Uint8Array(size)
      filled = 0
    }
  }
  if (filled > 0) yield piece.slice(0, filled)
}

/** Whether these bytes match that block's hash. */
export const isBlock = (
  { byte_size, digests }: KeptFile,
  number: number,
  bytes: Uint8Array,
): boolean =>
  bytes.length === Math.min(BLOCK_BYTES, byte_size - number * BLOCK_BYTES) &&
  sha256Of(bytes) === digests.slice(number * DIGEST, (number + 1) * DIGEST)

/**
 * The blocks that hold a range; undefined for an empty file. Throws if the file has no such bytes.
 */
export const spanOf = (
  { byte_size }: KeptFile,
  range: FileReading['range'],
): { first: number; last: number } | undefined => {
  if (byte_size === 0 && !range) return undefined
  const { from, to } = range ?? { from: 0, to: byte_size - 1 }
  if (!(from >= 0 && from <= to && to < byte_size))
    throw new RangeError(`bytes ${from} to ${to} of a file of ${byte_size}`)
  return { first: Math.floor(from / BLOCK_BYTES), last: Math.floor(to / BLOCK_BYTES) }
}

/** The bytes of a block that are within a range. */
export const sliceRange = (
  bytes: Uint8Array,
  number: number,
  range: FileReading['range'],
): Uint8Array =>
  range
    ? bytes.subarray(
        Math.max(0, range.from - number * BLOCK_BYTES),
        range.to + 1 - number * BLOCK_BYTES,
      )
    : bytes
