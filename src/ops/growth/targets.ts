import type { targets } from '#contract/growth/targets'
import { targetRecord } from '#contract/records/growth/target'
import { viewOf } from '#contract/records/view'
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
import type { Connection } from '#domain/growth/sending/connection'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Networks } from '#port/network/registry'
import type { Effects, NewWork } from '#store/engine/letter'
import { type Work, workFor } from '#store/engine/work'
import { defaultPart } from '#store/growth/connections'
import {
  deleteTarget,
  insertTarget,
  listTargets,
  otherTargets,
  saveTarget,
  targetById,
  targetPart,
  type WatchedTarget,
} from '#store/growth/targets'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const shown = viewOf(targetRecord)

const view = (target: Target, dueAt: Date | null, watching: Watching) => ({
  ...shown(target),
  next_read_at: nextReadAt(target.status, dueAt, watching),
})

const tierOf = (networks: Networks, network: string | null | undefined): Tier | null =>
  (network ? networks.named(network)?.limits.tier : undefined) ?? null

const targetView = (
  { due_at, paused, network, plan, billing, overrides, counters, now, ...target }: WatchedTarget,
  networks: Networks,
) =>
  view(target, due_at, {
    plan: { plan, billing, overrides },
    counters,
    now,
    paused,
    tier: tierOf(networks, network),
  })

const watchingIn = (
  { gate, networks }: CommandContext,
  account: Connection | undefined,
): Watching => ({
  plan: gate.plan,
  counters: gate.counters,
  now: gate.now,
  paused: gate.paused,
  tier: tierOf(networks, account?.network),
})

const watchWork = ({ id }: Target, runAt: Date): NewWork =>
  newWork('watch', { refId: id, origin: 'automatic', runAt })

/** Creates, moves or removes the work for the next read. Running work reschedules itself. */
const rescheduleRead = (
  target: Target,
  work: Work | undefined,
  now: Date,
): { dueAt: Date | null; effects: Effects } => {
  if (work?.state === 'running') return { dueAt: now, effects: {} }
  if (target.status === 'paused')
    return { dueAt: null, effects: work ? { settled: [work.id] } : {} }
  const dueAt = new Date(Math.max(now.getTime(), nextTargetRead(target).getTime()))
  return {
    dueAt,
    effects: work
      ? { requeued: [{ id: work.id, runAt: dueAt }] }
      : { work: [watchWork(target, dueAt)] },
  }
}

export const targetHandlers: Handlers<typeof targets> = {
  async list({ status, ...input }, { read, networks }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listTargets({ ...page, status })),
      page.limit,
    )
    return { targets: rows.map((row) => targetView(row, networks)), next_cursor }
  },

  async get({ id }, { read, networks }) {
    const [row] = await read(targetById(id))
    return { target: targetView(found(row, 'no such target'), networks) }
  },

  create: loading(
    ({ handle }) => ({ others: otherTargets(normalHandle(handle)), account: defaultPart }),
    ({ handle, category = null, priority = 2 }, context, { others, account }) => {
      const { gate } = context
      const target = newTarget(newId(), {
        handle,
        category: category?.trim() ?? null,
        priority,
        others,
        now: gate.now,
      })
      requireFeature(gate.plan, 'engagement')
      const effects = { writes: [insertTarget(target)], work: [watchWork(target, gate.now)] }
      return {
        reply: { target: view(target, gate.now, watchingIn(context, account)) },
        effects,
        refId: target.id,
      }
    },
  ),

  update: loading(
    ({ id }) => ({ before: targetPart(id), work: workFor('watch', id), account: defaultPart }),
    ({ id: _, ...patch }, context, { before, work, account }) => {
      const { gate } = context
      const target = updateTarget(found(before, 'no such target'), patch, gate.now)
      requireFeature(gate.plan, 'engagement')
      const { dueAt, effects } = rescheduleRead(target, work, gate.now)
      const reply = { target: view(target, dueAt, watchingIn(context, account)) }
      return { reply, effects: { ...effects, writes: [saveTarget(target)] } }
    },
  ),

  remove: loading(
    ({ id }) => ({ before: targetPart(id), work: workFor('watch', id), account: defaultPart }),
    ({ id }, context, { before, work, account }) => {
      const target = found(before, 'no such target')
      const reply = { target: view(target, null, watchingIn(context, account)) }
      // If a read is under way, its outcome is dropped with its row.
      return { reply, effects: { writes: [deleteTarget(id)], settled: work ? [work.id] : [] } }
    },
  ),
}
