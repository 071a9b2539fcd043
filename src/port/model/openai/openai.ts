import OpenAI, {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  AuthenticationError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai'
import type { ModelUsage } from '#domain/growth/drafting/draft'
import type { Log } from '#kernel/log'
import { boundedFetch, TooLarge } from './bounded-fetch.ts'
import { priced } from './prices.ts'

export interface OpenAiOptions {
  apiKey: string
  /** Any server that speaks Chat Completions; the provider's own when undefined. */
  baseUrl: string | undefined
  /** Limit of one call, from the request to the last byte of the answer. */
  timeoutMs: number
  log: Log
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

interface CompletionRequest {
  model: string
  messages: ChatMessage[]
  /** Name and JSON schema of the answer, sent in strict mode; the answer still has to be validated. */
  schema: { name: string; json: Record<string, unknown> }
  maxTokens: number
}

export interface Completion {
  /** What the model wrote: supposedly JSON, unchecked. */
  text: string
  /** `cut`: the answer hit `maxTokens`; `refused`: the model or a filter declined, and there is no text. */
  ending: 'whole' | 'cut' | 'refused'
  usage: ModelUsage
}

export type ModelFailure =
  | 'rate_limited'
  | 'out_of_credit'
  | 'unauthorized'
  | 'unknown_model'
  | 'unsupported'
  | 'timeout'
  | 'unreachable'
  | 'too_large'
  | 'provider_error'

/** A call that returned no text. Its message never contains a key, a header or the provider's words. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  constructor(
    readonly failure: ModelFailure,
    /** HTTP status, where there was an answer. */
    readonly status?: number,
  ) {
    super(`model call failed: ${failure}`)
  }
}

export interface OpenAiClient {
  /** One call, never repeated. Throws `ModelError`, or the reason of `signal` once that has aborted. */
  complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion>
}

const failureOf = (cause: unknown): ModelFailure => {
  if (cause instanceof APIConnectionTimeoutError) return 'timeout'
  if (cause instanceof APIConnectionError) return 'unreachable'
  if (cause instanceof RateLimitError) return cause.code === 'insufficient_quota' ? 'out_of_credit' : 'rate_limited'
  if (cause instanceof AuthenticationError || cause instanceof PermissionDeniedError) return 'unauthorized'
  if (cause instanceof NotFoundError) return 'unknown_model'
  if (cause instanceof APIError && (cause.status === 400 || cause.status === 422)) return 'unsupported'
  return 'provider_error'
}

/** The caller's abort is passed on as it is; a time-out and the provider's errors become a `ModelError`. */
const normalised = (cause: unknown, { signal, limit }: { signal: AbortSignal; limit: AbortSignal }): unknown => {
  if (signal.aborted) return signal.reason
  if (cause instanceof ModelError) return cause
  if (limit.aborted) return new ModelError('timeout')
  if (cause instanceof TooLarge) return new ModelError('too_large')
  return new ModelError(failureOf(cause), cause instanceof APIError ? cause.status : undefined)
}

const bodyOf = ({ model, messages, schema, maxTokens }: CompletionRequest) => ({
  model,
  messages,
  max_completion_tokens: maxTokens,
  response_format: { type: 'json_schema' as const, json_schema: { name: schema.name, strict: true, schema: schema.json } },
})

const endingOf = (choice: OpenAI.Chat.Completions.ChatCompletion.Choice | undefined): Completion['ending'] => {
  if (choice?.message?.refusal || choice?.finish_reason === 'content_filter') return 'refused'
  return choice?.finish_reason === 'length' ? 'cut' : 'whole'
}

/** Anything but a number of tokens counts as none. */
const tokens = (count: unknown): number => (Number.isSafeInteger(count) ? Math.max(0, count as number) : 0)

/** Compatible servers omit what they do not count and may send anything, so every field is checked. */
const completionOf = (answer: Partial<OpenAI.Chat.Completions.ChatCompletion>, model: string): Completion => {
  const choice = answer.choices?.[0]
  const usage = priced(model, { input: tokens(answer.usage?.prompt_tokens), output: tokens(answer.usage?.completion_tokens) })
  const text: unknown = choice?.message?.content
  return { text: typeof text === 'string' ? text : '', ending: endingOf(choice), usage }
}

/**
 * Structured output over Chat Completions. Retries are off: a hidden retry costs money and time. Organisation,
 * project and logging are set here so that the environment has no say.
 */
export const createOpenAiClient = ({ apiKey, baseUrl, timeoutMs, log }: OpenAiOptions): OpenAiClient => {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: 'off',
    fetch: boundedFetch,
  })
  return {
    async complete(request, signal) {
      signal.throwIfAborted()
      const limit = AbortSignal.timeout(timeoutMs)
      const either = AbortSignal.any([signal, limit])
      const started = performance.now()
      const ms = () => Math.round(performance.now() - started)
      try {
        const completion = completionOf(await client.chat.completions.create(bodyOf(request), { signal: either }), request.model)
        log.info({ model: request.model, ms: ms(), ...completion.usage }, 'model call')
        return completion
      } catch (cause) {
        const error = normalised(cause, { signal, limit })
        const failure = error instanceof ModelError ? { failure: error.failure, status: error.status } : { failure: 'aborted' }
        log.warn({ model: request.model, ms: ms(), ...failure }, 'model call failed')
        throw error
      }
    },
  }
}
