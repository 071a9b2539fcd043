/** How cron rules resume after a pause of all automation. */

import { missedRun, skips } from '#domain/growth/rules/rule-run'
import { nextTime } from '#kernel/cron'
import { newId } from '#kernel/ids'
import { type Effects, merge } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { insertRun, knownRuns } from '#store/growth/rule-runs'
import { lockRule } from '#store/growth/rules'
import type { Deciding } from '../deciding.ts'
import { unlessBroken } from '../unless-broken.ts'

type Reading = Pick<Deciding, 'sql' | 'gate'>

/**
 * Cron rules resume at their next time. Times missed in the pause are not made up for; the first
 * becomes a skipped run.
 */
export const resumeCronRules = async (deciding: Reading, works: Work[]): Promise<Effects> => {
  const effects: Effects[] = []
  for (const work of works)
    if (work.run_at <= deciding.gate.now)
      effects.push(await unlessBroken(() => resumeCronRule(deciding, work)))
  return merge(...effects)
}

const resumeCronRule = async ({ sql, gate: { now } }: Reading, work: Work): Promise<Effects> => {
  const rule = await lockRule(sql, work.ref_id)
  const { trigger } = rule
  const next =
    trigger.kind === 'cron' ? nextTime(trigger.pattern, trigger.time_zone, now) : undefined
  const occurrence = { kind: 'cron', ref: work.run_at.toISOString() } as const
  const isKnown = (await knownRuns(sql, [rule.id], [occurrence.ref])).size > 0
  const missed = isKnown
    ? []
    : [insertRun(missedRun(newId(), rule, occurrence, { reason: skips.paused, now }))]
  return {
    writes: missed,
    ...(next ? { requeued: [{ id: work.id, runAt: next }] } : { settled: [work.id] }),
  }
}
