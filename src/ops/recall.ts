import { type Outcome, publishTimes } from '#domain/publish'
import { openAttempt } from '#store/attempts'
import { lockItem } from '#store/items'
import { type Effects, merge } from '#store/letter'
import { settledEffects, settleSend } from '#store/settled'
import { triesOf, type Work, workById } from '#store/work'
import type { CommandContext } from './call.ts'

/** Outcomes of what was claimed and not sent: no time of the machine plays a part in them. */
type Unsent = Extract<Outcome, { kind: 'unsent' | 'disconnected' }>

/**
 * The rows of posts that were recalled before their send, and the ids of their items. What a lane has settled itself, in a commit
 * that was not heard of yet, is left alone: the attempt that is open by now is another one.
 */
export const settleRecalled = async (
  { sql, gate }: Pick<CommandContext, 'sql' | 'gate'>,
  works: Work[],
  outcome: Unsent,
): Promise<{ effects: Effects; itemIds: string[] }> => {
  const effects: Effects[] = []
  const itemIds: string[] = []
  for (const work of works) {
    const current = await workById(sql, work.id)
    if (current?.state !== 'running' || current.attempt !== work.attempt) continue
    const item = await lockItem(sql, work.ref_id)
    const attempt = await openAttempt(sql, work.ref_id)
    if (!attempt) continue
    const sent = { item, attempt, tries: triesOf(work), now: gate.now, times: publishTimes }
    const settled = await settleSend(sql, { sent, work }, outcome)
    itemIds.push(item.id)
    effects.push(settledEffects(settled, work))
  }
  return { effects: merge(...effects), itemIds }
}
