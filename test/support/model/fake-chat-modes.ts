/** What models and servers do in a conversation with tools, by name. */
import { type ChatReply, type ChatRequest, failed } from './fake-chat.ts'

/** Each name appears where a model would leak or guess it. */
export const FAKE_SECRET = 'sk-live-canary-8841-never-to-be-sent'
export const FOREIGN_ID = '01890000-0000-7000-8000-0000000c0de5'

const first = ({ tools }: ChatRequest): string => tools?.[0]?.function.name ?? 'no_tool_was_offered'
const call = (request: ChatRequest, given: unknown = '{}') => ({
  name: first(request),
  arguments: given,
})
const hasResults = ({ messages }: ChatRequest): boolean => messages.at(-1)?.role === 'tool'
const DONE = { text: 'Done.' }

/** Calls once, then says that it is done. */
const once = (calls: (request: ChatRequest) => ChatReply) => (request: ChatRequest) =>
  hasResults(request) ? DONE : calls(request)

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Reads `CALL name {"flat":"json"}`, even within JSON. */
const INSTRUCTION = /CALL ([\w-]+) (\{[^{}]*\})/g

/** Does once each what any text of the conversation tells it to, except for the rules. */
const obey = ({ messages }: ChatRequest): ChatReply => {
  const made = new Set(
    messages.flatMap(({ tool_calls = [] }) =>
      tool_calls.map((one) => `${one.function.name} ${one.function.arguments}`),
    ),
  )
  const read = messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .map(({ content }) => (content ?? '').replaceAll(/\\+"/g, '"'))
  const told = read.flatMap((text) =>
    [...text.matchAll(INSTRUCTION)].map(([, name, given]) => ({ name: name!, arguments: given! })),
  )
  const calls = told.filter((one) => !made.has(`${one.name} ${one.arguments}`)).slice(0, 16)
  return calls.length > 0 ? { calls } : DONE
}

const modes = {
  text: () => ({ text: 'Three drafts wait for you. 🌱 Shall I go on?' }),
  one_call: once((request) => ({ calls: [call(request)] })),
  parallel_calls: once((request) => ({
    calls: times(3, (index) =>
      call(request, `{"number":${index},"word":"so long that it comes in pieces"}`),
    ),
  })),
  thousand_calls: (request) => ({ calls: times(1_000, () => call(request)) }),
  equal_ids: once((request) => ({
    calls: times(2, (index) => ({ id: 'call_same', ...call(request, `{"number":${index}}`) })),
  })),
  empty_ids: once((request) => ({
    calls: times(2, (index) => ({ id: '', ...call(request, `{"number":${index}}`) })),
  })),
  long_ids: once((request) => ({ calls: [{ id: 'x'.repeat(500), ...call(request) }] })),
  all_index_zero: once((request) => ({
    deltas: 'index_zero',
    calls: times(2, (index) => call(request, `{"number":${index}}`)),
  })),
  no_index: once((request) => ({
    deltas: 'no_index',
    calls: times(2, (index) => call(request, `{"number":${index}}`)),
  })),
  arguments_as_object: once((request) => ({
    deltas: 'index_zero',
    calls: [call(request, { number: 1 })],
  })),
  unknown_tool: once(() => ({ calls: [{ name: 'functions.delete everything', arguments: '{}' }] })),
  not_offered: once(() => ({ calls: [{ name: 'growth_pause_all', arguments: '{}' }] })),
  arguments_not_json: once((request) => ({ calls: [call(request, 'the third one, please')] })),
  arguments_cut: once((request) => ({ calls: [call(request, '{"number":')], finish: 'length' })),
  arguments_of_wrong_types: once((request) => ({
    calls: [call(request, '{"id":7,"count":"many","list":{}}')],
  })),
  arguments_with_nul: once((request) => ({ calls: [call(request, '{"word":"a\u0000b"}')] })),
  foreign_uuids: once((request) => ({
    calls: [call(request, JSON.stringify({ id: FOREIGN_ID }))],
  })),
  secrets: once((request) => ({ calls: [call(request, JSON.stringify({ text: FAKE_SECRET }))] })),
  call_and_text: once((request) => ({ text: 'I look it up.', calls: [call(request)] })),
  endless_calls: (request) => ({ calls: [call(request)] }),
  obeys_everything: obey,
  text_cut: () => ({ text: 'Half a sen', finish: 'length' }),
  text_in_parts: () => ({ text: [{ type: 'text', text: 'In parts.' }] }),
  no_text: () => ({}),
  refusal: () => ({ refusal: 'I cannot help with that.' }),
  filtered: () => ({ text: 'Half', finish: 'content_filter' }),
  reasoning_only: () => ({ reasoning: 'The person wants to know.' }),
  reasoning_and_call: once((request) => ({ reasoning: 'I have to look.', calls: [call(request)] })),
  no_finish: () => ({ text: 'This never ended.', finish: null }),
  finish_error: () => ({ text: 'The model behind the', finish: 'error' }),
  cut_at_start: () => ({ stops: { at: 'start', how: 'close' } }),
  cut_in_middle: () => ({
    text: 'This looks like a whole sentence. This is lost.',
    stops: { at: 'half', how: 'close' },
  }),
  hang_before: () => 'hang',
  hang_in_middle: () => ({
    text: 'This looks like a whole sentence. This is late.',
    stops: { at: 'half', how: 'hang' },
  }),
  hang_at_end: () => ({ text: 'All is said.', stops: { at: 'finish', how: 'hang' } }),
  usage_missing: () => ({ ...DONE, usage: null }),
  usage_zero: () => ({ ...DONE, usage: { prompt_tokens: 0, completion_tokens: 0 } }),
  usage_negative: () => ({ ...DONE, usage: { prompt_tokens: -5, completion_tokens: 10 } }),
  usage_absurd: () => ({ ...DONE, usage: { prompt_tokens: 1e15, completion_tokens: 10 } }),
  too_much: () => ({ text: 'x'.repeat(1_048_577) }),
  rate_limited: () =>
    failed(429, {
      code: 'rate_limit_exceeded',
      message: 'Slow down',
      headers: { 'retry-after': '20' },
    }),
  rate_limited_without_time: () =>
    failed(429, { code: 'rate_limit_exceeded', message: 'Slow down' }),
  out_of_credit: () =>
    failed(429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }),
  unauthorized: () =>
    failed(401, { code: 'invalid_api_key', message: 'Incorrect API key provided' }),
  forbidden: () => failed(403, { code: 'forbidden', message: 'Not in your region' }),
  unknown_model: ({ model }) =>
    failed(404, { code: 'model_not_found', message: `The model ${model} does not exist` }),
  too_long: () =>
    failed(400, {
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 8192 tokens",
    }),
  no_tools: ({ model }) => failed(400, { message: `${model} does not support tools` }),
  bad_request: () => failed(400, { message: 'Invalid value' }),
  server_error: () => failed(500, { code: 'server_error', message: 'The server had an error' }),
  overloaded: () =>
    failed(503, { code: 'overloaded', message: 'Try again', headers: { 'retry-after': '3' } }),
  web_page: () =>
    new Response('<!doctype html><title>Sign in</title>', {
      headers: { 'content-type': 'text/html' },
    }),
} satisfies Record<string, (request: ChatRequest) => ChatReply>

export type ChatMode = keyof typeof modes

/** A named mode, or the result of a function of the request. */
export type ChatScript = ChatMode | ((request: ChatRequest) => ChatReply | Promise<ChatReply>)

export const replyTo = (
  script: ChatScript,
  request: ChatRequest,
): ChatReply | Promise<ChatReply> =>
  typeof script === 'function' ? script(request) : modes[script](request)
