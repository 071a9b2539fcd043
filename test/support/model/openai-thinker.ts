/** The thinker as tests use it: on a fake provider, and silent. */
import type { Thought } from '#domain/agent/job/answer'
import { createLog } from '#kernel/log'
import { createOpenAiThinker, type OpenAiThinkerOptions } from '#port/model/openai/thinker'
import {
  ThinkError,
  type Thinker,
  type ThinkRequest,
  type ToolDefinition,
} from '#port/model/thinker'
import { API_KEY } from './openai-drafter.ts'

export const thinkerOn = (baseUrl: string, options: Partial<OpenAiThinkerOptions> = {}): Thinker =>
  createOpenAiThinker({
    apiKey: API_KEY,
    baseUrl,
    timeoutMs: 20_000,
    silenceMs: 10_000,
    stream: true,
    log: createLog('silent'),
    ...options,
  })

export const lookTool: ToolDefinition = {
  name: 'growth_list_items',
  description: 'Lists posts.',
  parameters: { type: 'object', properties: { number: { type: 'integer' } } },
}

export const turnWith = (changes: Partial<ThinkRequest> = {}): ThinkRequest => ({
  model: 'gpt-5',
  system: 'You help.',
  messages: [{ role: 'user', text: 'What is waiting?' }],
  tools: [lookTool],
  choice: 'auto',
  maxTokens: 500,
  ...changes,
})

/** A thought, with the text that was passed on as it arrived. */
export interface Heard {
  thought: Thought
  pieces: string[]
}

export const thinkOn = async (
  thinker: Thinker,
  turn = turnWith(),
  signal = new AbortController().signal,
): Promise<Heard> => {
  const pieces: string[] = []
  const thought = await thinker.think(turn, { signal, onText: (piece) => void pieces.push(piece) })
  return { thought, pieces }
}

export const failureOf = (cause: unknown): string =>
  cause instanceof ThinkError ? cause.failure : String(cause)

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()),
  )

/** An event of a stream, as it goes over the wire. */
export const event = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`

export const stream = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })

export const events = (...all: object[]): Response => stream(all.map(event).join(''))
