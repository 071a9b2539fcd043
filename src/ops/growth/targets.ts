import type { targets } from '#contract/growth/targets'
import { requireFeature } from '#domain/plan'
import { newTarget, nextRead, normalHandle, type Target, updateTarget } from '#domain/target'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/db'
import type { Effects, NewWork } from '#store/letter'
import { insertTarget, listTargets, lockTarget, otherTargets, saveTarget } from '#store/targets'
import { workOf } from '#store/work'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const view = (target: Target) => {
  const { failures: _, ...shown } = target
  return { ...shown, next_read_at: target.status === 'active' ? nextRead(target) : null }
}

const watching = ({ id }: Target, runAt: Date): NewWork => ({
  id: newId(),
  lane: 'sync',
  kind: 'watch',
  refId: id,
  origin: 'automatic',
  runAt,
})

/** The row that says when it is read next: made, moved or taken away. One that runs settles by itself. */
const rewatched = async (sql: Sql, target: Target, now: Date): Promise<Effects> => {
  const work = await workOf(sql, 'watch', target.id)
  if (work?.state === 'running') return {}
  if (target.status === 'paused') return work ? { settled: [work.id] } : {}
  const runAt = new Date(Math.max(now.getTime(), nextRead(target).getTime()))
  return work ? { requeued: [{ id: work.id, runAt }] } : { work: [watching(target, runAt)] }
}

export const targetHandlers: Handlers<typeof targets> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Target>(listTargets({ ...page, status })), page.limit)
    return { targets: rows.map(view), next_cursor }
  },

  async create({ handle, category = null, priority = 2 }, { sql, gate }) {
    const others = await otherTargets(sql, normalHandle(handle))
    const target = newTarget(newId(), { handle, category: category?.trim() ?? null, priority, others, now: gate.now })
    requireFeature(gate.plan, 'engagement')
    const effects = { writes: [insertTarget(target)], work: [watching(target, gate.now)] }
    return { reply: { target: view(target) }, effects, refId: target.id }
  },

  async update({ id, ...patch }, { sql, gate }) {
    const target = updateTarget(await lockTarget(sql, id), patch, gate.now)
    requireFeature(gate.plan, 'engagement')
    const effects = await rewatched(sql, target, gate.now)
    return { reply: { target: view(target) }, effects: { ...effects, writes: [saveTarget(target)] } }
  },
}
