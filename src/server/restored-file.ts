/** What `tendril admin restore` leaves in the home that it has made. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RESTORED_NOTE } from './backup/restore-target.ts'

export const restoredFile = (home: string): string => join(home, RESTORED_NOTE)

/** That a database was made from a backup. */
export interface RestoreNote {
  /** Tells this restore from any that the backup itself knows of. */
  id: string
  /** When the backup was made. */
  backupAt: Date | undefined
}

export const restoreNote = (id: string, backupAt: string): RestoreNote => {
  const at = new Date(backupAt)
  return { id, backupAt: Number.isNaN(at.getTime()) ? undefined : at }
}

/** A note is short. */
const MOST_OF_IT = 1_000

/** Undefined if the home was not restored. A file that cannot be read is one nevertheless. */
export const readRestored = (home: string): RestoreNote | undefined => {
  let text: string
  try {
    text = readFileSync(restoredFile(home), 'utf8').slice(0, MOST_OF_IT)
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'ENOENT') return undefined
    text = ''
  }
  try {
    return restoreNote(text, (JSON.parse(text) as { backup_at: string }).backup_at)
  } catch {
    return { id: text, backupAt: undefined }
  }
}
