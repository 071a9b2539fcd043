/** The files of a data directory that a copy of it needs (as pg_basebackup chooses them). */
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '#kernel/errors'

export interface DataFile {
  /** Relative to the data directory. */
  path: string
  kind: 'file' | 'folder'
  /** In bytes; 0 of a folder. Files may grow, shrink and vanish at any time. */
  size: number
}

/** The write-ahead log, which may lie on another disk. */
const WAL = 'pg_wal'

/** Folders whose contents belong to the running server alone. A copy needs them empty. */
const EMPTIED = new Set([
  WAL,
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])

/** In the write-ahead log, which is copied by itself. */
const WAL_FOLDERS = ['archive_status', 'summaries']

/** Of the running server, of an earlier copy, or what would make another kind of server. */
const LEFT_OUT = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'current_logfiles',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'tablespace_map.old',
  'postgresql.auto.conf.tmp',
  'recovery.signal',
  'standby.signal',
])
const TEMPORARY = /^(pgsql_tmp|pg_internal\.init|t\d+_\d+)/

const LABEL = 'backup_label'

/** Whether a copy may have this file. Its label, which the server has made for it, is one. */
export const isOfCopy = (path: string): boolean => path === LABEL || !LEFT_OUT.has(path)

/** What a start reads first, and so what a copy needs last, when all else is there. */
export const CONTROL_FILE = 'global/pg_control'

const refuse = (path: string): never =>
  fail(
    'invalid_input',
    `${JSON.stringify(path)} in the data folder is a link or another special file, so a copy of the folder would lack what it leads to: put the file itself there, or back up with --logical`,
  )

const entriesOf = async (data: string, folder: string): Promise<DataFile[]> => {
  const found: DataFile[] = []
  for (const entry of await readdir(join(data, folder), { withFileTypes: true })) {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (LEFT_OUT.has(path) || TEMPORARY.test(entry.name)) continue
    // It may have been removed meanwhile.
    const its = await lstat(join(data, path)).catch(() => undefined)
    if (its?.isDirectory()) found.push({ path, kind: 'folder', size: 0 })
    else if (its?.isFile()) found.push({ path, kind: 'file', size: its.size })
    else if (its && path !== WAL) refuse(path)
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function* walk(data: string, folder: string): AsyncGenerator<DataFile> {
  for (const entry of await entriesOf(data, folder)) {
    if (entry.path === CONTROL_FILE) continue
    yield entry
    if (entry.kind === 'folder' && !EMPTIED.has(entry.path)) yield* walk(data, entry.path)
  }
}

/** A folder comes before what is in it, and the control file comes last. */
export async function* dataFiles(data: string): AsyncGenerator<DataFile> {
  yield* walk(data, '')
  for (const name of WAL_FOLDERS) yield { path: `${WAL}/${name}`, kind: 'folder', size: 0 }
  yield { path: CONTROL_FILE, kind: 'file', size: (await stat(join(data, CONTROL_FILE))).size }
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
  const names = (await readdir(join(data, WAL))).sort()
  const segments = names.filter((name) => SEGMENT.test(name) && name >= first && name <= last)
  if (segments.length !== numberOf(last) - numberOf(first) + 1)
    throw new Error(`the write-ahead log from ${first} to ${last} is not complete`)
  return [...names.filter((name) => HISTORY.test(name)), ...segments].map(
    (name) => `${WAL}/${name}`,
  )
}
