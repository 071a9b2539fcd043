/** Removes data past its retention, workspace by workspace, even in idle ones. Any number of processes can: each row goes once. */
import { randomUUID } from 'node:crypto'
import { startPeriodic } from '#actors/engine/periodic'
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import { type Retention, sweepSome, tenantsAfter } from '#store/app/sweep'
import type { Db } from '#store/engine/db'

export interface SweepDeps extends Retention {
  db: Db
  clock: Clock
  log: Log
  everyMs: number
  /** The most rows of a kind that one transaction removes: letters of the workspace wait for it. */
  rows: number
  /** How many workspaces one pass covers; the next one continues from there. */
  tenants: number
}

/** Sorts before all ids. */
const START = '00000000-0000-0000-0000-000000000000'

export const startSweep = ({ db, log, keepDays, agentKeepDays, rows, tenants, ...timing }: SweepDeps): AsyncDisposable => {
  // If one pass does not cover all workspaces, processes that start together begin at different ones.
  let after: string = randomUUID()
  const sweep = async (tenantId: string, stopped: () => boolean): Promise<void> => {
    while (!stopped() && (await sweepSome(db, tenantId, { keepDays, agentKeepDays, rows })));
  }
  const next = async (): Promise<string[]> => {
    const found = await tenantsAfter(db, after, tenants)
    if (found.length === tenants) return found
    const first = await tenantsAfter(db, START, tenants - found.length)
    return [...found, ...first.filter((id) => !found.includes(id))]
  }
  const pass = async (stopped: () => boolean): Promise<void> => {
    for (const tenantId of await next()) {
      if (stopped()) return
      await sweep(tenantId, stopped).catch((cause) =>
        log.warn({ err: cause, workspace: tenantId }, 'could not sweep a workspace; will retry'),
      )
      after = tenantId
    }
  }
  const failed = (cause: unknown) => log.warn({ err: cause }, 'could not list workspaces to sweep')
  return startPeriodic({ ...timing, pass: (stopped) => pass(stopped).catch(failed) })
}
