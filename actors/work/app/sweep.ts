/**
 * Removes expired data, even in idle workspaces, by visiting those where some may have expired. One
 * process visits each.
 */
import { isItsOwn } from '#actors/engine/failure'
import { type Periodic, startPeriodic } from '#actors/engine/periodic'
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import {
  needingSweep,
  noteRetention,
  noteSweeps,
  type Retention,
  restSweep,
  type Sweepable,
  sweepSome,
  takeSweepable,
} from '#store/app/sweep'
import type { Db } from '#store/engine/db'

export interface SweepDeps extends Retention, Pick<Periodic, 'rests'> {
  db: Db
  clock: Clock
  log: Log
  /** Also the time between two visits of a workspace that is awake. */
  everyMs: number
  /**
   * The most rows of a kind that one transaction removes, because letters of the workspace wait for
   * it.
   */
  rows: number
  /** How many workspaces one pass visits; the others wait for the next pass. */
  tenants: number
}

/** How many workspaces a process takes at once; the rest are left for other processes. */
const TAKEN_AT_ONCE = 20
/**
 * How long a workspace rests that could not be swept by its own fault. Then it is tried again,
 * after the others.
 */
const RESTS_MS = 3_600_000

export const startSweep = ({
  db,
  log,
  rows,
  tenants,
  keepDays,
  agentKeepDays,
  ...timing
}: SweepDeps): AsyncDisposable => {
  const retention = { keepDays, agentKeepDays }
  let isNoted = false
  const note = (swept: readonly Sweepable[]) =>
    noteSweeps(db, swept, { ...retention, everyMs: timing.everyMs })
  const visit = async (one: Sweepable, stopped: () => boolean): Promise<void> => {
    while (await sweepSome(db, one.tenantId, { ...retention, rows })) if (stopped()) return
    await note([one])
  }
  const failedAt = async (one: Sweepable, cause: unknown): Promise<void> => {
    const about = { err: cause, workspace: one.tenantId }
    if (!isItsOwn(cause)) return log.warn(about, 'could not sweep a workspace; will retry')
    log.error(about, 'the removal of what has expired in a workspace fails, and rests for an hour')
    await restSweep(db, one, RESTS_MS).catch(() => {})
  }
  /**
   * Of the workspaces that were taken, those to visit. The others are done with. One by whose fault
   * this fails is found by visiting all.
   */
  const needingOf = async (taken: readonly Sweepable[]): Promise<readonly Sweepable[]> => {
    if (taken.length === 0) return []
    try {
      const needing = await needingSweep(db, taken, { ...retention, rows })
      const done = taken.filter((one) => !needing.includes(one))
      if (done.length > 0) await note(done)
      return needing
    } catch (cause) {
      log.debug({ err: cause }, 'could not look at some workspaces at once')
      return taken
    }
  }
  const pass = async (stopped: () => boolean): Promise<void> => {
    if (!isNoted) await noteRetention(db, retention)
    isNoted = true
    for (let left = tenants; left > 0 && !stopped(); ) {
      const limit = Math.min(left, TAKEN_AT_ONCE)
      const taken = await takeSweepable(db, limit)
      const needing = await needingOf(taken)
      for (const one of needing) {
        if (stopped()) return
        await visit(one, stopped).catch((cause) => failedAt(one, cause))
      }
      if (taken.length < limit) return
      left -= limit
    }
  }
  const failed = (cause: unknown) =>
    log.warn({ err: cause }, 'could not look for workspaces to sweep')
  return startPeriodic({ ...timing, pass: (stopped) => pass(stopped).catch(failed) })
}
