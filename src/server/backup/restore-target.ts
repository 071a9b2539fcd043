/** What becomes of a backup. */
import type { CheckedBackup, PartVisitor } from './check.ts'

/** Tells the next start that what it finds is from an earlier time. */
export interface NoteOfRestore {
  /** Every command that was acknowledged before this time is in it. */
  backup_at: string
  restored_at: string
  version: string
}

/** The file of the note, in the home. */
export const RESTORED_NOTE = 'restored.json'

/** Disposing without `finish` leaves nothing behind. */
export interface RestoreTarget extends Omit<PartVisitor, 'head'>, AsyncDisposable {
  /** Called when all of the backup has been checked. Returns where it is now. */
  finish(checked: CheckedBackup, note: NoteOfRestore): Promise<string>
}
