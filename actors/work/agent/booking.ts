/** What a call of the model has cost. */
import { budgetWarnings, settleReservation } from '#domain/agent/job/budget'
import type { Step } from '#domain/agent/job/step'
import type { Spend } from '#kernel/spend'
import type { ThinkFailure } from '#port/model/thinker'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import type { AgentOutcome } from './outcome.ts'

/** Warns once a budget is nearly used up. */
const spendOn = ({ changes, gate }: At, spend: Spend[]): void => {
  const events = budgetWarnings(gate, spend).map((warning) => ({
    type: 'agent.budget.warning',
    data: { ...warning },
    subject: null,
  }))
  changes.also({ spend, events })
}

type Answered = Pick<Extract<AgentOutcome, { kind: 'thought' }>, 'thought' | 'byDesk' | 'ms'>

/** The step with what was used, which the job has paid from now on. */
export const booked = (
  deps: AgentDeps,
  at: At,
  step: Step,
  { thought, byDesk, ms }: Answered,
): Step => {
  const { job } = at.changes
  const used = thought.usage
  const cost =
    used && !byDesk
      ? deps.priceOf(step.name)({
          input: used.input_tokens,
          cached: used.cached_tokens,
          output: used.output_tokens,
        })
      : 0
  // Without usage the reservation stands.
  if (used)
    spendOn(
      at,
      settleReservation(
        step,
        { tokens: used.input_tokens + used.output_tokens, cost: cost ?? 0 },
        at.gate.now,
      ),
    )
  if (used) released(at, step)
  at.changes.set({
    input_tokens: job.input_tokens + (used?.input_tokens ?? 0),
    output_tokens: job.output_tokens + (used?.output_tokens ?? 0),
    cost: job.cost + (used ? (cost ?? 0) : 0),
    cost_estimated: job.cost_estimated || !used || cost === null,
    active_ms: job.active_ms + ms,
  })
  const usage = used ?? { input_tokens: null, cached_tokens: null, output_tokens: null }
  return { ...step, ...usage, state: 'done', name: thought.model, cost, ended_at: at.gate.now }
}

/**
 * The reservation of a call that is settled. That of one that is not stays, and the job shows it. A
 * call that began before jobs had these fields may not be in them.
 */
const released = (
  { changes }: Pick<At, 'changes'>,
  { reserved_tokens, reserved_cost }: Step,
): void => {
  const { job } = changes
  changes.set({
    reserved_tokens: Math.max(0, job.reserved_tokens - reserved_tokens),
    reserved_cost: Math.max(0, job.reserved_cost - reserved_cost),
  })
}

/**
 * A call that failed keeps no reservation, since nothing was delivered. But the provider may have
 * counted an answer that broke off.
 */
export const unbooked = (
  { changes, gate }: At,
  step: Step,
  { failure, ms }: { failure: ThinkFailure; ms: number },
): void => {
  if (failure !== 'broken' && failure !== 'timeout') {
    changes.also({ spend: settleReservation(step, { tokens: 0, cost: 0 }, gate.now) })
    released({ changes }, step)
  }
  changes.set({ active_ms: changes.job.active_ms + ms })
}
