import type { Decision } from '#actors/engine/letter'
import { settledEffects } from '#decisions/growth/send-effects'
import { againOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import type { SendOutcome, Settled } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import { AppError } from '#kernel/errors'
import { forgetPending } from '#store/engine/idempotency'
import type { Work } from '#store/engine/work'
import type { RecordStanding } from '#store/growth/standing'

const NOT_POSTED = new AppError(
  'network_error',
  'the network returned an error, and its timeline shows that nothing was posted',
)

const SESSION_OVER = new AppError(
  'network_error',
  'unreachable: the sign-in to the network is being renewed, and nothing was posted; try again in a few seconds',
)

interface Answered {
  outcome?: SendOutcome
  /** Set for the outcome `disconnected`. */
  error?: AppError | undefined
  found?: RecordStanding | undefined
}

/**
 * The rows that follow from the machine's decision, and the answer to waiting callers. A doubt is
 * not an answer yet.
 */
export const decisionOf = (
  settled: Settled<Sendable>,
  work: Work,
  { outcome, error: known, found }: Answered = {},
): Decision<void> => {
  const { record, attempt } = settled
  const { moves, answer } = sendables[attempt.sendable]
  const effects = settledEffects(settled, work, found)
  if (moves.isSent(record))
    return {
      reply: undefined,
      effects,
      answers: [{ refId: record.id, with: { status: 200, body: answer(record) } }],
    }
  const isOver = attempt.state === 'returned' && settled.next.kind !== 'resend'
  const error = isOver ? NOT_POSTED : (known ?? (outcome && errorOf(outcome)))
  if (!error) return { reply: undefined, effects }
  effects.writes?.push(forgetPending(record.id, againOf(work)?.askedAt))
  return { reply: undefined, effects, answers: [{ refId: record.id, with: error }] }
}

/** The answer to a waiting caller once it is certain that nothing was done. */
const errorOf = (outcome: SendOutcome): AppError | undefined => {
  switch (outcome.kind) {
    case 'not_applied': {
      if (outcome.isSessionOver) return SESSION_OVER
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
