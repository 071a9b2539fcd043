/** The rows that follow from sending an engagement: the counterpart of send-effects.ts for items. */
import { type Engagement, engagementAnswer } from '#domain/growth/drafting/engagement'
import { asItem, type SettledEngagement, settledEngagement } from '#domain/growth/sending/execute'
import { type Attempt, type PublishTimes, type SendOutcome, settle } from '#domain/growth/sending/publish'
import { resolvePending } from '#store/engine/idempotency'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { saveAttempt } from '#store/growth/attempts'
import { saveEngagement } from '#store/growth/engagements'
import { newWork } from '../work.ts'
import { triesOf } from './send-payload.ts'

/** The engagement and its attempt, and what becomes of the work. */
export const executedEffects = (settled: SettledEngagement, work: Work): Effects => {
  const { engagement, attempt, events } = settled
  const writes = [saveEngagement(engagement), saveAttempt(attempt)]
  const effects: Effects = { writes, events, ...workAfter(settled, work) }
  if (engagement.status !== 'executed') return effects
  writes.push(resolvePending(engagement.id, 200, engagementAnswer(engagement)))
  const detail = { action: engagement.action, attempt: attempt.number, external_id: engagement.external_id }
  return { ...effects, audit: { operation: 'growth.engagements.executed', refId: engagement.id, detail } }
}

interface Sent {
  engagement: Engagement
  attempt: Attempt
  now: Date
  times: PublishTimes
}

/** What the network's answer makes of a send. */
export const settleExecution = ({ engagement, attempt, now, times }: Sent, work: Work, outcome: SendOutcome): SettledEngagement =>
  settledEngagement(engagement, settle({ item: asItem(engagement), attempt, tries: triesOf(work), now, times }, outcome))

/** A doubt is looked up by a row of its own. */
const workAfter = ({ next, attempt }: SettledEngagement, work: Work): Effects => {
  if (next.kind === 'again') return { requeued: [{ id: work.id, runAt: next.at }] }
  if (next.kind !== 'reconcile') return { settled: [work.id] }
  if (work.kind === 'confirm') return { requeued: [{ id: work.id, runAt: next.at }] }
  const confirm = newWork('confirm', { refId: work.ref_id, origin: attempt.origin, runAt: next.at })
  return { settled: [work.id], work: [confirm] }
}
