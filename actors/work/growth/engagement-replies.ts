import type { Decision } from '#actors/engine/letter'
import { executedEffects } from '#decisions/growth/engagement-effects'
import { engagementAnswer } from '#domain/growth/drafting/engagement'
import type { SettledEngagement } from '#domain/growth/sending/execute'
import type { SendOutcome } from '#domain/growth/sending/publish'
import { forgetPending } from '#store/engine/idempotency'
import type { Work } from '#store/engine/work'
import { errorOf } from './send-replies.ts'

/** The rows that follow from the machine's decision, and what callers who wait are told. Doubt is no answer yet. */
export const executedDecision = (settled: SettledEngagement, work: Work, outcome?: SendOutcome): Decision<void> => {
  const { engagement } = settled
  const effects = executedEffects(settled, work)
  const answer = (reply: NonNullable<Decision<void>['answers']>[number]['with']) => ({
    ...{ reply: undefined, effects },
    answers: [{ refId: engagement.id, with: reply }],
  })
  if (engagement.status === 'executed') return answer({ status: 200, body: engagementAnswer(engagement) })
  const error = outcome && errorOf(outcome)
  if (!error) return { reply: undefined, effects }
  effects.writes?.push(forgetPending(engagement.id))
  return answer(error)
}
