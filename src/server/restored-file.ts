/** What `tendril admin restore` leaves in the home that it has made. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const restoredFile = (home: string): string => join(home, 'restored.json')

interface Restored {
  /** When the backup was made. */
  backupAt: Date | undefined
}

/** Undefined if the home was not restored. A file that cannot be read is one nevertheless. */
export const readRestored = (home: string): Restored | undefined => {
  let text: string
  try {
    text = readFileSync(restoredFile(home), 'utf8')
  } catch {
    return undefined
  }
  try {
    const at = new Date((JSON.parse(text) as { backup_at: string }).backup_at)
    return { backupAt: Number.isNaN(at.getTime()) ? undefined : at }
  } catch {
    return { backupAt: undefined }
  }
}
