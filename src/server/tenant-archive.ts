/**
 * A workspace as an archive: its owners' export, and the bytes of its files. Its seal proves to the
 * deployment that made it that nobody has edited it since.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretKeys } from '#kernel/secret-keys'
import type { BackupShelf } from './backup/shelf.ts'

/** The first part: what the archive is. */
export const ARCHIVE_HEAD = 'tenant.json'
/** The last part but one: all parts before it, with their SHA-256. */
export const LISTING = 'listing.json'
/** The last part: the seal of the listing. An archive without it was never finished. */
export const LISTING_SEAL = 'seal.json'

export const ARCHIVE_FORMAT = 'tendril-tenant/v1'

interface ArchiveHead {
  workspace_id: string
  name: string
  /** The version of the program, and of the schema. */
  program: string
  schema: string
}

const sealKeys = (keys: SecretKeys) => keys.derived('archives of workspaces')

const sealOf = (key: Buffer, listing: string): string =>
  createHmac('sha256', key).update(listing).digest('base64')

/** Whether this deployment has sealed the listing, under a secret key that it still accepts. */
export const isSealed = (keys: SecretKeys, listing: string, seal: string): boolean => {
  const given = Buffer.from(seal)
  return sealKeys(keys)
    .accepted()
    .map((key) => Buffer.from(sealOf(key, listing)))
    .some((ours) => ours.length === given.length && timingSafeEqual(ours, given))
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** How many bytes of lines a part has, about. */
const PART_BYTES = 4 * 2 ** 20

/** Puts the parts of an archive on a shelf, and lists them. */
export class TenantArchive {
  readonly #parts: { path: string; size: number; sha256: string }[] = []
  readonly #missing: string[] = []
  #lines: string[] = []
  #bytes = 0

  constructor(
    private readonly shelf: Pick<BackupShelf, 'file' | 'finish'>,
    private readonly head: ArchiveHead,
  ) {}

  begin(): Promise<void> {
    const head = { format: ARCHIVE_FORMAT, ...this.head, began_at: new Date().toISOString() }
    return this.#text(ARCHIVE_HEAD, JSON.stringify(head, null, 2))
  }

  /** Whole lines of the export. */
  async lines(text: string): Promise<void> {
    this.#lines.push(text)
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes >= PART_BYTES) await this.#flush()
  }

  /** `id`: of the artifact whose bytes these are. */
  file(id: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#put(`files/${id}`, size, bytes)
  }

  /** Notes that the bytes of an artifact were gone when they were read. */
  missing(id: string): void {
    this.#missing.push(id)
  }

  /** No more lines come. */
  async endLines(): Promise<void> {
    if (this.#bytes > 0) await this.#flush()
  }

  async finish(keys: SecretKeys): Promise<{ parts: number; bytes: number; missing: string[] }> {
    const listing = JSON.stringify({
      workspace_id: this.head.workspace_id,
      finished_at: new Date().toISOString(),
      parts: this.#parts,
      missing: this.#missing,
    })
    const bytes = this.#parts.reduce((sum, { size }) => sum + size, 0)
    await this.#text(LISTING, listing)
    await this.#text(
      LISTING_SEAL,
      JSON.stringify({ seal: sealOf(sealKeys(keys).newest(), listing) }),
    )
    await this.shelf.finish()
    return { parts: this.#parts.length, bytes, missing: this.#missing }
  }

  async #flush(): Promise<void> {
    const number = this.#parts.filter(({ path }) => path.startsWith('records/')).length + 1
    const text = this.#lines.join('')
    this.#lines = []
    this.#bytes = 0
    await this.#text(`records/${String(number).padStart(6, '0')}.ndjson`, text)
  }

  #text(path: string, text: string): Promise<void> {
    return this.#put(path, Buffer.byteLength(text), once(text))
  }

  async #put(path: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const hash = createHash('sha256')
    async function* hashed(): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        hash.update(chunk)
        yield chunk
      }
    }
    await this.shelf.file(path, size, hashed())
    this.#parts.push({ path, size, sha256: hash.digest('hex') })
  }
}
