/** Where an operator wants a backup: a folder, a file, or standard output. */
import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { AppError, fail } from '#kernel/errors'
import { isInside } from './room.ts'
import type { Seal } from './sealing.ts'
import { type BackupShelf, fileShelf, folderShelf, streamShelf } from './shelf.ts'

export const ARCHIVE_ENDING = '.tar.zst'

/** What follows the name of a backup while it is made. */
export const PART_MARK = '.part-'

/** A path, or a stream for `-`. */
export type Destination = string | Writable

const isArchive = (to: string): boolean => to.endsWith(ARCHIVE_ENDING)

/** Throws unless a backup can be made there. Writes nothing. */
export const checkDestination = (to: Destination, home: string | undefined): void => {
  if (typeof to !== 'string') return
  const path = resolve(to)
  if (home !== undefined && isInside(path, home))
    fail(
      'invalid_input',
      `${to} lies in TENDRIL_HOME, whose disk and folder it must outlive: choose a place outside of it`,
    )
  if (existsSync(path)) fail('invalid_input', `${to} exists already: nothing is overwritten`)
  const folder = dirname(path)
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    fail('invalid_input', `${folder} is not a folder: make it first`)
  if (!isArchive(path) && /\.(tar|zst|tgz|gz|zip|xz)$/.test(path))
    fail('invalid_input', `${to} must end in ${ARCHIVE_ENDING}, or be the name of a new folder`)
}

export const shelfFor = (to: Destination, seal: Seal | undefined): Promise<BackupShelf> => {
  if (typeof to !== 'string') return Promise.resolve(streamShelf(to, seal))
  const path = resolve(to)
  const part = `${path}${PART_MARK}${randomBytes(4).toString('hex')}`
  return (isArchive(path) ? fileShelf : folderShelf)(path, { part, seal })
}

const LOST = 'the connection to the database was lost: try again when it answers'

const SAID: Record<string, string> = {
  ENOSPC: 'the disk that it is written to is full: what was written is removed again',
  CONNECTION_CLOSED: LOST,
  CONNECTION_DESTROYED: LOST,
  CONNECTION_ENDED: LOST,
  EPIPE: 'whoever reads it has stopped reading',
}

/** Failures of a disk or of the database, in words for the operator. */
export const asRefusal = (cause: unknown): unknown => {
  const said = SAID[String((cause as { code?: unknown } | null)?.code)]
  return said === undefined ? cause : new AppError('unavailable', said, { cause })
}
