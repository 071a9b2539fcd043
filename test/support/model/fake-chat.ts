/**
 * The fake provider in a conversation with tools: how it checks a request and writes an answer,
 * streamed or whole.
 */

interface WireCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

interface WireMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: WireCall[]
  tool_call_id?: string
  reasoning_content?: string
}

/** What the provider gets. */
export interface ChatRequest {
  model: string
  messages: WireMessage[]
  max_completion_tokens: number
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  tools?: {
    type: 'function'
    function: { name: string; description: string; parameters: object; strict?: boolean }
  }[]
  tool_choice?: 'none'
  response_format?: object
}

/** What the model writes. */
export interface Written {
  text?: unknown
  reasoning?: string
  refusal?: string
  calls?: { id?: string; name: string; arguments: unknown }[]
  /**
   * What calls look like on the wire: interleaved deltas by default; otherwise each call whole, all
   * with index 0 or without an index.
   */
  deltas?: 'index_zero' | 'no_index'
  /** Null: the server never says why the answer ended. */
  finish?: string | null
  /** Null: there is none. */
  usage?: object | null
  model?: unknown
  /**
   * Where the answer stops, and whether the connection then closes or goes silent. `finish`: before
   * the usage.
   */
  stops?: { at: 'start' | 'half' | 'finish'; how: 'close' | 'hang' }
}

export type ChatReply = Written | Response | 'hang'

/** How the provider fails. */
export const failed = (
  status: number,
  {
    code = null,
    message,
    headers = {},
  }: { code?: string | null; message: string; headers?: Record<string, string> },
): Response =>
  Response.json(
    { error: { message, type: 'invalid_request_error', param: null, code } },
    { status, headers },
  )

const NAME = /^[\w-]{1,64}$/
/** The narrowest form that a provider accepts. */
const CALL_ID = /^[0-9A-Za-z]{9}$/

const isJson = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

const callFault = ({ id, function: { name, arguments: given } }: WireCall): string | undefined => {
  if (!CALL_ID.test(id))
    return `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`
  if (!NAME.test(name))
    return `Invalid 'tool_calls[0].function.name': string does not match pattern.`
  return isJson(given) ? undefined : 'Could not parse the arguments of a tool call.'
}

/**
 * Each call must be answered by the tool messages right after it, in the same order; tool messages
 * may stand nowhere else.
 */
const transcriptFault = (messages: WireMessage[]): string | undefined => {
  let open: string[] = []
  const seen = new Set<string>()
  for (const { role, tool_calls = [], tool_call_id } of messages) {
    if (role === 'tool') {
      if (tool_call_id === undefined || open.shift() !== tool_call_id)
        return "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
      continue
    }
    if (open.length > 0) break
    open = tool_calls.map(({ id }) => id)
    const fault = tool_calls.map(callFault).find((one) => one !== undefined)
    if (fault !== undefined) return fault
    if (open.some((id) => seen.size === seen.add(id).size)) return 'Duplicate tool call ids.'
  }
  return open.length > 0
    ? `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (${open.join()})`
    : undefined
}

/** Why the provider, or some server that speaks its protocol, would refuse a request. */
export const requestFault = (request: ChatRequest): string | undefined => {
  const { messages, tools, tool_choice } = request
  if ('response_format' in request || 'parallel_tool_calls' in request) return 'Unknown parameter.'
  if (tools?.length === 0) return "Invalid 'tools': empty array."
  if (tool_choice !== undefined && !tools)
    return "'tool_choice' is only allowed when 'tools' are specified."
  if (tools?.some(({ function: { name, strict } }) => !NAME.test(name) || strict))
    return "Invalid 'tools'."
  if (messages.some(({ content, tool_calls }) => typeof content !== 'string' && !tool_calls))
    return 'Invalid content.'
  return transcriptFault(messages)
}

const USAGE = {
  prompt_tokens: 1_000,
  completion_tokens: 200,
  total_tokens: 1_200,
  prompt_tokens_details: { cached_tokens: 600 },
}
const LONG_AGO = 1_700_000_000

/** At most forty pieces; they may split a character in two, as the provider's may. */
const piecesOf = (text: string): string[] => {
  const length = Math.max(7, Math.ceil(text.length / 40))
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  )
}

