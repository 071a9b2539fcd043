/** A turn in the provider's wire format. */
import type OpenAI from 'openai'
import type { ThinkRequest, ToolCall, ToolDefinition, TurnMessage } from '../thinker.ts'

type WireMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam

const MOST_NAME = 64
const MOST_UNREADABLE = 2_000

/**
 * A model may call a tool by any name, but providers refuse a transcript that repeats a name with
 * unusual characters.
 */
const wireName = (name: string): string =>
  name.replace(/[^\w-]/g, '_').slice(0, MOST_NAME) || 'unnamed'

const isJsonObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Some servers parse the arguments of earlier calls, and fail if those were not JSON. */
const wireArguments = (text: string): string =>
  isJsonObject(text)
    ? text
    : JSON.stringify({ not_a_json_object: text.slice(0, MOST_UNREADABLE).toWellFormed() })

const wireCall = (call: ToolCall) => ({
  id: call.id,
  type: 'function' as const,
  function: { name: wireName(call.name), arguments: wireArguments(call.arguments) },
})

const wireMessage = (message: TurnMessage): WireMessage => {
  const content = message.text.toWellFormed()
  if (message.role === 'user') return { role: 'user', content }
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.call, content }
  const { calls, reasoning } = message
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
    // This field is not the provider's own, but some servers require it while a turn of calls goes
    // on.
    ...(reasoning !== undefined && { reasoning_content: reasoning.toWellFormed() }),
  }
}

const wireTool = ({ name, description, parameters }: ToolDefinition) => ({
  type: 'function' as const,
  function: { name, description, parameters },
})

const wireFormat = ({ name, schema }: NonNullable<ThinkRequest['format']>) => ({
  response_format: { type: 'json_schema' as const, json_schema: { name, strict: true, schema } },
})

/**
 * Leaves out `parallel_tool_calls`, which servers treat differently. Has `response_format` only if
 * there are no tools.
 */
export const completionRequest = ({
  model,
  system,
  messages,
  tools,
  choice,
  maxTokens,
  format,
}: ThinkRequest) => ({
  model,
  messages: [
    { role: 'system' as const, content: system.toWellFormed() },
    ...messages.map(wireMessage),
  ],
  max_completion_tokens: maxTokens,
  ...(format && tools.length === 0 && wireFormat(format)),
  ...(tools.length > 0 && {
    tools: tools.map(wireTool),
    ...(choice === 'none' && { tool_choice: 'none' as const }),
  }),
})
