import type { targets } from '#contract/growth/targets'
import { newWork } from '#decisions/work'
import { requireFeature } from '#domain/app/plan'
import type { Tier } from '#domain/app/read-budget'
import {
  newTarget,
  nextReadAt,
  nextTargetRead,
  normalHandle,
  type Target,
  updateTarget,
  type Watching,
} from '#domain/growth/learning/target'
import { newId } from '#kernel/ids'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import type { Effects, NewWork } from '#store/engine/letter'
import { workOf } from '#store/engine/work'
import { currentDefault } from '#store/growth/connections'
import { insertTarget, listTargets, lockTarget, otherTargets, saveTarget, type WatchedTarget } from '#store/growth/targets'
import type { CommandContext, Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const view = ({ failures: _, ...target }: Target, dueAt: Date | null, watching: Watching) => ({
  ...target,
  next_read_at: nextReadAt(target.status, dueAt, watching),
})

const tierOf = (networks: Networks, network: string | null | undefined): Tier | null =>
  (network ? networks.named(network)?.limits.tier : undefined) ?? null

const targetView = ({ due_at, paused, network, plan, billing, overrides, counters, now, ...target }: WatchedTarget, networks: Networks) =>
  view(target, due_at, { plan: { plan, billing, overrides }, counters, now, paused, tier: tierOf(networks, network) })

const watchingIn = async ({ sql, gate, networks }: CommandContext): Promise<Watching> => ({
  ...{ plan: gate.plan, counters: gate.counters, now: gate.now, paused: gate.paused },
  tier: tierOf(networks, (await currentDefault(sql))?.network),
})

const watchWork = ({ id }: Target, runAt: Date): NewWork => newWork('watch', { refId: id, origin: 'automatic', runAt })

/** Creates, moves or removes the work for the next read. Running work reschedules itself. */
const rescheduleRead = async (sql: Sql, target: Target, now: Date): Promise<{ dueAt: Date | null; effects: Effects }> => {
  const work = await workOf(sql, 'watch', target.id)
  if (work?.state === 'running') return { dueAt: now, effects: {} }
  if (target.status === 'paused') return { dueAt: null, effects: work ? { settled: [work.id] } : {} }
  const dueAt = new Date(Math.max(now.getTime(), nextTargetRead(target).getTime()))
  return { dueAt, effects: work ? { requeued: [{ id: work.id, runAt: dueAt }] } : { work: [watchWork(target, dueAt)] } }
}

export const targetHandlers: Handlers<typeof targets> = {
  async list({ status, ...input }, { read, networks }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<WatchedTarget>(listTargets({ ...page, status })), page.limit)
    return { targets: rows.map((row) => targetView(row, networks)), next_cursor }
  },

  async create({ handle, category = null, priority = 2 }, context) {
    const { sql, gate } = context
    const others = await otherTargets(sql, normalHandle(handle))
    const target = newTarget(newId(), { handle, category: category?.trim() ?? null, priority, others, now: gate.now })
    requireFeature(gate.plan, 'engagement')
    const effects = { writes: [insertTarget(target)], work: [watchWork(target, gate.now)] }
    return { reply: { target: view(target, gate.now, await watchingIn(context)) }, effects, refId: target.id }
  },

  async update({ id, ...patch }, context) {
    const { sql, gate } = context
    const target = updateTarget(await lockTarget(sql, id), patch, gate.now)
    requireFeature(gate.plan, 'engagement')
    const { dueAt, effects } = await rescheduleRead(sql, target, gate.now)
    return { reply: { target: view(target, dueAt, await watchingIn(context)) }, effects: { ...effects, writes: [saveTarget(target)] } }
  },
}
