/** Settles the calls of the agent that an act makes needless, in the letter of that act. */
import { type HeldCall, type Overtaking, overtakenCalls } from '#domain/agent/job/overtaking'
import { stepOf } from '#domain/agent/job/transition'
import { type Effects, merge } from '#store/engine/letter'
import { decidedEvent } from './asking.ts'
import { factsAt, jobEffects } from './job-effects.ts'

/** Their jobs go on at once. */
export const overtakingEffects = (calls: readonly HeldCall[], how: Overtaking): Effects =>
  merge(
    ...overtakenCalls(calls, how).map(({ job, all }) =>
      merge(jobEffects(stepOf(job, { kind: 'overtaken', all }, factsAt(how.now))), {
        events: all.map(({ approval }) => decidedEvent(approval)),
      }),
    ),
  )
