import type { automation } from '#contract/growth/automation'
import type { WorkKind } from '#contract/work'
import { failWork } from '#decisions/growth/generations'
import { settleRecalled } from '#decisions/growth/recall'
import { resumeCronRules } from '#decisions/growth/rule-times'
import type { KindOfWork } from '#decisions/kind-of-work'
import { kindsOfWork, kindsWhere } from '#decisions/work'
import { skips } from '#domain/growth/rules/rule-run'
import { type Effects, merge } from '#store/engine/letter'
import { workOfKinds } from '#store/engine/work'
import { attemptsInFlight, columnOf } from '#store/growth/attempts'
import { skipQueuedRuns } from '#store/growth/rule-runs'
import type { CommandContext, Handlers } from '../call.ts'

export const automationHandlers: Handlers<typeof automation> = {
  async pauseAll(_, context) {
    const { automation, effects } = await stopAutomation(context, unattended)
    return { reply: { automation }, effects, unchanged: context.gate.paused && isIdle(effects) }
  },

  async resumeAll(_, context) {
    const automation = { paused: false, in_flight: await inFlight(context, new Set()) }
    const patterns = context.gate.paused ? await resumeCronRules(context) : {}
    return { reply: { automation }, effects: merge({ paused: false }, patterns) }
  },
}

/** Whether a stop changed nothing. */
const isIdle = ({ writes = [], settled = [], requeued = [], events = [] }: Effects): boolean =>
  writes.length + settled.length + requeued.length + events.length === 0

/** Kinds of work that a stop also reaches when a person requested them. It always reaches automatic work. */
type Reach = readonly WorkKind[]

const unattended: Reach = []

/** Pauses automation, recalls unsent posts and cancels generations. Returns what is still in flight. */
export const stopAutomation = async (context: CommandContext, reach: Reach) => {
  const recalled = context.lanes.recall(({ origin, kind }) => origin === 'automatic' || reach.includes(kind))
  const settledAs = (how: KindOfWork['recalled']) => recalled.filter(({ kind }) => kindsOfWork[kind].recalled === how)
  const held = await settleRecalled(context, settledAs('unsent'), { kind: 'unsent' })
  const reads = settledAs('requeued').map(({ id }) => ({ id, runAt: context.gate.now }))
  const cancelled = await cancelGenerations(context, reach)
  const runs = await skipRuns(context)
  const automation = { paused: true, in_flight: await inFlight(context, new Set(held.recordIds)) }
  return { automation, effects: merge({ paused: true, requeued: reads }, held.effects, runs, ...cancelled) }
}

/** Skips queued rule runs: a rule does not catch up after a pause. */
const skipRuns = async ({ sql, gate }: CommandContext): Promise<Effects> => {
  const works = await workOfKinds(
    sql,
    kindsWhere(({ queued }) => queued === 'skipped'),
  )
  return works.length === 0 ? {} : { writes: [skipQueuedRuns(skips.paused, gate.now)], settled: works.map(({ id }) => id) }
}

/** Cancels queued and running generations, and returns their quota. */
const cancelGenerations = async ({ sql, gate }: CommandContext, reach: Reach): Promise<Effects[]> => {
  const kinds = kindsWhere(({ queued }) => queued === 'cancelled')
  const works = await workOfKinds(sql, kinds)
  const effects: Effects[] = []
  for (const work of works)
    if (work.origin === 'automatic' || reach.includes(work.kind)) effects.push(await failWork(sql, 'cancelled', { now: gate.now, work }))
  return effects
}

/** Attempts that may be on the wire, except those just recalled. */
export const inFlight = async ({ sql }: CommandContext, recalled: Set<string>) => {
  const attempts = await attemptsInFlight(sql)
  return attempts
    .filter(({ record_id }) => !recalled.has(record_id))
    .map(({ sendable, record_id, origin, intent_at }) => ({ [columnOf[sendable]]: record_id, origin, since: intent_at }))
}
