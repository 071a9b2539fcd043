/** Periodically erases workspaces whose grace period is over. Any number of processes can: each row goes once. */

import { startPeriodic } from '#actors/engine/periodic'
import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { eraseSome, tenantsToErase } from '#store/app/erasure'
import { hasTenant } from '#store/app/tenants'
import type { Db } from '#store/engine/db'

export interface ErasureDeps {
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

export const startErasure = ({ db, log, failpoints, rows, ...timing }: ErasureDeps): AsyncDisposable => {
  const erase = async (tenantId: string, stopped: () => boolean): Promise<void> => {
    while (!stopped() && (await eraseSome(db, tenantId, rows))) await failpoints('erasure.erasing')
    if (!stopped() && !(await hasTenant(db, tenantId))) log.info({ workspace: tenantId }, 'a deleted workspace was erased')
  }
  const pass = async (stopped: () => boolean): Promise<void> => {
    for (const tenantId of await tenantsToErase(db, TENANTS_AT_ONCE)) {
      if (stopped()) return
      // A workspace that cannot be erased now does not hold up the others.
      await erase(tenantId, stopped).catch((cause) =>
        log.warn({ err: cause, workspace: tenantId }, 'could not erase a workspace; will retry'),
      )
    }
  }
  const failed = (cause: unknown) => log.warn({ err: cause }, 'could not list workspaces to erase')
  return startPeriodic({ ...timing, pass: (stopped) => pass(stopped).catch(failed) })
}
