/** What a call of the model that brought no answer does to its job. Pure. */
import type { ThinkFailure } from './answer.ts'
import { unbook } from './booking.ts'
import { endStep, goOn, type JobChange, putStep, setJob } from './change.ts'
import { endAsFailed } from './ending.ts'
import { anew, type Step } from './step.ts'

export interface ModelFailure {
  failure: ThinkFailure
  retryAfterMs: number | undefined
  ms: number
}

/** Causes that may disappear with time, with the pauses before each further try. */
const passing: readonly ThinkFailure[] = [
  'rate_limited',
  'timeout',
  'unreachable',
  'broken',
  'provider_error',
  'busy',
]
const PAUSES_MS = [2_000, 8_000, 30_000]
const LONGEST_PAUSE_MS = 300_000

const hints: Record<Exclude<ThinkFailure, 'no_model'>, string> = {
  rate_limited: 'the model provider is rate limiting; try again later',
  out_of_credit: 'the account at the model provider has no credit left',
  unauthorized: 'the model provider refused the API key; check OPENAI_API_KEY',
  unknown_model:
    'the model provider does not know the model; check MODEL_FAST, MODEL_REASONING and OPENAI_BASE_URL',
  no_tools: 'the model at OPENAI_BASE_URL takes no tools',
  too_long: 'the conversation is too long for the model; begin a new one',
  unsupported: 'the model provider refused the request',
  timeout: 'the model did not answer in time',
  unreachable: 'the model provider cannot be reached; check OPENAI_BASE_URL and the network',
  too_large: 'the answer of the model was far too long',
  broken: 'the answer of the model broke off',
  provider_error: 'the model provider failed; try again later',
  busy: 'too many calls of the model wait in this server; try again later',
}

/** It is called again after a pause, unless time cannot mend the cause. */
export const failThought = (
  before: JobChange,
  { step, ...failed }: ModelFailure & { step: Step },
): JobChange => {
  const { failure, retryAfterMs } = failed
  const attempt = step.attempt + 1
  const pause = passing.includes(failure) ? PAUSES_MS[attempt - 1] : undefined
  const change = unbook(before, step, failed)
  if (pause === undefined) {
    const error = failure === 'no_model' ? 'model_required' : `model_failed: ${hints[failure]}`
    const over = endStep(change, { ...step, state: 'failed', attempt, error: failure })
    return endAsFailed(over, error)
  }
  const wait = Math.min(LONGEST_PAUSE_MS, Math.max(pause, retryAfterMs ?? 0))
  const not_before = new Date(change.facts.now.getTime() + wait)
  const resting = putStep(change, { ...anew(step, failure, change.facts.now), not_before })
  return goOn(setJob(resting, { model_calls: resting.job.model_calls - 1 }), not_before)
}
