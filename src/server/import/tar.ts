/**
 * Reads a tar stream of plain files. An archive may come from anybody, so nothing of it is held in
 * memory but a header, and every form that our own archives lack is refused. `tar-stream`, by which
 * backups are read, takes headers for long names and other sizes without telling of them, so that
 * whoever reads by it cannot end a stream of nothing else.
 */
import { fail } from '#kernel/errors'

export interface TarFile {
  path: string
  size: number
  /** Must be read before the next file. */
  bytes: AsyncIterable<Uint8Array>
}

const BLOCK = 512
const [NAME, SIZE, SUM, TYPE, MAGIC, PREFIX] = [
  [0, 100],
  [124, 136],
  [148, 156],
  [156, 157],
  [257, 262],
  [345, 500],
] as const
/** Ours need none; an archive that was packed anew has a few. */
const MOST_FOLDERS = 100
const [FILE, OLD_FILE, FOLDER] = ['0', '\0', '5']

const refuse = (message: string): never =>
  fail('invalid_input', `${message}; unpack the archive, and give the folder`)

const CUT_OFF = 'the archive is cut off'

/** Takes bytes off a stream in pieces of the wanted sizes. */
class Taking {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]()
  }

  /** At most `most` bytes, as they come; none at the end. */
  async some(most: number): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done) return this.#rest
      this.#rest = value
    }
    const taken = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(taken.length)
    return taken
  }

  /** Exactly a block, or undefined at the end. */
  async block(): Promise<Buffer | undefined> {
    const block = Buffer.alloc(BLOCK)
    for (let filled = 0; filled < BLOCK; ) {
      const piece = await this.some(BLOCK - filled)
      if (piece.length === 0) return filled === 0 ? undefined : fail('invalid_input', CUT_OFF)
      block.set(piece, filled)
      filled += piece.length
    }
    return block
  }
}

const textAt = (header: Buffer, [from, to]: readonly [number, number]): string => {
  const bytes = header.subarray(from, to)
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end === -1 ? undefined : end).toString('latin1')
}

const octalAt = (header: Buffer, place: readonly [number, number]): number => {
  const text = textAt(header, place).trim()
  return /^[0-7]{1,12}$/.test(text)
    ? Number.parseInt(text, 8)
    : refuse('the archive has a header without a size or a sum')
}

const sumOf = (header: Buffer): number =>
  header.reduce((sum, byte, at) => sum + (at >= SUM[0] && at < SUM[1] ? 0x20 : byte), 0)

/** `./records/000001.ndjson` is the same file. */
const pathOf = (header: Buffer): string => {
  if (textAt(header, PREFIX) !== '' && textAt(header, MAGIC) === 'ustar')
    refuse('the archive has a file with a name that is too long')
  return textAt(header, NAME).replace(/^\.\//, '')
}

/** Whatever follows the first empty block is padding. */
const isEnd = (header: Buffer | undefined): boolean =>
  header === undefined || header.every((byte) => byte === 0)

export async function* readTar(stream: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile> {
  const taking = new Taking(stream)
  let folders = 0
  for (let header = await taking.block(); !isEnd(header); header = await taking.block()) {
    if (sumOf(header!) !== octalAt(header!, SUM)) refuse('the archive has a damaged header')
    const [path, size, type] = [pathOf(header!), octalAt(header!, SIZE), textAt(header!, TYPE)]
    if (type === FOLDER) {
      folders += 1
      if (folders > MOST_FOLDERS) refuse('the archive has too many folders')
      continue
    }
    if (type !== FILE && type !== '' && type !== OLD_FILE)
      refuse(`${JSON.stringify(path)} of the archive is not a plain file`)
    let left = size
    const bytes = (async function* () {
      while (left > 0) {
        const piece = await taking.some(left)
        if (piece.length === 0) fail('invalid_input', CUT_OFF)
        left -= piece.length
        yield piece
      }
    })()
    yield { path, size, bytes }
    for await (const _ of bytes);
    for (let padding = (BLOCK - (size % BLOCK)) % BLOCK; padding > 0; )
      padding -= (await taking.some(padding)).length || fail('invalid_input', CUT_OFF)
  }
}
