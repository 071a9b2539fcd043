/** The deployment's recurring work. */
import { startErasure } from '#actors/work/app/erasure'
import { startRemoval } from '#actors/work/app/removal'
import { startSweep } from '#actors/work/app/sweep'
import type { Config } from '#config/config'
import { systemClock } from '#kernel/clock'
import { failpointsFrom } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Recurring } from './opening.ts'
import type { Workplace } from './workplace.ts'

/** Once a minute is enough after a grace period of 14 days. */
const ERASURE = { everyMs: 60_000, rows: 1_000 }
/**
 * In up to a thousand workspaces, expired rows are removed within a minute. If there are more
 * workspaces, they take turns.
 */
const SWEEP = { everyMs: 60_000, rows: 1_000, tenants: 1_000 }
const REMOVAL_MS = 60_000

/**
 * What each recurring work does while the deployment is held. All of it removes something, and none
 * of it is urgent, so all of it waits. Objects in S3 also stay after the hold, until an operator
 * says that no other deployment needs them. It starts in this order: what the first
 * sweep finds is left to a later removal, because one that a stop cuts off rests for a minute.
 */
const whileHeld = {
  erasure: 'waits',
  removal: 'waits and asks',
  sweep: 'waits',
} as const satisfies Record<Recurring, string>
const recurringWork = Object.keys(whileHeld) as Recurring[]

export const startPeriodicWork = (
  { db, storage, runtime, overrides }: Workplace,
  { failpoints, auditKeepDays: keepDays, agentKeepDays }: Config,
  log: Log,
): AsyncDisposable => {
  const stack = new AsyncDisposableStack()
  const restsOf = {
    waits: () => runtime.hold.since !== null,
    'waits and asks': () => runtime.hold.since !== null || runtime.hold.keepsObjects,
  }
  const shared = (one: Recurring) => ({
    db,
    log,
    clock: systemClock,
    rests: restsOf[whileHeld[one]],
  })
  const starts: Record<Recurring, () => AsyncDisposable | undefined> = {
    erasure: () =>
      startErasure({
        ...shared('erasure'),
        failpoints: overrides.failpoints ?? failpointsFrom(failpoints),
        ...ERASURE,
        ...overrides.erasure,
      }),
    removal: () =>
      storage &&
      startRemoval({
        ...shared('removal'),
        remove: storage.remove,
        everyMs: overrides.removalMs ?? REMOVAL_MS,
      }),
    sweep: () =>
      startSweep({ ...shared('sweep'), keepDays, agentKeepDays, ...SWEEP, ...overrides.sweep }),
  }
  const { recurring = recurringWork } = overrides
  for (const one of recurring) stack.use(starts[one]())
  return stack
}