const textPieces = (text: unknown): unknown[] =>
  typeof text === 'string' ? piecesOf(text) : text === undefined ? [] : [text]

type Called = NonNullable<Written['calls']>[number]

const wireCall = ({ id, name, arguments: given }: Called, index: number) => ({
  id: id ?? `call_${index}`,
  type: 'function',
  function: { name, arguments: given },
})

/** Each call begins, then their arguments come in turn. */
const interleaved = (calls: Called[]): object[] => {
  const parts = calls.map(({ arguments: given }) =>
    typeof given === 'string' ? piecesOf(given) : [given],
  )
  const rounds = Math.max(0, ...parts.map(({ length }) => length))
  const begun = calls.map((call, index) => ({
    index,
    ...wireCall({ ...call, arguments: '' }, index),
  }))
  const more = Array.from({ length: rounds }, (_, round) =>
    parts.flatMap((pieces, index) =>
      round < pieces.length ? [{ index, function: { arguments: pieces[round] } }] : [],
    ),
  )
  return [...begun, ...more.flat()].map((call) => ({ tool_calls: [call] }))
}

const callDeltas = ({ calls = [], deltas }: Written): object[] => {
  if (!deltas) return interleaved(calls)
  const index = deltas === 'index_zero' ? { index: 0 } : {}
  return calls.map((call, at) => ({ tool_calls: [{ ...index, ...wireCall(call, at) }] }))
}

const finishOf = ({ finish, calls }: Written): string | null =>
  finish === undefined ? (calls ? 'tool_calls' : 'stop') : finish

const chunksOf = (written: Written, { model }: ChatRequest): string[] => {
  const { text, reasoning = '', refusal } = written
  const head = {
    id: 'chatcmpl-fake',
    object: 'chat.completion.chunk',
    created: LONG_AGO,
    model: written.model ?? model,
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
    usage: null,
  })
  const deltas = [
    { role: 'assistant', content: '' },
    ...piecesOf(reasoning).map((piece) => ({ reasoning_content: piece })),
    ...textPieces(text).map((piece) => ({ content: piece })),
    ...(refusal === undefined ? [] : [{ refusal }]),
    ...callDeltas(written),
  ]
  const finish = finishOf(written)
  const usage =
    written.usage === null ? [] : [{ ...head, choices: [], usage: written.usage ?? USAGE }]
  const all = [
    ...deltas.map((delta) => chunk(delta)),
    ...(finish === null ? [] : [chunk({}, finish)]),
  ]
  const until = { start: 0, half: Math.ceil(deltas.length / 2), finish: all.length }
  const kept = written.stops ? all.slice(0, until[written.stops.at]) : [...all, ...usage]
  const events = kept.map((one) => `data: ${JSON.stringify(one)}\n\n`)
  return written.stops ? events : [...events, 'data: [DONE]\n\n']
}

const wholeOf = (written: Written, { model }: ChatRequest): string => {
  const { text = null, reasoning, refusal = null, calls, stops } = written
  const message = {
    role: 'assistant',
    content: text,
    refusal,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls.map(wireCall) }),
  }
  const usage = written.usage === null ? {} : { usage: written.usage ?? USAGE }
  const head = {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: LONG_AGO,
    model: written.model ?? model,
  }
  const body = JSON.stringify({
    ...head,
    choices: [{ index: 0, message, finish_reason: finishOf(written) }],
    ...usage,
  })
  return stops
    ? body.slice(0, { start: 0, half: body.length / 2, finish: body.length }[stops.at])
    : body
}

interface Wire {
  signal: AbortSignal
  /** Resolves when a silent connection should break. */
  silence(): Promise<void>
}

/** The answer on the wire, each piece sent separately. */
export const written = (
  reply: Written,
  request: ChatRequest,
  { signal, silence }: Wire,
): Response => {
  const pieces = request.stream ? chunksOf(reply, request) : [wholeOf(reply, request)]
  const text = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const piece = pieces.shift()
      if (piece !== undefined) return stream.enqueue(text.encode(piece))
      if (reply.stops?.how === 'hang') await silence()
      if (!signal.aborted) stream.close()
    },
  })
  return new Response(body, {
    headers: { 'content-type': request.stream ? 'text/event-stream' : 'application/json' },
  })
}
