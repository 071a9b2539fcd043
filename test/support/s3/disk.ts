/** What s3rver keeps on disk: objects, and uploads in parts that were not finished. */
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const OBJECT = '._S3rver_object'

export class S3Disk {
  constructor(private readonly root: string) {}

  /** Keys of all objects, sorted. */
  async keys(): Promise<string[]> {
    const files = await readdir(this.root, { recursive: true })
    return files
      .flatMap((path) => (path.endsWith(OBJECT) ? [path.slice(0, -OBJECT.length)] : []))
      .sort()
  }

  /** Uploads by id, with their keys. */
  async uploads(): Promise<{ id: string; key: string }[]> {
    const ids = await readdir(this.#uploads).catch(() => [])
    return await Promise.all(
      ids.map(async (id) => ({ id, key: await readFile(join(this.#uploads, id, 'key'), 'utf8') })),
    )
  }

  async abort(id: string): Promise<void> {
    await rm(join(this.#uploads, id), { recursive: true, force: true })
  }

  bytesOf(key: string): Promise<Buffer> {
    return readFile(this.#path(key))
  }

  /** Changes one byte. */
  async damage(key: string, at: number): Promise<void> {
    await using file = await open(this.#path(key), 'r+')
    const byte = Buffer.alloc(1)
    await file.read(byte, 0, 1, at)
    await file.write(Buffer.from([byte[0]! ^ 1]), 0, 1, at)
  }

  async lose(key: string): Promise<void> {
    await rm(this.#path(key))
  }

  get #uploads(): string {
    return join(this.root, '._S3rver_uploads')
  }

  #path(key: string): string {
    return join(this.root, `${key}${OBJECT}`)
  }
}
