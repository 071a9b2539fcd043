import { GenerationError } from '../drafter.ts'
import type { CallFailure } from './connection.ts'
import { ModelError } from './openai.ts'

const FIXED_HINTS: Record<CallFailure, string> = {
  rate_limited: 'model provider is rate limiting; retry later',
  out_of_credit: 'model provider account has no credit left; check its billing',
  unauthorized: 'model provider refused the API key; check OPENAI_API_KEY',
  unknown_model:
    'model provider does not know the model or the address; check MODEL_FAST, MODEL_REASONING and OPENAI_BASE_URL',
  unsupported:
    'model provider refused the request; use a model that supports structured output, or shorten the focus',
  timeout: 'model did not answer in time; lower count or retry later',
  unreachable: 'model provider cannot be reached; check OPENAI_BASE_URL and the network',
  too_large: 'the answer was far too long; lower the count or use another model',
  provider_error: 'model provider failed; retry later',
}

/** The hint if no better one is known. */
export const UNHELPFUL = FIXED_HINTS.provider_error

/** A failed call as a hint to the person; any other cause stays as it is. */
export const asGenerationError = (cause: unknown): unknown =>
  cause instanceof ModelError ? new GenerationError(FIXED_HINTS[cause.failure], { cause }) : cause
