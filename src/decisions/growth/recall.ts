import type { WorkKind } from '#contract/work'
import { publishTimes, type SendOutcome } from '#domain/growth/sending/publish'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { type Work, workById } from '#store/engine/work'
import { openAttempt } from '#store/growth/attempts'
import { lockEngagement } from '#store/growth/engagements'
import { lockItem } from '#store/growth/items'
import type { Deciding } from '../deciding.ts'
import type { KindWith } from '../work.ts'
import { executedEffects, settleExecution } from './engagement-effects.ts'
import { settledEffects, settleSend } from './send-effects.ts'
import { triesOf } from './send-payload.ts'

/** Outcomes of what was claimed and not sent: no time of the machine plays a part in them. */
type Unsent = Extract<SendOutcome, { kind: 'unsent' | 'disconnected' }>

interface Recalling {
  sql: Sql
  work: Work
  now: Date
}

const recalledPost = async ({ sql, work, now }: Recalling, outcome: Unsent): Promise<Effects | undefined> => {
  const item = await lockItem(sql, work.ref_id)
  const attempt = await openAttempt(sql, { sendable: 'post', record_id: work.ref_id })
  if (!attempt) return undefined
  const sent = { item, attempt, tries: triesOf(work), now, times: publishTimes }
  return settledEffects(await settleSend(sql, { sent, work }, outcome), work)
}

const recalledExecution = async ({ sql, work, now }: Recalling, outcome: Unsent): Promise<Effects | undefined> => {
  const engagement = await lockEngagement(sql, work.ref_id)
  const attempt = await openAttempt(sql, { sendable: 'engagement', record_id: work.ref_id })
  return attempt && executedEffects(settleExecution({ engagement, attempt, now, times: publishTimes }, work, outcome), work)
}

/** How a row is settled whose lane was recalled before its send. */
const recalledAs: Record<KindWith<'recalled', 'unsent'>, typeof recalledPost> = { publish: recalledPost, execute: recalledExecution }

/**
 * The rows of posts and engagements that were recalled before their send, and their ids. What a lane has settled itself, in a commit
 * that was not heard of yet, is left alone: the attempt that is open by now is another one.
 */
export const settleRecalled = async (
  { sql, gate }: Pick<Deciding, 'sql' | 'gate'>,
  works: Work[],
  outcome: Unsent,
): Promise<{ effects: Effects; itemIds: string[] }> => {
  const effects: Effects[] = []
  const itemIds: string[] = []
  for (const work of works) {
    const current = await workById(sql, work.id)
    if (current?.state !== 'running' || current.attempt !== work.attempt) continue
    const recalled = await (recalledAs as Partial<Record<WorkKind, typeof recalledPost>>)[current.kind]?.(
      { sql, work, now: gate.now },
      outcome,
    )
    if (!recalled) continue
    itemIds.push(work.ref_id)
    effects.push(recalled)
  }
  return { effects: merge(...effects), itemIds }
}
