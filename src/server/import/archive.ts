/**
 * Reads the archive of a workspace, in whichever form it is. It may come from anybody: its parts
 * are bounded in number and size, and have the names that they can have, or nothing of it is taken.
 */
import { createReadStream } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { AppError, fail } from '#kernel/errors'
import { asZstd, CHUNK_BYTES } from '../backup/zstd.ts'
import { readTar, type TarFile } from './tar.ts'

/** The most parts, and the most bytes of all of them: more than a workspace has. */
const MOST_PARTS = 200_000
const MOST_BYTES = 128 * 2 ** 30
/**
 * The most bytes of records, which fill the disk of the database. No plan bounds posts, metrics and
 * earlier texts: this is 40 KB for each of 100,000 items.
 */
const MOST_OF_RECORDS = 4 * 2 ** 30
/** The most bytes of one part, and of the padding that programs put behind the last one. */
const MOST_OF_PART = 128 * 2 ** 20
const MOST_PADDING = 2 ** 20

const HEAD = 'tenant.json'
const LAST = ['listing.json', 'seal.json']
const RECORDS = /^records\/\d{6}\.ndjson$/
const FILE = /^files\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** In this order the parts come. */
const rankOf = (path: string): number => {
  if (path === HEAD) return 0
  if (RECORDS.test(path)) return 1
  if (FILE.test(path)) return 2
  const last = LAST.indexOf(path)
  return last === -1
    ? fail('invalid_input', `the archive has a part with a strange name: ${shown(path)}`)
    : 3 + last
}

const shown = (path: string): string => JSON.stringify(path.slice(0, 200))

const CLOSED = 'the archive cannot be read'

const refuseRead = (cause: unknown): never => {
  if (cause instanceof AppError) throw cause
  throw new AppError('invalid_input', `${CLOSED}: ${(cause as Error).message}`, { cause })
}

async function* packed(
  source: Readable,
  compressed: AsyncIterable<Uint8Array>,
): AsyncGenerator<TarFile> {
  const inflated = createZstdDecompress({ chunkSize: CHUNK_BYTES })
  let broken: unknown
  const flow = pipeline(Readable.from(compressed, { objectMode: false }), inflated).catch(
    (cause: unknown) => {
      broken = cause
    },
  )
  try {
    yield* readTar(inflated)
    let padding = 0
    for await (const { length } of inflated as AsyncIterable<Uint8Array>) {
      padding += length
      if (padding > MOST_PADDING) fail('invalid_input', 'the archive goes on after its end')
    }
    await flow
    if (broken !== undefined) throw broken
  } catch (cause) {
    refuseRead(cause instanceof AppError ? cause : (broken ?? cause))
  } finally {
    inflated.destroy()
    source.destroy()
    await flow
  }
}

const filesIn = async (root: string, folder: string): Promise<string[]> => {
  const paths: string[] = []
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory() && folder === '') paths.push(...(await filesIn(root, path)))
    else if (entry.isFile()) paths.push(path)
    else fail('invalid_input', `${shown(path)} of the archive is not a plain file`)
    if (paths.length > MOST_PARTS) fail('invalid_input', 'the archive has too many parts')
  }
  return paths
}

async function* unpacked(root: string): AsyncGenerator<TarFile> {
  const paths = (await filesIn(root, '')).map((path) => ({ path, rank: rankOf(path) }))
  paths.sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1))
  for (const { path } of paths) {
    const file = join(root, path)
    const { size } = await lstat(file)
    yield { path, size, bytes: createReadStream(file, { highWaterMark: CHUNK_BYTES }) }
  }
}

const openArchive = async (from: string): Promise<AsyncGenerator<TarFile>> => {
  const state = await stat(from).catch((cause: Error) =>
    fail('not_found', `${CLOSED}: ${cause.message}`),
  )
  if (state.isDirectory()) return unpacked(from)
  if (state.isFile()) {
    const source = createReadStream(from, { highWaterMark: CHUNK_BYTES })
    const compressed = await asZstd(source).catch(refuseRead)
    if (compressed) return packed(source, compressed)
    source.destroy()
  }
  return fail(
    'invalid_input',
    `${from} is not an archive of a workspace: give the file or folder of admin tenant export`,
  )
}

/** The parts in their order, each at most once. Throws where there is anything else. */
export async function* archiveParts(from: string): AsyncGenerator<TarFile> {
  const seen = new Set<string>()
  let [rank, bytes, records] = [0, 0, 0]
  for await (const part of await openArchive(from)) {
    const next = rankOf(part.path)
    if (next < rank)
      fail(
        'invalid_input',
        `${part.path} of the archive is out of order; unpack it, and give the folder`,
      )
    if (seen.has(part.path)) fail('invalid_input', `the archive has ${part.path} twice`)
    seen.add(part.path)
    rank = next
    bytes += part.size
    if (RECORDS.test(part.path)) records += part.size
    if (
      seen.size > MOST_PARTS ||
      bytes > MOST_BYTES ||
      records > MOST_OF_RECORDS ||
      part.size > MOST_OF_PART
    )
      fail('invalid_input', 'the archive is larger than any workspace')
    yield part
  }
}

/** The text of a small part. */
export const textOfPart = async ({ path, size, bytes }: TarFile, most: number): Promise<string> => {
  if (size > most) fail('invalid_input', `${path} of the archive has more than ${most} bytes`)
  const whole = Buffer.concat(await Array.fromAsync(bytes))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(whole)
  } catch {
    return fail('invalid_input', `${path} of the archive is not valid UTF-8`)
  }
}

/** The longest line of a real export is a document of a MiB, each of whose bytes may be escaped. */
export const LONGEST_LINE = 16 * 2 ** 20

/** The lines of a part. At most one of them is in memory. */
export async function* archiveLines({ path, bytes }: TarFile): AsyncGenerator<string> {
  let held: Uint8Array[] = []
  let length = 0
  let number = 1
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const line = (): string => {
    try {
      return decoder.decode(Buffer.concat(held))
    } catch {
      return fail('invalid_input', `line ${number} of ${path} is not valid UTF-8`)
    }
  }
  const hold = (piece: Uint8Array): void => {
    length += piece.length
    if (length > LONGEST_LINE)
      fail('invalid_input', `line ${number} of ${path} has more than ${LONGEST_LINE} bytes`)
    if (piece.length > 0) held.push(piece)
  }
  for await (const chunk of bytes) {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      hold(chunk.subarray(from, at))
      yield line()
      ;[held, length, from] = [[], 0, at + 1]
      number++
    }
    // A copy, since the stream may use its memory again.
    hold(Uint8Array.from(chunk.subarray(from)))
  }
  if (length > 0) fail('invalid_input', `the last line of ${path} is cut off`)
}
