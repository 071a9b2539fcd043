/** What a call of the model has cost its job and the workspace. Pure. */
import type { PlanUsage } from '../../app/plan.ts'
import type { KeptThought, ThinkFailure } from './answer.ts'
import { budgetWarnings, type PriceOf, settleReservation } from './budget.ts'
import { type JobChange, setJob } from './change.ts'
import type { Step } from './step.ts'

interface Used {
  thought: KeptThought
  /** The desk costs nothing. */
  byDesk: boolean
  ms: number
  priceOf: PriceOf
  usage: PlanUsage
}

const UNKNOWN = { input_tokens: null, cached_tokens: null, output_tokens: null }

/**
 * The step with what was used, which the job has paid from now on. Without usage the reservation
 * stands.
 */
export const book = (
  before: JobChange,
  step: Step,
  { thought, byDesk, ms, priceOf, usage }: Used,
): { change: JobChange; step: Step } => {
  const { job } = before
  const { now } = before.facts
  const used = thought.usage
  const [input, output] = [used?.input_tokens ?? 0, used?.output_tokens ?? 0]
  const cost = used && !byDesk ? priceOf({ input, cached: used.cached_tokens, output }) : 0
  const spend = used
    ? settleReservation(step, { tokens: input + output, cost: cost ?? 0 }, now)
    : []
  const spent = {
    ...before,
    spend: [...before.spend, ...spend],
    warnings: [...before.warnings, ...budgetWarnings(usage, spend)],
  }
  const change = setJob(used ? release(spent, step) : spent, {
    input_tokens: job.input_tokens + input,
    output_tokens: job.output_tokens + output,
    cost: job.cost + (cost ?? 0),
    cost_estimated: job.cost_estimated || !used || cost === null,
    active_ms: job.active_ms + ms,
  })
  return {
    change,
    step: { ...step, ...(used ?? UNKNOWN), state: 'done', name: thought.model, cost },
  }
}

/**
 * Removes a settled call's reservation from the job, which shows the reservations of unsettled
 * calls. A call that began before jobs had these fields may be missing from them.
 */
const release = (change: JobChange, { reserved_tokens, reserved_cost }: Step): JobChange =>
  setJob(change, {
    reserved_tokens: Math.max(0, change.job.reserved_tokens - reserved_tokens),
    reserved_cost: Math.max(0, change.job.reserved_cost - reserved_cost),
  })

/**
 * A failed call keeps no reservation, because nothing was delivered. But the provider may have
 * counted an answer that broke off.
 */
export const unbook = (
  before: JobChange,
  step: Step,
  { failure, ms }: { failure: ThinkFailure; ms: number },
): JobChange => {
  const change = setJob(before, { active_ms: before.job.active_ms + ms })
  if (failure === 'broken' || failure === 'timeout') return change
  const spend = settleReservation(step, { tokens: 0, cost: 0 }, before.facts.now)
  return release({ ...change, spend: [...change.spend, ...spend] }, step)
}
