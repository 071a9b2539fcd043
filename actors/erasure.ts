/** Looks now and then for workspaces whose time is over, and erases them. Any number of processes may: each row goes once. */
import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Db } from '#store/db'
import { doomedTenants, eraseSome } from '#store/erasure'
import { hasTenant } from '#store/tenants'

export interface ErasureDeps {
  db: Db
  clock: Clock
  log: Log
  failpoints: Failpoints
  everyMs: number
  /** How many rows one transaction removes. */
  rows: number
}

/** Of one look; the others wait for the next. */
const TENANTS_AT_ONCE = 10

/** Begins at once, because a process may never live as long as its interval. Disposing waits for the transaction that runs. */
export const startErasure = (deps: ErasureDeps): AsyncDisposable => {
  let stopped = false
  let timer: Disposable | undefined
  const erase = async (tenantId: string): Promise<void> => {
    while (!stopped && (await eraseSome(deps.db, tenantId, deps.rows))) await deps.failpoints('erasure.erasing')
    if (!stopped && !(await hasTenant(deps.db, tenantId))) deps.log.info({ tenant: tenantId }, 'a deleted workspace was erased')
  }
  const look = async (): Promise<void> => {
    for (const tenantId of await doomedTenants(deps.db, TENANTS_AT_ONCE)) {
      if (stopped) return
      // One that cannot be erased now does not keep the others.
      await erase(tenantId).catch((cause) => deps.log.warn({ err: cause, tenant: tenantId }, 'a workspace could not be erased yet'))
    }
  }
  const run = async (): Promise<void> => {
    await look().catch((cause) => deps.log.warn({ err: cause }, 'deleted workspaces could not be looked for'))
    if (!stopped) timer = deps.clock.after(deps.everyMs, () => void begin())
  }
  let running = Promise.resolve()
  const begin = (): void => {
    running = run()
  }
  begin()
  return {
    async [Symbol.asyncDispose]() {
      stopped = true
      timer?.[Symbol.dispose]()
      await running
    },
  }
}
