import type { automation } from '#contract/growth/automation'
import { failWork } from '#decisions/growth/generations'
import { settleRecalled } from '#decisions/growth/recall'
import { resumedPatterns } from '#decisions/growth/rule-times'
import { skips } from '#domain/growth/rules/rule-run'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { automaticWork, type Work, workOfRules } from '#store/engine/work'
import { attemptsInFlight } from '#store/growth/attempts'
import { skipQueuedRuns } from '#store/growth/rule-runs'
import type { CommandContext, Handlers } from '../call.ts'

export const automationHandlers: Handlers<typeof automation> = {
  async pauseAll(_, context) {
    const { automation, effects } = await stopped(context, unattended)
    return { reply: { automation }, effects, unchanged: context.gate.paused && isIdle(effects) }
  },

  async resumeAll(_, context) {
    const automation = { paused: false, in_flight: await inFlight(context, new Set()) }
    const patterns = context.gate.paused ? await resumedPatterns(context) : {}
    return { reply: { automation }, effects: merge({ paused: false }, patterns) }
  },
}

/** Whether a stop has reached nothing. */
const isIdle = ({ writes = [], settled = [], requeued = [], events = [] }: Effects): boolean =>
  writes.length + settled.length + requeued.length + events.length === 0

/** What a stop is to reach. */
export interface Reach {
  /** Of the lanes that run. */
  lanes(work: Work): boolean
  generations(sql: Sql): Promise<Work[]>
}

const unattended: Reach = {
  lanes: (work) => work.origin === 'automatic',
  generations: async (sql) => [
    ...(await automaticWork(sql, 'queued', 'generation')),
    ...(await automaticWork(sql, 'running', 'generation')),
  ],
}

/** Pauses automation, recalls what has not been sent, and cancels what was being drafted; gives what cannot be stopped any more. */
export const stopped = async (context: CommandContext, reach: Reach) => {
  const recalled = context.lanes.recall((work) => reach.lanes(work))
  const posts = recalled.filter((work) => work.lane === 'publish')
  const held = await settleRecalled(context, posts, { kind: 'unsent' })
  const reads = recalled.filter((work) => work.lane === 'sync').map((work) => ({ id: work.id, runAt: context.gate.now }))
  const cancelled = await cancelGenerations(context, await reach.generations(context.sql))
  const runs = await skippedRuns(context)
  const automation = { paused: true, in_flight: await inFlight(context, new Set(held.itemIds)) }
  return { automation, effects: merge({ paused: true, requeued: reads }, held.effects, runs, ...cancelled) }
}

/** Rules that were about to run do not: what has happened before a pause is not made up for after it. */
const skippedRuns = async ({ sql, gate }: CommandContext): Promise<Effects> => {
  const works = await workOfRules(sql, 'rule')
  return works.length === 0 ? {} : { writes: [skipQueuedRuns(skips.paused, gate.now)], settled: works.map(({ id }) => id) }
}

/** What was being drafted, or was to be, ends as cancelled, and its quota comes back. */
const cancelGenerations = async ({ sql, gate }: CommandContext, works: Work[]): Promise<Effects[]> => {
  const effects: Effects[] = []
  for (const work of works) effects.push(await failWork(sql, 'cancelled', { now: gate.now, work }))
  return effects
}

/** What is on the wire, but for what has just been recalled. */
export const inFlight = async ({ sql }: CommandContext, recalled: Set<string>) => {
  const attempts = await attemptsInFlight(sql)
  return attempts
    .filter(({ item_id, engagement_id }) => !recalled.has(item_id ?? engagement_id ?? ''))
    .map(({ item_id, engagement_id, origin, intent_at }) => ({
      ...(item_id ? { item_id } : {}),
      ...(engagement_id ? { engagement_id } : {}),
      ...{ origin, since: intent_at },
    }))
}
