import type { automation } from '#contract/growth/automation'
import { attemptsInFlight } from '#store/attempts'
import { lockBatch } from '#store/batches'
import { type Effects, merge } from '#store/letter'
import { failedEffects } from '#store/settled'
import { automaticWork } from '#store/work'
import type { CommandContext, Handlers } from '../call.ts'
import { settleRecalled } from '../recall.ts'

export const automationHandlers: Handlers<typeof automation> = {
  async pauseAll(_, context) {
    const recalled = context.lanes.recall((work) => work.origin === 'automatic')
    const posts = recalled.filter((work) => work.kind === 'publish')
    const held = await settleRecalled(context, posts, { kind: 'unsent' })
    const reads = recalled.filter((work) => work.lane === 'sync').map((work) => ({ id: work.id, runAt: context.gate.now }))
    const cancelled = await cancelGenerations(context)
    const reply = { automation: { paused: true, in_flight: await inFlight(context, new Set(held.itemIds)) } }
    return { reply, effects: merge({ paused: true, requeued: reads }, held.effects, ...cancelled) }
  },

  async resumeAll(_, context) {
    return { reply: { automation: { paused: false, in_flight: await inFlight(context, new Set()) } }, effects: { paused: false } }
  },
}

/** What was being drafted unattended, or was to be, ends as cancelled, and its quota comes back. */
const cancelGenerations = async ({ sql, gate }: CommandContext): Promise<Effects[]> => {
  const works = [...(await automaticWork(sql, 'queued', 'generation')), ...(await automaticWork(sql, 'running', 'generation'))]
  const effects: Effects[] = []
  for (const work of works) effects.push(failedEffects(await lockBatch(sql, work.ref_id), 'cancelled', { now: gate.now, work }))
  return effects
}

const inFlight = async ({ sql }: CommandContext, recalled: Set<string>) => {
  const attempts = await attemptsInFlight(sql)
  return attempts
    .filter((attempt) => !recalled.has(attempt.item_id))
    .map(({ item_id, origin, intent_at }) => ({ item_id, origin, since: intent_at }))
}
