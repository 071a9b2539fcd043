/** Reads an archive from its first part to its seal, and compares each part with the listing. */
import { createHash, type Hash } from 'node:crypto'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { exportKinds } from '#contract/app/workspace'
import { Id, Time } from '#contract/shapes'
import { fail } from '#kernel/errors'
import type { SecretKeys } from '#kernel/secret-keys'
import { ARCHIVE_FORMAT, ARCHIVE_HEAD, isSealed, LISTING, LISTING_SEAL } from '../tenant-archive.ts'
import { archiveLines, archiveParts, textOfPart } from './archive.ts'
import { type ExportKind, KindCounts } from './kind-counts.ts'
import type { TarFile } from './tar.ts'

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Head = Type.Object({
  format: Type.Literal(ARCHIVE_FORMAT),
  workspace_id: Id,
  name: Type.String({ maxLength: 1_000 }),
  program: Type.String({ maxLength: 100 }),
  schema: Type.String({ maxLength: 100 }),
  began_at: Time,
})
type ImportHead = Static<typeof Head>
const Listing = Type.Object({
  workspace_id: Id,
  finished_at: Time,
  parts: Type.Array(
    Type.Object({ path: Type.String(), size: Type.Integer({ minimum: 0 }), sha256: Sha256 }),
  ),
  missing: Type.Array(Id),
})
type Listing = Static<typeof Listing>
const Seal = Type.Object({ seal: Type.String({ maxLength: 100 }) })
const Line = Type.Object(
  { kind: Type.String({ maxLength: 100 }), record: Type.Record(Type.String(), Type.Unknown()) },
  { additionalProperties: false },
)
const End = Type.Object({ counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 })) })

const MOST_HEAD = 65_536
const MOST_LISTING = 64 * 2 ** 20

const parse = <S extends TSchema>(schema: S, name: string, text: string): Static<S> => {
  try {
    const value: unknown = JSON.parse(text)
    if (Value.Check(schema, value)) return value
  } catch {
    // Said below.
  }
  return fail('invalid_input', `${name} of the archive is malformed`)
}

/** A line of an archive: a record, or what a newer program may have added. */
export interface ArchivedRecord {
  kind: string
  record: Record<string, unknown>
}

/** What is done with the parts as they come. */
export interface ArchiveVisitor {
  head?(head: ImportHead): void
  record(record: ArchivedRecord): Promise<void> | void
  /** Bytes that are not read are read and thrown away. `id`: of the artifact. */
  file?(id: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void>
}

export interface ReadArchive {
  head: ImportHead
  /** Whether this deployment has made it, and nobody has changed it since. */
  sealed: boolean
  /** Of the listing, by which two readings are compared. */
  digest: string
}

const isKind = (kind: string): kind is ExportKind =>
  (exportKinds as readonly string[]).includes(kind)

/** The lines of one export: its first line, records in the order of their kinds, its last line. */
class Lines {
  readonly #counts = new KindCounts()
  #stage: 'begins' | 'records' | 'ended' = 'begins'
  #latest = 0

