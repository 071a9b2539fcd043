/** The files of a data directory that a copy of it needs (as pg_basebackup chooses them). */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface DataFile {
  /** Relative to the data directory. */
  path: string
  kind: 'file' | 'folder'
  /** In bytes; 0 of a folder. Files may grow, shrink and vanish at any time. */
  size: number
}

/** Folders whose contents belong to the running server alone. A copy needs them empty. */
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])

/** In `pg_wal`, which is copied by itself. */
const WAL_FOLDERS = ['archive_status', 'summaries']

const LEFT_OUT = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'current_logfiles',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'tablespace_map.old',
  'postgresql.auto.conf.tmp',
])
const TEMPORARY = /^(pgsql_tmp|pg_internal\.init|t\d+_\d+)/

/** What a start reads first, and so what a copy needs last, when all else is there. */
const CONTROL = 'global/pg_control'

const entriesOf = async (data: string, folder: string): Promise<DataFile[]> => {
  const found: DataFile[] = []
  for (const entry of await readdir(join(data, folder), { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (LEFT_OUT.has(path) || TEMPORARY.test(entry.name)) continue
    if (entry.isDirectory()) found.push({ path, kind: 'folder', size: 0 })
    if (!entry.isFile()) continue
    // It may have been removed meanwhile.
    const size = await stat(join(data, path)).then(
      (its) => its.size,
      () => undefined,
    )
    if (size !== undefined) found.push({ path, kind: 'file', size })
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function* walk(data: string, folder: string): AsyncGenerator<DataFile> {
  for (const entry of await entriesOf(data, folder)) {
    if (entry.path === CONTROL) continue
    yield entry
    if (entry.kind === 'folder' && !EMPTIED.has(entry.path)) yield* walk(data, entry.path)
  }
}

/** A folder comes before what is in it, and the control file comes last. */
export async function* dataFiles(data: string): AsyncGenerator<DataFile> {
  yield* walk(data, '')
  for (const name of WAL_FOLDERS) yield { path: `pg_wal/${name}`, kind: 'folder', size: 0 }
  yield { path: CONTROL, kind: 'file', size: (await stat(join(data, CONTROL))).size }
}

const SEGMENT = /^[0-9A-F]{24}$/
const HISTORY = /^[0-9A-F]{8}\.history$/
/** Files of 16 MiB each, 256 to a number of the middle part. */
const IN_A_PART = 256

const numberOf = (segment: string): number =>
  Number.parseInt(segment.slice(8, 16), 16) * IN_A_PART + Number.parseInt(segment.slice(16), 16)

/**
 * The files of the write-ahead log from `first` to `last`, as paths relative to the data directory.
 * Throws if one is missing.
 */
export const walFiles = async (data: string, first: string, last: string): Promise<string[]> => {
  const names = (await readdir(join(data, 'pg_wal'))).sort()
  const segments = names.filter((name) => SEGMENT.test(name) && name >= first && name <= last)
  if (segments.length !== numberOf(last) - numberOf(first) + 1)
    throw new Error(`the write-ahead log from ${first} to ${last} is not complete`)
  return [...names.filter((name) => HISTORY.test(name)), ...segments].map(
    (name) => `pg_wal/${name}`,
  )
}
