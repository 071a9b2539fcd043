/**
 * Periodically erases workspaces whose grace period is over. Any number of processes can do this:
 * each row is erased once.
 */

import { isItsOwn } from '#actors/engine/failure'
import { type Periodic, startPeriodic } from '#actors/engine/periodic'
import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { eraseSome, restErasure, tenantsToErase } from '#store/app/erasure'
import { hasTenant } from '#store/app/tenants'
import type { Db } from '#store/engine/db'

export interface ErasureDeps extends Pick<Periodic, 'rests'> {
  db: Db
  clock: Clock
  log: Log
  failpoints: Failpoints
  everyMs: number
  /** The most rows one transaction removes. */
  rows: number
}

/** The most workspaces of one pass. */
const TENANTS_AT_ONCE = 10

/**
 * How long a workspace whose erasure failed rests, so that others have their turn. Otherwise a pass
 * full of failing workspaces could hold up all others.
 */
const RESTS_MS = 3_600_000
/** How long it rests if the database was unreachable, or somebody held its rows. */
const RESTS_BRIEFLY_MS = 300_000

export const startErasure = ({
  db,
  log,
  failpoints,
  rows,
  ...timing
}: ErasureDeps): AsyncDisposable => {
  const erase = async (tenantId: string, stopped: () => boolean): Promise<void> => {
    while (!stopped() && (await eraseSome(db, tenantId, rows))) await failpoints('erasure.erasing')
    if (!stopped() && !(await hasTenant(db, tenantId)))
      log.info({ workspace: tenantId }, 'a deleted workspace was erased')
  }
  /**
   * While the database accepts nothing, nothing is counted, and the next pass tries the workspace
   * again.
   */
  const rest = async (tenantId: string, cause: unknown): Promise<void> => {
    const [counted, about] = [isItsOwn(cause), { err: cause, workspace: tenantId }]
    const ms = counted ? RESTS_MS : RESTS_BRIEFLY_MS
    const failures = await restErasure(db, tenantId, { ms, counted, error: String(cause) }).catch(
      () => undefined,
    )
    if (failures === undefined || !counted)
      log.warn(about, 'could not erase a workspace; will retry')
    else
      log.error({ ...about, failures }, 'the erasure of a workspace fails, and rests for an hour')
  }
  const pass = async (stopped: () => boolean): Promise<void> => {
    for (const tenantId of await tenantsToErase(db, TENANTS_AT_ONCE)) {
      if (stopped()) return
      await erase(tenantId, stopped).catch((cause) => rest(tenantId, cause))
    }
  }
  const failed = (cause: unknown) => log.warn({ err: cause }, 'could not list workspaces to erase')
  return startPeriodic({ ...timing, pass: (stopped) => pass(stopped).catch(failed) })
}