  /** Undefined for the first and the last line. */
  take(text: string, path: string): ArchivedRecord | undefined {
    const line = parse(Line, `a line of ${path}`, text)
    if (this.#stage === 'ended')
      fail('invalid_input', `${path} goes on after the end of the export`)
    if ((this.#stage === 'begins') !== (line.kind === 'export'))
      fail('invalid_input', 'the lines of the archive are not those of one export')
    if (line.kind === 'export') {
      this.#stage = 'records'
      return undefined
    }
    if (line.kind === 'end') return this.#end(line.record)
    this.#inOrder(line.kind, path)
    this.#counts.add(line.kind)
    return line
  }

  /** Throws unless the last line has been there. */
  end(): void {
    if (this.#stage !== 'ended') fail('invalid_input', 'the last line of the export is missing')
  }

  /** References are then looked for in what came before. */
  #inOrder(kind: string, path: string): void {
    if (!isKind(kind)) return
    const at = exportKinds.indexOf(kind)
    if (at < this.#latest)
      fail('invalid_input', `a record of the kind ${kind} in ${path} is out of order`)
    this.#latest = at
  }

  #end(record: unknown): undefined {
    const { counts } = parse(End, 'the last line', JSON.stringify(record))
    const said = new KindCounts()
    for (const [kind, count] of Object.entries(counts)) said.add(kind, count)
    for (const [kind, count] of said.all())
      if (count !== this.#counts.of(kind))
        fail(
          'invalid_input',
          `the archive has ${this.#counts.of(kind)} records of the kind ${kind}, and its last line says ${count}`,
        )
    this.#stage = 'ended'
  }
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

interface Seen {
  path: string
  size: number
  sha256: string
}

/** Names the part that is not as the listing says. */
const compare = (seen: readonly Seen[], { parts }: Listing): void => {
  const listed = new Map(parts.map((part) => [part.path, part]))
  for (const { path, size, sha256 } of seen) {
    const part = listed.get(path)
    if (!part) fail('invalid_input', `${path} is in the archive, but not in its listing`)
    if (part!.size !== size || part!.sha256 !== sha256)
      fail('invalid_input', `${path} of the archive is not what its listing says`)
    listed.delete(path)
  }
  for (const path of listed.keys())
    fail('invalid_input', `${path.slice(0, 200)} is missing from the archive`)
}

class Reading {
  readonly #seen: Seen[] = []
  readonly #lines = new Lines()
  #head: ImportHead | undefined
  #listing: { text: string; listing: Listing } | undefined
  #sealed = false

  constructor(
    private readonly visitor: ArchiveVisitor,
    private readonly keys: SecretKeys,
  ) {}

  async part(part: TarFile): Promise<void> {
    if (part.path === LISTING) return await this.#list(part)
    if (part.path === LISTING_SEAL) return await this.#seal(part)
    if ((part.path === ARCHIVE_HEAD) !== (this.#head === undefined))
      fail('invalid_input', `the archive does not begin with ${ARCHIVE_HEAD}`)
    const hash = createHash('sha256')
    await this.#visit({ ...part, bytes: hashed(part.bytes, hash) })
    this.#seen.push({ path: part.path, size: part.size, sha256: hash.digest('hex') })
  }

  end(): ReadArchive {
    if (!this.#head || !this.#listing)
      return fail('invalid_input', `the archive is cut off: it has no ${LISTING}`)
    this.#lines.end()
    const digest = createHash('sha256').update(this.#listing.text).digest('hex')
    return { head: this.#head, sealed: this.#sealed, digest }
  }

  async #visit(part: TarFile): Promise<void> {
    if (part.path === ARCHIVE_HEAD) {
      this.#head = parse(Head, ARCHIVE_HEAD, await textOfPart(part, MOST_HEAD))
      this.visitor.head?.(this.#head)
    } else if (part.path.startsWith('files/')) {
      await this.visitor.file?.(part.path.slice('files/'.length), part.size, part.bytes)
      for await (const _ of part.bytes);
    } else {
      for await (const text of archiveLines(part)) {
        const record = this.#lines.take(text, part.path)
        if (record) await this.visitor.record(record)
      }
    }
  }

  async #list(part: TarFile): Promise<void> {
    const text = await textOfPart(part, MOST_LISTING)
    const listing = parse(Listing, LISTING, text)
    compare(this.#seen, listing)
    if (listing.workspace_id !== this.#head?.workspace_id)
      fail('invalid_input', `${LISTING} is that of another archive`)
    this.#listing = { text, listing }
  }

  async #seal(part: TarFile): Promise<void> {
    const { seal } = parse(Seal, LISTING_SEAL, await textOfPart(part, MOST_HEAD))
    this.#sealed = this.#listing !== undefined && isSealed(this.keys, this.#listing.text, seal)
  }
}

/** Throws where the archive is not whole, and names the place. */
export const readArchive = async (
  from: string,
  keys: SecretKeys,
  visitor: ArchiveVisitor,
): Promise<ReadArchive> => {
  const reading = new Reading(visitor, keys)
  for await (const part of archiveParts(from)) await reading.part(part)
  return reading.end()
}
