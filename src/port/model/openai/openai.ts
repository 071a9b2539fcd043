import type OpenAI from 'openai'
import type { ModelUsage } from '#domain/growth/drafting/draft'
import type { Log } from '#kernel/log'
import { TooLarge } from './bounded-fetch.ts'
import {
  type CallFailure,
  failureOf,
  httpStatusOf,
  logCall,
  type OpenAiConnection,
  openClient,
} from './connection.ts'
import { type Prices, priceUsage } from './prices.ts'

export interface OpenAiOptions extends OpenAiConnection {
  /** Prices that take precedence over those of the list. */
  prices?: Prices
  log: Log
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

interface CompletionRequest {
  model: string
  messages: ChatMessage[]
  /**
   * Name and JSON schema of the answer, sent in strict mode; the answer still has to be validated.
   */
  schema: { name: string; json: Record<string, unknown> }
  maxTokens: number
}

export interface Completion {
  /** What the model wrote: supposedly JSON, unchecked. */
  text: string
  /**
   * `cut`: the answer hit `maxTokens`; `refused`: the model or a filter declined, and there is no
   * text.
   */
  ending: 'whole' | 'cut' | 'refused'
  usage: ModelUsage
}

/**
 * A call that returned no text. Its message never contains a key, a header or the provider's words.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  constructor(
    readonly failure: CallFailure,
    /** HTTP status, where there was an answer. */
    readonly status?: number,
  ) {
    super(`model call failed: ${failure}`)
  }
}

export interface OpenAiClient {
  /**
   * One call, never repeated. Throws `ModelError`, or the reason of `signal` once that has aborted.
   */
  complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion>
}

/**
 * The caller's abort is passed on as it is; a time-out and the provider's errors become a
 * `ModelError`.
 */
const normaliseError = (
  cause: unknown,
  { signal, limit }: { signal: AbortSignal; limit: AbortSignal },
): unknown => {
  if (signal.aborted) return signal.reason
  if (cause instanceof ModelError) return cause
  if (limit.aborted) return new ModelError('timeout')
  if (cause instanceof TooLarge) return new ModelError('too_large')
  return new ModelError(failureOf(cause), httpStatusOf(cause))
}

const bodyOf = ({ model, messages, schema, maxTokens }: CompletionRequest) => ({
  model,
  messages,
  max_completion_tokens: maxTokens,
  response_format: {
    type: 'json_schema' as const,
    json_schema: { name: schema.name, strict: true, schema: schema.json },
  },
})

const endingOf = (
  choice: OpenAI.Chat.Completions.ChatCompletion.Choice | undefined,
): Completion['ending'] => {
  if (choice?.message?.refusal || choice?.finish_reason === 'content_filter') return 'refused'
  return choice?.finish_reason === 'length' ? 'cut' : 'whole'
}

/** Anything but a number of tokens counts as none. */
const tokens = (count: unknown): number =>
  Number.isSafeInteger(count) ? Math.max(0, count as number) : 0

/**
 * Compatible servers omit what they do not count and may send anything, so every field is checked.
 */
const completionOf = (
  answer: Partial<OpenAI.Chat.Completions.ChatCompletion>,
  model: string,
  prices?: Prices,
): Completion => {
  const choice = answer.choices?.[0]
  const used = {
    input: tokens(answer.usage?.prompt_tokens),
    output: tokens(answer.usage?.completion_tokens),
  }
  const usage = priceUsage(model, used, prices)
  const text: unknown = choice?.message?.content
  return { text: typeof text === 'string' ? text : '', ending: endingOf(choice), usage }
}

/** Structured output over Chat Completions. */
export const createOpenAiClient = ({ prices, log, ...connection }: OpenAiOptions): OpenAiClient => {
  const client = openClient(connection)
  return {
    async complete(request, signal) {
      signal.throwIfAborted()
      const limit = AbortSignal.timeout(connection.timeoutMs)
      const either = AbortSignal.any([signal, limit])
      const errorOf = (cause: unknown) => normaliseError(cause, { signal, limit })
      return logCall({ ...connection, log, model: request.model, errorOf }, async () =>
        completionOf(
          await client.chat.completions.create(bodyOf(request), { signal: either }),
          request.model,
          prices,
        ),
      )
    },
  }
}
