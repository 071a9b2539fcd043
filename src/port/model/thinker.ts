/** One call of a language model in a conversation with tools. Adapters: openai/thinker.ts, and the desk, which has no model. */

/** A call that the model asks for. */
export interface ToolCall {
  /** Ours, nine letters and digits, whatever the provider sent. */
  id: string
  name: string
  /** What the model wrote, supposedly JSON. Unchecked. */
  arguments: string
}

/** Each call of an assistant's message is answered by the tool messages that follow it, in the same order. */
export type TurnMessage =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: ToolCall[]; reasoning?: string | undefined }
  | { role: 'tool'; call: string; text: string }

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

export interface Turn {
  model: string
  system: string
  messages: TurnMessage[]
  tools: ToolDefinition[]
  /** `none`: the model must answer in words. */
  choice: 'auto' | 'none'
  maxTokens: number
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

export interface Thinking {
  signal: AbortSignal
  /** Text as it arrives, in pieces. */
  onText(piece: string): void
}

export interface Thinker {
  /** One call, never repeated. Throws `ThinkError`, or the reason of `signal` once that has aborted. */
  think(turn: Turn, thinking: Thinking): Promise<Thought>
}
