import type { SendOutcome } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { type Work, workById } from '#store/engine/work'
import { openAttempt } from '#store/growth/attempts'
import type { Deciding } from '../deciding.ts'
import { kindsOfWork } from '../work.ts'
import { settledEffects, settleSend } from './send-effects.ts'
import { recordOf, triesOf } from './send-work.ts'
import { sendables } from './sendables.ts'

/** Outcomes of work that was claimed but not sent. None depends on the machine's times. */
type Unsent = Extract<SendOutcome, { kind: 'unsent' | 'disconnected' }>

const settleRecall = async (
  sql: Sql,
  { work, now }: { work: Work; now: Date },
  outcome: Unsent,
): Promise<Effects | undefined> => {
  const of = recordOf(work)
  const { moves, lock } = sendables[of.sendable]
  const record = await lock(sql, of.record_id)
  const attempt = await openAttempt(sql, of)
  if (!attempt) return undefined
  const sent = { moves, record, attempt, tries: triesOf(work), now, times: sendTimes }
  return settledEffects(await settleSend(sql, { sent, work }, outcome), work)
}

/**
 * Settles sends recalled before their point of no return, and returns the ids of their records. A
 * lane may have settled its send in a commit whose result was lost; then the open attempt is
 * another one, and is left alone.
 */
export const settleRecalled = async (
  { sql, gate }: Pick<Deciding, 'sql' | 'gate'>,
  works: Work[],
  outcome: Unsent,
): Promise<{ effects: Effects; recordIds: string[] }> => {
  const effects: Effects[] = []
  const recordIds: string[] = []
  for (const work of works) {
    const current = await workById(sql, work.id)
    if (current?.state !== 'running' || current.attempt !== work.attempt) continue
    if (kindsOfWork[current.kind].recalled !== 'unsent') continue
    const settled = await settleRecall(sql, { work, now: gate.now }, outcome)
    if (!settled) continue
    recordIds.push(work.ref_id)
    effects.push(settled)
  }
  return { effects: merge(...effects), recordIds }
}
