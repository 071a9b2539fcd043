import type { Decision } from '#actors/engine/letter'
import { settledEffects } from '#decisions/growth/send-effects'
import { againOf } from '#decisions/growth/send-payload'
import { itemAnswer } from '#domain/growth/drafting/item'
import type { SendOutcome, Settled } from '#domain/growth/sending/publish'
import { AppError } from '#kernel/errors'
import { forgetPending } from '#store/engine/idempotency'
import type { Work } from '#store/engine/work'

const NOT_POSTED = new AppError('network_error', 'the network returned an error, and its timeline shows that nothing was posted')

/** The rows that follow from the state machine's decision, and what callers who wait are told. Doubt is no answer yet. */
export const decisionOf = (settled: Settled, work: Work, outcome?: SendOutcome): Decision<void> => {
  const { item } = settled
  const effects = settledEffects(settled, work)
  if (item.status === 'posted')
    return { reply: undefined, effects, answers: [{ refId: item.id, with: { status: 200, body: itemAnswer(item) } }] }
  const error = settled.attempt.state === 'returned' ? NOT_POSTED : outcome && errorOf(outcome)
  if (!error) return { reply: undefined, effects }
  effects.writes?.push(forgetPending(item.id, againOf(work)?.askedAt))
  return { reply: undefined, effects, answers: [{ refId: item.id, with: error }] }
}

/** What a caller of post-now or execute is told when it is certain that nothing was done. */
export const errorOf = (outcome: SendOutcome): AppError | undefined => {
  switch (outcome.kind) {
    case 'not_applied': {
      const retryAfter = Math.ceil((outcome.retryAfterMs ?? 1_000) / 1_000)
      return outcome.reason === 'rate_limited'
        ? new AppError('rate_limited', 'network', { retryAfter })
        : new AppError('network_error', outcome.reason)
    }
    case 'refused':
      return new AppError('network_error', `refused: ${outcome.reason}`)
    case 'disconnected':
      return new AppError('x_not_connected')
    default:
      return undefined
  }
}
