/** Reads the parts of a backup in their order, whatever form it has. Trusts nothing of it. */
import { createReadStream } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import { AppError, fail } from '#kernel/errors'
import {
  COUNTS,
  FINISHED,
  HEAD,
  MANIFEST,
  OLD_SECRET,
  requirePlainPath,
  SECRET,
  TABLES_LIST,
} from './contents.ts'
import { SEALED_HEAD_BYTES, SEALED_MAGIC, Unsealing } from './sealing.ts'
import { asZstd, CHUNK_BYTES, joined, split } from './zstd.ts'

/** A part of a backup. The bytes of a file must be read before the next part. */
export interface BackupPart {
  path: string
  kind: 'file' | 'folder'
  bytes: AsyncIterable<Uint8Array>
}

/** A path, or a stream for `-`. */
export type BackupOrigin = string | AsyncIterable<Uint8Array>

const TWICE =
  'the backup is encrypted twice: decrypt the outer one with the program that made it, and give what comes out'
const OPEN =
  'the backup is not encrypted, so the passphrase proves nothing about it: leave the passphrase out if that is what you expect'
const SHUT = 'the backup is encrypted: give the file of its passphrase by --passphrase-file'

const beginsWith = (head: Buffer, magic: Buffer): boolean =>
  head.subarray(0, magic.length).equals(magic)

/** The bytes as they were before encryption. */
const opened = async (
  bytes: AsyncIterable<Uint8Array>,
  unsealing: Unsealing | undefined,
  { name, says }: { name: string; says: string },
): Promise<AsyncIterable<Uint8Array>> => {
  const { head, rest } = await split(bytes, SEALED_HEAD_BYTES)
  if (!beginsWith(head, SEALED_MAGIC))
    return unsealing ? fail('invalid_input', OPEN) : joined(head, rest)
  if (!unsealing) return fail('invalid_input', SHUT)
  const inner = await split(unsealing.open(head, rest, { name, says }), SEALED_MAGIC.length)
  if (beginsWith(inner.head, SEALED_MAGIC)) fail('invalid_input', TWICE)
  return joined(inner.head, inner.rest)
}

/** Unpacks a stream of parts. */
class Unpacking {
  readonly #parts = extract()
  readonly #flow: Promise<void>
  #broken: unknown
  #latest = 'its beginning'

  constructor(compressed: AsyncIterable<Uint8Array>) {
    // Told by `#flow`, and by whoever reads.
    this.#parts.on('error', () => {})
    this.#flow = pipeline(
      Readable.from(compressed, { objectMode: false }),
      createZstdDecompress({ chunkSize: CHUNK_BYTES }),
      this.#parts as unknown as NodeJS.WritableStream,
    ).catch((cause) => {
      this.#broken = cause
    })
  }

  /** The failure that came first is said; what it broke behind itself is not. */
  async #refuse(found: unknown): Promise<never> {
    this.#parts.destroy()
    await this.#flow
    const cause = found instanceof AppError ? found : (this.#broken ?? found)
    if (cause instanceof AppError) throw cause
    throw new AppError(
      'invalid_input',
      `the backup is damaged or cut off in or after ${this.#latest}: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }

  async *#bytesOf(part: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
    try {
      yield* part as AsyncIterable<Uint8Array>
    } catch (cause) {
      await this.#refuse(cause)
    }
  }

  async *parts(): AsyncGenerator<BackupPart> {
    try {
      for await (const part of this.#parts) {
        part.on('error', () => {})
        const { type } = part.header
        const name = part.header.name.replace(/\/$/, '')
        requirePlainPath(name, 'backup')
        if (type !== 'file' && type !== 'directory')
          fail('invalid_input', `${name} of the backup is neither a file nor a folder`)
        this.#latest = name
        yield type === 'file'
          ? { path: name, kind: 'file', bytes: this.#bytesOf(part) }
          : { path: name, kind: 'folder', bytes: Readable.from([]) }
      }
      await this.#flow
      if (this.#broken !== undefined) throw this.#broken
    } catch (cause) {
      await this.#refuse(cause)
    }
  }
}

async function* archived(
  bytes: AsyncIterable<Uint8Array>,
  unsealing: Unsealing | undefined,
): AsyncGenerator<BackupPart> {
  const whole = await opened(bytes, unsealing, { name: '', says: 'the backup' })
  const compressed = await asZstd(whole)
  if (!compressed)
    return fail(
      'invalid_input',
      'this is not a backup of Tendril: its first bytes are not those of one',
    )
  yield* new Unpacking(compressed).parts()
}

async function* walk(root: string, folder: string): AsyncGenerator<Omit<BackupPart, 'bytes'>> {
  const names = await readdir(join(root, folder), { withFileTypes: true })
  for (const entry of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    requirePlainPath(path, 'backup')
    if ([...FIRST, ...LAST].includes(path)) continue
    if (!entry.isFile() && !entry.isDirectory())
      fail('invalid_input', `${path} of the backup is neither a file nor a folder`)
    yield { path, kind: entry.isFile() ? 'file' : 'folder' }
    if (entry.isDirectory()) yield* walk(root, path)
  }
}

/** What the other parts need comes before them, and what says that all are there comes last. */
const FIRST = [HEAD, SECRET, OLD_SECRET, TABLES_LIST]
const LAST = [COUNTS, MANIFEST, FINISHED]

async function* inOrder(root: string): AsyncGenerator<Omit<BackupPart, 'bytes'>> {
  for (const path of FIRST) yield { path, kind: 'file' }
  yield* walk(root, '')
  for (const path of LAST) yield { path, kind: 'file' }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function* kept(root: string, unsealing: Unsealing | undefined): AsyncGenerator<BackupPart> {
  if (!(await isThere(join(root, HEAD))))
    fail('invalid_input', `${root} is not a backup of Tendril: it has no ${HEAD}`)
  for await (const { path, kind } of inOrder(root)) {
    const file = join(root, path)
    // Whoever reads the parts says what is missing.
    if (kind === 'file' && !(await isThere(file))) continue
    const bytes = createReadStream(file, { highWaterMark: CHUNK_BYTES })
    yield kind === 'folder'
      ? { path, kind, bytes: Readable.from([]) }
      : { path, kind, bytes: await opened(bytes, unsealing, { name: path, says: path }) }
  }
}

const isFolder = async (path: string): Promise<boolean> =>
  (
    await lstat(path).catch((cause: Error) =>
      fail('not_found', `the backup cannot be read: ${cause.message}`),
    )
  ).isDirectory()

/** The parts of a backup. Throws where it is damaged, with the name of the damaged part. */
export async function* readParts(
  from: BackupOrigin,
  passphrase: string | undefined,
): AsyncGenerator<BackupPart> {
  const unsealing = passphrase === undefined ? undefined : new Unsealing(passphrase)
  yield* typeof from !== 'string'
    ? archived(from, unsealing)
    : (await isFolder(from))
      ? kept(from, unsealing)
      : archived(createReadStream(from, { highWaterMark: CHUNK_BYTES }), unsealing)
}
