/**
 * One call of a language model in a conversation with tools. Adapters: openai/thinker.ts, and the
 * desk, which has no model.
 */
import type { TranscriptCall, TranscriptMessage } from '#domain/agent/job/transcript'
import type { QuotedPassage } from '#domain/agent/knowledge/quoting'

/**
 * A call that the model asks for. Its id is ours, nine letters and digits, whatever the provider
 * sent; its arguments are unchecked.
 */
export type ToolCall = TranscriptCall
export type TurnMessage = TranscriptMessage

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

export interface ThinkRequest {
  model: string
  system: string
  messages: TurnMessage[]
  tools: ToolDefinition[]
  /** `none`: the model must answer in words. */
  choice: 'auto' | 'none'
  maxTokens: number
  /**
   * JSON Schema of the answer. Never with tools: some servers then suppress their calls. What comes
   * must be checked all the same.
   */
  format?: { name: string; schema: Record<string, unknown> }
}

export interface ThoughtUsage {
  input_tokens: number
  /** The part of the input that the provider had cached. */
  cached_tokens: number
  output_tokens: number
}

/** What the model answered: words, calls of tools, or both. */
export interface Thought {
  text: string
  calls: ToolCall[]
  /** Further calls, of which only the number is known. */
  left?: number
  /** `cut`: it reached `maxTokens`. `refused`: the model or a filter declined. */
  ending: 'whole' | 'cut' | 'refused'
  /** Undefined if the server did not say. */
  usage: ThoughtUsage | undefined
  /** The model that answered. */
  model: string
  /** To be sent back within the same job alone; never shown. */
  reasoning?: string | undefined
}

export type ThinkFailure =
  | 'rate_limited'
  | 'out_of_credit'
  | 'unauthorized'
  | 'unknown_model'
  | 'no_tools'
  | 'too_long'
  | 'unsupported'
  | 'timeout'
  | 'unreachable'
  | 'too_large'
  | 'broken'
  | 'provider_error'
  /** None is set in this process, though one was when the job began. */
  | 'no_model'
  /** No turn among the model calls of this process came in time. */
  | 'busy'

/** A call without an answer. Its message never contains a key, a header or the provider's words. */
export class ThinkError extends Error {
  override readonly name = 'ThinkError'
  constructor(
    readonly failure: ThinkFailure,
    /** Milliseconds that the provider asks to wait. */
    readonly retryAfterMs?: number,
    options: ErrorOptions = {},
  ) {
    super(`model call failed: ${failure}`, options)
  }
}

export interface ThinkOptions {
  signal: AbortSignal
  /** Text as it arrives, in pieces. */
  onText(piece: string): void
  /**
   * Quotations from the workspace's own texts, by the words of a question. For the desk: a model
   * has tools for that.
   */
  search?(text: string): Promise<QuotedPassage[]>
  /**
   * The words of somebody outside the workspace, to whom no commands are shown and for whom none is
   * run. For the desk.
   */
  asksFromOutside?: string | undefined
}

export interface Thinker {
  /**
   * One call, never repeated. Throws `ThinkError`, or the reason of `signal` once that has aborted.
   */
  think(turn: ThinkRequest, thinking: ThinkOptions): Promise<Thought>
}
