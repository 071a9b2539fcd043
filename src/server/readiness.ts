/** Whether this process can do its work: by its own state, and by a question to the database. */
import type { Readiness } from '#edge/ready'
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import { sharedQuestion } from '#kernel/shared-question'
import type { Db } from '#store/engine/db'
import { isMigrated } from '#store/engine/migrations'
import type { DeploymentWatch } from './watching.ts'

export interface ReadinessDeps extends Pick<DeploymentWatch, 'held'> {
  db: Db
  clock: Clock
  log: Log
  /** The part of its life that the process is in. */
  stage(): 'starting' | 'running' | 'stopping'
  /** Whether it owns what it has taken, and can take more. */
  serving(): boolean
}

/** Probes usually wait a few seconds at most. */
const WITHIN_MS = 1_500
/** However many probes there are, they cost four statements a second. */
const KEEP_MS = 250

/** Each start and stop of a server comes by these. */
const isExpected = (reason: string): boolean => reason === 'starting' || reason === 'stopping'

export const readinessOf = (deps: ReadinessDeps): (() => Promise<Readiness>) => {
  const { db, clock, log, stage, serving, held = async () => false } = deps
  const inDatabase = sharedQuestion(
    async () => {
      const [migrated, isHeld] = await Promise.all([isMigrated(db), held()])
      return { migrated, isHeld }
    },
    { clock, withinMs: WITHIN_MS, keepMs: KEEP_MS },
  )
  const reasonOf = async (): Promise<Readiness> => {
    const now = stage()
    if (now !== 'running') return { reason: now, held: false }
    const found = await inDatabase()
    if (!found) return { reason: 'database', held: false }
    if (!found.migrated) return { reason: 'migrations', held: found.isHeld }
    return serving() ? { held: found.isHeld } : { reason: 'ownership', held: found.isHeld }
  }
  let last: Readiness['reason']
  return async () => {
    const readiness = await reasonOf()
    const { reason } = readiness
    if (reason !== last && reason)
      log[isExpected(reason) ? 'info' : 'warn']({ reason }, 'this server is not ready')
    if (reason !== last && !reason) log.info('this server is ready')
    last = reason
    return readiness
  }
}
