import type { automation } from '#contract/growth/automation'
import { publishTimes, settle } from '#domain/publish'
import { attemptsInFlight, openAttempt } from '#store/attempts'
import { lockBatch } from '#store/batches'
import { lockItem } from '#store/items'
import { type Effects, merge } from '#store/letter'
import { failedEffects, settledEffects } from '#store/settled'
import { automaticWork, type Work } from '#store/work'
import type { CommandContext, Handlers } from '../call.ts'

export const automationHandlers: Handlers<typeof automation> = {
  async pauseAll(_, context) {
    const recalled = context.lanes.recall((work) => work.origin === 'automatic')
    const posts = recalled.filter((work) => work.kind === 'publish')
    const held = await Promise.all(posts.map((work) => holdPost(context, work)))
    const reads = recalled.filter((work) => work.lane === 'sync').map((work) => ({ requeued: [{ id: work.id, runAt: context.gate.now }] }))
    const cancelled = await cancelGenerations(context)
    const refs = new Set(posts.map((work) => work.ref_id))
    const reply = { automation: { paused: true, in_flight: await inFlight(context, refs) } }
    const effects = merge({ paused: true }, ...held, ...reads, ...cancelled)
    return { reply, effects }
  },

  async resumeAll(_, context) {
    return { reply: { automation: { paused: false, in_flight: await inFlight(context, new Set()) } }, effects: { paused: false } }
  },
}

/** Claimed but not sent: back on the schedule, where it stays while the switch is on. */
const holdPost = async ({ sql, gate }: CommandContext, work: Work): Promise<Effects> => {
  const item = await lockItem(sql, work.ref_id)
  const attempt = await openAttempt(sql, work.ref_id)
  if (!attempt) return {}
  const tries = Number(work.payload.tries ?? 0)
  return settledEffects(settle({ item, attempt, tries, now: gate.now, times: publishTimes }, { kind: 'unsent' }), work)
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
