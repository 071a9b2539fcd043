/**
 * Removes objects from S3 that no row refers to any more, including those of erased workspaces. Any
 * number of processes can do this.
 */

import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import { forgetRemoval, type Removal, takeRemovals } from '#store/app/files'
import type { Db } from '#store/engine/db'
import { type Periodic, startPeriodic } from '../../engine/periodic.ts'

export interface RemovalDeps extends Pick<Periodic, 'rests'> {
  db: Db
  clock: Clock
  log: Log
  everyMs: number
  /**
   * Removes an object; with `unfinished`, also its uploads. It succeeds if the object is already
   * gone.
   */
  remove(key: string, unfinished: boolean): Promise<void>
}

/** How many objects a process removes at once. */
const AT_ONCE = 4
/** From this try on, tries are an hour apart. */
const RESTS_FROM = 6

export const startRemoval = ({ db, log, remove, ...timing }: RemovalDeps): AsyncDisposable => {
  /** False if it must be tried again; the pauses grow. */
  const removed = async ({ key, unfinished, tries }: Removal): Promise<boolean> => {
    try {
      await remove(key, unfinished)
      await forgetRemoval(db, key)
      return true
    } catch (cause) {
      if (tries < RESTS_FROM)
        log.warn(
          { err: cause, key },
          'could not remove an object that is no longer needed; will retry',
        )
      else
        log.error(
          { err: cause, key, tries },
          'an object that is no longer needed cannot be removed; each try rests for an hour',
        )
      return false
    }
  }
  const pass = async (stopped: () => boolean): Promise<void> => {
    while (!stopped()) {
      const due = await takeRemovals(db, AT_ONCE)
      const done = await Promise.all(due.map(removed))
      // Do not flood a storage that is down.
      if (due.length < AT_ONCE || done.includes(false)) return
    }
  }
  const failed = (cause: unknown) => log.warn({ err: cause }, 'could not list objects to remove')
  return startPeriodic({ ...timing, pass: (stopped) => pass(stopped).catch(failed) })
}
