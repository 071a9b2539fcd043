/** Copies the files of the embedded database while it serves. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CONTROL_FILE, type DataFile, dataFiles, walFiles } from '#postgres/data-files'
import type { OnlineBackup } from '#store/backup/online'
import { DATA, PASSWORD, requirePlainPath } from './contents.ts'
import { writeStoredList } from './stored-list.ts'
import type { Writing } from './writing.ts'

/** What is added meanwhile: a few files of the write-ahead log, and the lists. */
const MARGIN_BYTES = 80 * 2 ** 20

/** How many bytes a copy needs, about. Throws if it cannot have one of the files. */
export const sizeOfData = async (data: string): Promise<number> => {
  let bytes = MARGIN_BYTES
  for await (const { path, size } of dataFiles(data)) {
    requirePlainPath(`${DATA}/${path}`, 'source')
    bytes += size
  }
  return bytes
}

const TRIES = 10

/** The server may be writing it: two reads must agree. */
const readControl = async (data: string): Promise<Buffer> => {
  const read = () => readFile(join(data, CONTROL_FILE))
  for (let before = await read(), left = TRIES; left > 0; left--) {
    await wait(1)
    const now = await read()
    if (now.equals(before)) return now
    before = now
  }
  throw new Error(`${CONTROL_FILE} changes with every read`)
}

const put = async (writing: Writing, data: string, { path, kind }: DataFile): Promise<void> => {
  const name = `${DATA}/${path}`
  if (kind === 'folder') return await writing.folder(name)
  if (path !== CONTROL_FILE) return void (await writing.copy(name, join(data, path)))
  await writing.put(name, await readControl(data))
}

/**
 * Copies the data folder, then ends the backup in the database, then copies the write-ahead log up
 * to that end. Returns the time up to which every acknowledged command is in the copy.
 */
export const copyDatabase = async (
  writing: Writing,
  backup: OnlineBackup,
  { data, password }: { data: string; password: string },
): Promise<Date> => {
  await writing.text(PASSWORD, password)
  await writing.folder(DATA)
  for await (const file of dataFiles(data)) await put(writing, data, file)
  // Before the end, so that a file is listed only if the restored database has its row, unless it
  // was deleted in between.
  await writeStoredList(writing, backup.storedFiles())
  const { at, label, first, last } = await backup.stop()
  await writing.text(`${DATA}/backup_label`, label)
  for (const path of await walFiles(data, first, last))
    if (!(await writing.copy(`${DATA}/${path}`, join(data, path))))
      throw new Error(`${path} of the write-ahead log has vanished`)
  return at
}
