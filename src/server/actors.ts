/**
 * The actors of this process. All that they know about the product is what this file tells them.
 */
import { Runtime, type RuntimeDeps } from '#actors/engine/runtime'
import { gateHook } from '#decisions/gate'
import { consequencesOn } from '#decisions/growth/follow-up'
import { workTable } from '#decisions/work'
import { systemClock } from '#kernel/clock'
import type { Networks } from '#port/network/registry'
import type { StartupContext } from './opening.ts'

const REPLY_WITHIN_MS = 20_000
const IDLE_MS = 300_000
const SWEEP_MS = 250

/** Not started yet, because their lanes are made from parts that call them. */
export const createActors = (
  { config, options, keys, log, failpoints, meters, tracer, overrides, stack }: StartupContext,
  { networks, ...told }: Pick<RuntimeDeps, 'db' | 'followers'> & { networks: Networks },
): Runtime => {
  const {
    clock = systemClock,
    replyWithinMs = REPLY_WITHIN_MS,
    idleMs = IDLE_MS,
    sweepMs = SWEEP_MS,
    mailbox = {},
  } = overrides
  // The engine's configuration for this product.
  const consequences = consequencesOn(networks.marking)
  const product = { kinds: workTable, gate: gateHook, consequences }
  const shared = { ...told, options, keys, log, failpoints, ...product, url: config.nodeUrl }
  const meter = meters?.meter
  return stack.use(
    new Runtime({ ...shared, clock, replyWithinMs, idleMs, sweepMs, mailbox, meter, tracer }),
  )
}
