/** Archives of workspaces as somebody makes them who writes what they like. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportKinds } from '#contract/app/workspace'
import { itemRecord } from '#contract/records/growth/item'
import { type Declared, exportedOf } from '#contract/records/record'
import { newId } from '#kernel/ids'
import { soleKey } from '#kernel/secret-keys'
import { shelfFor } from '#server/backup/destination'
import { ImportIds } from '#server/import/ids'
import type { ImportContext } from '#server/import/kind'
import { TenantArchive } from '#server/tenant-archive'
import { sampleOf } from './database/sample.ts'
import { jsonLines } from './texts/lines.ts'

export interface ArchiveLine {
  kind: string
  record: Record<string, unknown>
}

const SECRET_OF_NOBODY = Buffer.alloc(32, 'nobody')

function* linesWith(records: Iterable<ArchiveLine>): Generator<ArchiveLine> {
  const counts: Record<string, number> = {}
  const start = { format: 'tendril-export/v1', at: new Date(), kinds: exportKinds }
  yield { kind: 'export', record: start }
  for (const line of records) {
    counts[line.kind] = (counts[line.kind] ?? 0) + 1
    yield line
  }
  yield { kind: 'end', record: { counts } }
}

interface Made {
  records: Iterable<ArchiveLine>
  /** Their bytes, by the ids of artifacts. */
  files?: Record<string, Uint8Array>
  secret?: Buffer
  name?: string
}

/** An archive, by default sealed by somebody else. */
export const writeArchive = async (
  to: string,
  { records, files = {}, secret = SECRET_OF_NOBODY, name = 'Edited' }: Made,
): Promise<void> => {
  const head = { workspace_id: newId(), name, program: '1', schema: '1' }
  const archive = new TenantArchive(await shelfFor(to, undefined), head)
  await archive.begin()
  for (const line of linesWith(records)) await archive.lines(`${JSON.stringify(line)}\n`)
  await archive.endLines()
  for (const [id, bytes] of Object.entries(files))
    await archive.file(
      id,
      bytes.length,
      (async function* () {
        yield bytes
      })(),
    )
  await archive.finish(soleKey(secret))
}

const recordParts = (folder: string): string[] =>
  readdirSync(join(folder, 'records')).map((name) => join(folder, 'records', name))

/** The records of an archive that is a folder. */
export const recordsOf = (folder: string): ArchiveLine[] =>
  recordParts(folder)
    .sort()
    .flatMap((path) => jsonLines(readFileSync(path, 'utf8')) as ArchiveLine[])
    .filter(({ kind }) => kind !== 'export' && kind !== 'end')

/** Lists the parts as they are now. The seal stays that of what was there before. */
export const listAgain = (folder: string): void => {
  const path = join(folder, 'listing.json')
  const listing = JSON.parse(readFileSync(path, 'utf8'))
  for (const part of listing.parts) {
    const bytes = readFileSync(join(folder, part.path))
    part.size = bytes.length
    part.sha256 = createHash('sha256').update(bytes).digest('hex')
  }
  writeFileSync(path, JSON.stringify(listing))
}

/** A row as an export shows it. */
export const exportedRow = (record: Declared, row: object): Record<string, unknown> => {
  const shown = JSON.parse(JSON.stringify(row)) as Record<string, unknown>
  return Object.fromEntries(exportedOf(record).map((name) => [name, shown[name] ?? null]))
}

/** A row with a value in each field, as an export shows it. */
export const exportedSample = (record: Declared, changes: object = {}): Record<string, unknown> =>
  exportedRow(record, { ...sampleOf(record, 'text', {}), ...changes })

export const exportedItem = (changes: object = {}): Record<string, unknown> =>
  exportedSample(itemRecord, { stories: [], ...changes })

/** What rows of an import follow from, whose archive has no record yet. */
export const arrivalAt = (now: Date, sealed = false): ImportContext => ({
  ids: new ImportIds(),
  sealed,
  now,
  language: 'en',
})
