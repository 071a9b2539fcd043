/** What a backup is asked for, and what came of it. */
import type { Config } from '#config/config'
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import type { BackupHead } from './contents.ts'
import type { Destination } from './destination.ts'
import { LEAST_FREE } from './room.ts'
import type { BackupLimits } from './watch.ts'

/** A disk of a small machine reads this much beside its usual work. */
export const USUAL_MB_PER_S = 20

export const USUAL_LIMITS: BackupLimits = {
  mostHeldBytes: 2 ** 30,
  leastFree: LEAST_FREE,
  everyMs: 500,
  stalledMs: 600_000,
}

/** Why a second backup is refused. */
export const RUNNING = 'another backup of this database is being made: wait until it is done'
export const EMPTY = 'there is nothing to back up: no server has used this database yet'

export interface BackupOrder {
  to: Destination
  passphrase: string | undefined
  mbPerSecond?: number | undefined
  limits?: Partial<BackupLimits>
  clock?: Clock
  /** Called with the bytes of the write-ahead log that the backup holds back. */
  onHeld?(bytes: number): void
  /** Gives the backup up. */
  signal?: AbortSignal
}

export interface TakenBackup {
  /** Every command that was acknowledged before this time is in it. */
  at: string
  kind: BackupHead['kind']
  version: string
  files: number
  bytes: number
  encrypted: boolean
  seconds: number
}

export interface BackupPlace {
  config: Config
  log: Log
}
