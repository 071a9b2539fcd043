/** Calls of the agent that still wait to do what has been sent. */
import type { Decision } from '#actors/engine/letter'
import { overtakingEffects } from '#decisions/agent/overtaking'
import { sendables } from '#decisions/growth/sendables'
import type { HeldCall } from '#domain/agent/job/overtaking'
import type { Settled } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import { type Gate, merge } from '#store/engine/letter'

const SERVER = { kind: 'system', id: 'lane' } as const

/** The decision, with the calls about its record that it makes needless. */
export const withOvertaken = (
  { effects = {}, ...decision }: Decision<void>,
  { record, attempt }: Pick<Settled<Sendable>, 'record' | 'attempt'>,
  calls: readonly HeldCall[] | undefined,
  { now }: Pick<Gate, 'now'>,
): Decision<void> => {
  if (!calls?.length || !sendables[attempt.sendable].moves.isSent(record))
    return { ...decision, effects }
  const deed = attempt.sendable === 'post' ? 'growth.items.sent' : 'growth.engagements.sent'
  return {
    ...decision,
    effects: merge(effects, overtakingEffects(calls, { deed, by: SERVER, now })),
  }
}
