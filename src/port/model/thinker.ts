/**
 * One call of a language model in a conversation with tools. Its adapters are openai/thinker.ts and
 * the desk, which has no model.
 */
import type { ThinkFailure, Thought, TranscriptCall } from '#domain/agent/job/answer'
import type { TranscriptMessage } from '#domain/agent/job/transcript'
import type { QuotedPassage } from '#domain/agent/knowledge/quoting'

/**
 * A call that the model asks for. Its id is ours and has nine letters and digits, whatever the
 * provider sent. Its arguments are not checked.
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
   * JSON Schema of the answer. Never set together with tools, because some servers then suppress
   * the calls. The answer must be checked all the same.
   */
  format?: { name: string; schema: Record<string, unknown> }
}

/**
 * A call that got no answer. Its message never contains a key, a header or the provider's words.
 */
export class ThinkError extends Error {
  override readonly name = 'ThinkError'
  constructor(
    readonly failure: ThinkFailure,
    /** How many milliseconds the provider asks to wait. */
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
   * Finds quotations in the workspace's own texts by the words of a question. Only the desk uses
   * it, because a model has tools for that.
   */
  search?(text: string): Promise<QuotedPassage[]>
  /**
   * The words of somebody outside the workspace. The desk shows them no commands and runs none for
   * them.
   */
  asksFromOutside?: string | undefined
}

export interface Thinker {
  /**
   * One call, never repeated. Throws `ThinkError`, or the reason of `signal` once that has aborted.
   */
  think(turn: ThinkRequest, thinking: ThinkOptions): Promise<Thought>
}
