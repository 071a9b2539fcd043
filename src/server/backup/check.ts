/** Goes over a backup and checks all of it. */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import {
  type BackupHead,
  type BackupManifest,
  COUNTS,
  FINISHED,
  HEAD,
  type ListedFile,
  MANIFEST,
  parseCounts,
  parseFinished,
  parseHead,
  parseManifest,
  parseTables,
  rowsIn,
  SMALL_PART_BYTES,
  TABLES_LIST,
  type TableCounts,
  type TableList,
  tableOfPart,
  wholePart,
} from './contents.ts'
import { type BackupOrigin, type BackupPart, readParts } from './reading.ts'

/** What to do with the parts while they are checked. */
export interface PartVisitor {
  /** Called first. Throws if the backup must not be read on. */
  head?(head: BackupHead): Promise<void> | void
  folder?(path: string): Promise<void>
  /** Called before the rows of any table. */
  tables?(tables: TableList): void
  /** Must read all bytes. By default they are only checked. */
  file?(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
}

export interface CheckedBackup {
  head: BackupHead
  manifest: BackupManifest
  /** Of a logical backup. */
  counts: TableCounts | undefined
}

/** What a list of files may take in memory. */
const MOST_LIST_BYTES = 256 * 2 ** 20

const LISTS = [HEAD, TABLES_LIST, COUNTS, MANIFEST, FINISHED]

const mostBytesOf = (path: string): number =>
  path === FINISHED || path === HEAD ? SMALL_PART_BYTES : MOST_LIST_BYTES

/** Reads bytes for their check alone. */
export const drain = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const _ of bytes);
}

/** Passes bytes on, and tells their number and SHA-256 at the end. */
class Counted {
  readonly #hash = createHash('sha256')
  #size = 0
  /** If the bytes are rows in the form of COPY. */
  rows = 0

  constructor(private readonly bytes: AsyncIterable<Uint8Array>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.bytes) {
      this.#hash.update(chunk)
      this.#size += chunk.length
      this.rows += rowsIn(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
      yield chunk
    }
  }

  of(path: string): ListedFile {
    return { path, size: this.#size, sha256: this.#hash.digest('hex') }
  }
}

class Checking {
  readonly #seen = new Map<string, ListedFile>()
  readonly #folders = new Set<string>()
  readonly #lists = new Map<string, Buffer>()
  readonly #rows = new Map<string, number>()
  #head: BackupHead | undefined

  constructor(private readonly visitor: PartVisitor) {}

  async part({ path, kind, bytes }: BackupPart): Promise<void> {
    if (this.#seen.has(path) || this.#folders.has(path))
      fail('invalid_input', `${path} is twice in the backup`)
    if (!this.#head && path !== HEAD)
      fail('invalid_input', `this is not a backup of Tendril: it does not begin with ${HEAD}`)
    if (this.#lists.has(FINISHED))
      fail('invalid_input', `the backup goes on after its end, with ${path}`)
    if (kind === 'folder') {
      this.#folders.add(path)
      return await this.visitor.folder?.(path)
    }
    const counted = new Counted(bytes)
    if (LISTS.includes(path)) await this.#list(path, counted)
    else await (this.visitor.file?.(path, counted) ?? drain(counted))
    this.#seen.set(path, counted.of(path))
    const table = tableOfPart(path)
    if (table !== undefined) this.#rows.set(table, (this.#rows.get(table) ?? 0) + counted.rows)
  }

  async #list(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const list = await wholePart(path, bytes, mostBytesOf(path))
    this.#lists.set(path, list)
    if (path === TABLES_LIST) this.visitor.tables?.(parseTables(list))
    if (path !== HEAD) return
    this.#head = parseHead(list)
    await this.visitor.head?.(this.#head)
  }

  end(): CheckedBackup {
    const [manifest, finished] = [this.#lists.get(MANIFEST), this.#lists.get(FINISHED)]
    if (!this.#head || !manifest || !finished)
      return fail(
        'invalid_input',
        `the backup was not finished, or is cut off: it has no ${manifest ? FINISHED : MANIFEST}`,
      )
    if (this.#seen.get(MANIFEST)!.sha256 !== parseFinished(finished))
      fail('invalid_input', `${MANIFEST} of the backup was altered: its SHA-256 is another`)
    const parsed = parseManifest(manifest)
    this.#compare(parsed)
    const counts = this.#head.kind === 'logical' ? this.#counts() : undefined
    return { head: this.#head, manifest: parsed, counts }
  }

  /** Throws unless each table has as many rows as there were in the database. */
  #counts(): TableCounts {
    const [tables, counts] = [this.#lists.get(TABLES_LIST), this.#lists.get(COUNTS)]
    if (!tables || !counts)
      return fail('invalid_input', `${tables ? COUNTS : TABLES_LIST} is missing in the backup`)
    const parsed = parseCounts(counts)
    const names = new Set([
      ...parseTables(tables).map(({ name }) => name),
      ...this.#rows.keys(),
      ...Object.keys(parsed.rows),
    ])
    for (const name of names) {
      const [found, listed] = [this.#rows.get(name) ?? 0, parsed.rows[name]]
      if (found !== listed)
        fail('invalid_input', `${name} has ${found} rows in the backup, and had ${listed}`)
    }
    return parsed
  }

  #compare({ files, folders }: BackupManifest): void {
    const listed = new Map(files.map((file) => [file.path, file]))
    for (const [path, { size, sha256 }] of listed) {
      const found =
        this.#seen.get(path) ?? fail('invalid_input', `${path} is missing in the backup`)
      if (found.size !== size || found.sha256 !== sha256)
        fail('invalid_input', `${path} of the backup was altered: its SHA-256 is another`)
    }
    for (const path of this.#seen.keys())
      if (!listed.has(path) && path !== MANIFEST && path !== FINISHED)
        fail('invalid_input', `${path} is in the backup, but not in its list`)
    for (const path of folders)
      if (!this.#folders.has(path)) fail('invalid_input', `${path} is missing in the backup`)
  }
}

/** Throws if anything is missing, altered, or more than it should be, and names it. */
export const checkBackup = async (
  from: BackupOrigin,
  passphrase: string | undefined,
  visitor: PartVisitor = {},
): Promise<CheckedBackup> => {
  const checking = new Checking(visitor)
  for await (const part of readParts(from, passphrase)) await checking.part(part)
  return checking.end()
}
