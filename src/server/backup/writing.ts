/** Puts parts on a shelf at a bounded rate, and lists them with their SHA-256. */
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import {
  type BackupHead,
  type BackupManifest,
  FINISHED,
  HEAD,
  type ListedFile,
  MANIFEST,
  requirePlainPath,
} from './contents.ts'
import type { Pace } from './pace.ts'
import type { BackupShelf } from './shelf.ts'
import type { BackupWatch } from './watch.ts'

const CHUNK_BYTES = 262_144

/** The first `size` bytes of a file. If it has become shorter, zeros follow. */
async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - at))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
    yield bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead)
    at += bytesRead || chunk.length
  }
}

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

const openIfThere = (path: string): Promise<FileHandle | undefined> =>
  open(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw cause
  })

export class Writing {
  readonly #files: ListedFile[] = []
  readonly #folders: string[] = []

  constructor(
    private readonly shelf: BackupShelf,
    private readonly pace: Pace,
    private readonly watch: BackupWatch,
  ) {}

  head(head: BackupHead): Promise<void> {
    return this.text(HEAD, JSON.stringify(head, null, 2))
  }

  #begin(path: string): void {
    requirePlainPath(path, 'source')
    this.watch.check()
  }

  async folder(path: string): Promise<void> {
    this.#begin(path)
    this.#folders.push(path)
    await this.watch.unless(this.shelf.folder(path))
  }

  text(path: string, text: string): Promise<void> {
    return this.put(path, Buffer.from(text))
  }

  put(path: string, bytes: Uint8Array): Promise<void> {
    return this.#file(path, bytes.length, slicesOf(bytes))
  }

  /**
   * Passes on what `putRead` writes later. It must be read whole before, and neither may come at
   * once, so each takes its half of the pace.
   */
  async *read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let length = 0
    for await (const chunk of bytes) {
      this.watch.check()
      yield chunk
      length += chunk.length
      if (length < CHUNK_BYTES) continue
      await this.pace.take(length / 2)
      length = 0
    }
  }

  putRead(path: string, bytes: Uint8Array): Promise<void> {
    return this.#file(path, bytes.length, slicesOf(bytes), 1 / 2)
  }

  /** Copies a file as it is now. Returns false if there is none any more. */
  async copy(path: string, from: string): Promise<boolean> {
    await using handle = await openIfThere(from)
    if (!handle) return false
    const { size } = await handle.stat()
    await this.#file(path, size, contentOf(handle, size))
    return true
  }

  /** `share`: how much of each byte the pace has not been told yet. */
  async #file(
    path: string,
    size: number,
    bytes: AsyncIterable<Uint8Array>,
    share = 1,
  ): Promise<void> {
    this.#begin(path)
    const hash = createHash('sha256')
    const { pace, watch } = this
    async function* paced(): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        watch.check()
        hash.update(chunk)
        yield chunk
        await pace.take(chunk.length * share)
      }
    }
    await watch.unless(this.shelf.file(path, size, paced()))
    this.#files.push({ path, size, sha256: hash.digest('hex') })
  }

  /** `at`: every command that was acknowledged before that is in the backup. */
  async finish(at: Date): Promise<BackupManifest> {
    const manifest: BackupManifest = {
      at: at.toISOString(),
      finished_at: new Date().toISOString(),
      folders: this.#folders,
      files: [...this.#files],
    }
    await this.text(MANIFEST, JSON.stringify(manifest))
    const { sha256: manifest_sha256 } = this.#files.at(-1)!
    await this.text(FINISHED, JSON.stringify({ manifest_sha256 }))
    await this.watch.unless(this.shelf.finish())
    return manifest
  }
}
