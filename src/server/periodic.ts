/** The deployment's recurring work. */
import { startErasure } from '#actors/work/app/erasure'
import { startRemoval } from '#actors/work/app/removal'
import { startSweep } from '#actors/work/app/sweep'
import type { Config } from '#config/config'
import { systemClock } from '#kernel/clock'
import { failpointsFrom } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Workplace } from './workplace.ts'

/** Once a minute is enough after a grace period of 14 days. */
const ERASURE = { everyMs: 60_000, rows: 1_000 }
/**
 * In up to a thousand workspaces, expired rows are removed within a minute. If there are more
 * workspaces, they take turns.
 */
const SWEEP = { everyMs: 60_000, rows: 1_000, tenants: 1_000 }
const REMOVAL_MS = 60_000

export const startPeriodicWork = (
  { db, storage, overrides }: Workplace,
  { failpoints, auditKeepDays: keepDays, agentKeepDays }: Config,
  log: Log,
): AsyncDisposable => {
  const stack = new AsyncDisposableStack()
  const shared = { db, log, clock: systemClock }
  stack.use(
    startErasure({
      ...shared,
      failpoints: overrides.failpoints ?? failpointsFrom(failpoints),
      ...ERASURE,
      ...overrides.erasure,
    }),
  )
  if (storage)
    stack.use(
      startRemoval({
        ...shared,
        remove: storage.remove,
        everyMs: overrides.removalMs ?? REMOVAL_MS,
      }),
    )
  stack.use(startSweep({ ...shared, keepDays, agentKeepDays, ...SWEEP, ...overrides.sweep }))
  return stack
}
