/** The forms that a backup can have: a folder, one file, or standard output. */
import { createWriteStream, existsSync } from 'node:fs'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import { pack as newPack, type Pack } from 'tar-stream'
import { fail } from '#kernel/errors'
import { type Seal, sealed } from './sealing.ts'

/** Where the parts of a backup are put, one after the other. */
export interface BackupShelf {
  folder(path: string): Promise<void>
  /** `bytes` must be exactly `size` bytes. */
  file(path: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Returns when all is on disk, under the name that the operator gave. */
  finish(): Promise<void>
  /** Removes what has been written. */
  discard(): Promise<void>
}

const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]
const CHUNK_BYTES = 262_144
/** Level 3 takes twice the processor time, which the server beside needs. */
const LEVEL = 1

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const codeIn = (cause: unknown): string => String((cause as { code?: unknown } | null)?.code)

/** Somebody else has taken the name since it was found to be free. */
const refuseTaken =
  (to: string) =>
  (cause: unknown): never => {
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(codeIn(cause)))
      fail('invalid_input', `${to} exists already: nothing is overwritten`)
    throw cause
  }

/** Gives a file its name. Unlike a renaming, a link replaces no other file. */
const nameFile = async (part: string, to: string): Promise<void> => {
  try {
    await link(part, to)
    await rm(part)
  } catch (cause) {
    // Some file systems know no links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeIn(cause)))
      refuseTaken(to)(cause)
    await rename(part, to)
  }
}

/** `part` is the name while the backup is made. */
export const folderShelf = async (
  to: string,
  { part, seal }: { part: string; seal: Seal | undefined },
): Promise<BackupShelf> => {
  await mkdir(part, { mode: FOLDER_MODE })
  return {
    folder: async (path) => {
      await mkdir(join(part, path), { recursive: true, mode: FOLDER_MODE })
    },
    file: async (path, _, bytes) => {
      const target = join(part, path)
      await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE })
      const stream = Readable.from(seal ? sealed(bytes, seal, path) : bytes, { objectMode: false })
      await pipeline(
        stream,
        createWriteStream(target, { mode: FILE_MODE, flags: 'wx', flush: true }),
      )
    },
    finish: async () => {
      await rename(part, to).catch(refuseTaken(to))
      await syncFolder(dirname(to))
    },
    discard: () => rm(part, { recursive: true, force: true }),
  }
}

/** The parts as one stream: tar, compressed, and encrypted if there is a seal. */
class Archive {
  readonly #pack: Pack = newPack()
  /** Ends with the stream; rejects when it breaks. */
  readonly #written: Promise<void>

  constructor(out: Writable, seal: Seal | undefined) {
    const compress = createZstdCompress({
      chunkSize: CHUNK_BYTES,
      params: {
        [constants.ZSTD_c_compressionLevel]: LEVEL,
        [constants.ZSTD_c_checksumFlag]: 1,
      },
    })
    const packed = this.#pack as unknown as NodeJS.ReadableStream
    this.#written = seal
      ? pipeline(packed, compress, (bytes) => sealed(bytes as Readable, seal, ''), out)
      : pipeline(packed, compress, out)
    // Whoever writes meets the failure; this only keeps it from being nobody's.
    this.#written.catch(() => {})
    this.#pack.on('error', () => {})
    for (const stream of [compress, out]) stream.on('error', () => {})
  }

  /** What `step` brings. If the stream breaks before, says why. */
  async #unbroken<T>(step: () => Promise<T>): Promise<T> {
    const broken = this.#written.then(() => {
      throw new Error('the archive ended too early')
    })
    broken.catch(() => {})
    try {
      return await Promise.race([step(), broken as Promise<never>])
    } catch (cause) {
      // What the break has broken in its turn may be told first.
      if (this.#pack.destroying) await broken
      throw cause
    }
  }

  #entry(header: { name: string; size?: number; mode: number; type: 'file' | 'directory' }) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const entry = this.#pack.entry(header, (cause) => (cause ? reject(cause) : resolve()))
    promise.catch(() => {})
    entry.on('error', () => {})
    return { entry, done: promise }
  }

  folder(name: string): Promise<void> {
    return this.#unbroken(() => this.#entry({ name, mode: FOLDER_MODE, type: 'directory' }).done)
  }

  file(name: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#unbroken(async () => {
      const { entry, done } = this.#entry({ name, size, mode: FILE_MODE, type: 'file' })
      for await (const chunk of bytes)
        if (!entry.write(chunk)) await new Promise<void>((ready) => entry.once('drain', ready))
      entry.end(null)
      await done
    })
  }

  async end(): Promise<void> {
    this.#pack.finalize()
    await this.#written
  }

  async abandon(): Promise<void> {
    this.#pack.destroy()
    await this.#written.catch(() => {})
  }
}

export const fileShelf = async (
  to: string,
  { part, seal }: { part: string; seal: Seal | undefined },
): Promise<BackupShelf> => {
  const archive = new Archive(
    createWriteStream(part, { mode: FILE_MODE, flags: 'wx', flush: true }),
    seal,
  )
  return {
    folder: (path) => archive.folder(path),
    file: (path, size, bytes) => archive.file(path, size, bytes),
    finish: async () => {
      await archive.end()
      await nameFile(part, to)
      await syncFolder(dirname(to))
    },
    discard: async () => {
      await archive.abandon()
      if (existsSync(part)) await rm(part, { force: true })
    },
  }
}

export const streamShelf = (out: Writable, seal: Seal | undefined): BackupShelf => {
  const archive = new Archive(out, seal)
  return {
    folder: (path) => archive.folder(path),
    file: (path, size, bytes) => archive.file(path, size, bytes),
    finish: () => archive.end(),
    discard: () => archive.abandon(),
  }
}
