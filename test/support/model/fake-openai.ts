import type { Server } from 'bun'
import { type ChatRequest, failed, requestFault, written } from './fake-chat.ts'
import { type ChatScript, replyTo } from './fake-chat-modes.ts'
import { answerOf, type Change, type ModelInput } from './fake-drafts.ts'

/**
 * What the fake answers to one call, in the provider's own wire format: one of the replies below,
 */
export type Behaviour =
  | keyof typeof replies
  /** or anything else the model may write, made from what it was asked. */
  | { write: (input: ModelInput) => unknown }

export interface RecordedCall {
  authorization: string | null
  /** Aborts when the caller goes away before the answer has ended. */
  signal: AbortSignal
  body: {
    model: string
    messages: { role: string; content: string }[]
    max_completion_tokens: number
    response_format: {
      type: string
      json_schema: { name: string; strict: boolean; schema: Record<string, unknown> }
    }
  }
}

interface RecordedChat {
  authorization: string | null
  signal: AbortSignal
  body: ChatRequest
}

export interface FakeOpenAi extends AsyncDisposable {
  /** For `baseURL`: ends in `/v1`. */
  url: string
  calls: RecordedCall[]
  /** Appends to the script. */
  script(...behaviours: Behaviour[]): void
  /** What calls get once the script is used up; `valid` unless told. */
  otherwise(choose: (call: RecordedCall) => Behaviour): void
  /** Calls in conversations, which ask for no schema. */
  chats: RecordedChat[]
  /** Appends to the script of conversations. */
  converse(...script: ChatScript[]): void
  /** What conversations get once their script is used up; `text` unless told. */
  converseOtherwise(script: ChatScript): void
  /** Connections on which nothing comes any more break after this long; never unless told. */
  breakAfter(ms: number): void
  /** Resolves when the next request has arrived. */
  arrived(): Promise<void>
}

const chat = (
  model: string,
  message: { content: string | null; refusal?: string; tool_calls?: object[] },
  finish_reason = 'stop',
) =>
  Response.json({
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        finish_reason,
        logprobs: null,
        message: { role: 'assistant', refusal: null, ...message },
      },
    ],
    usage: { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 },
  })

/**
 * The real provider repeats part of the key in its 401; the fake repeats all of it, so that a leak
 * shows.
 */
const failure = (
  status: number,
  {
    code,
    message,
    headers = {},
  }: { code: string; message: string; headers?: Record<string, string> },
) => Response.json({ error: { message, type: code, param: null, code } }, { status, headers })

interface Asked extends RecordedCall {
  /** Resolves when a silent connection should break. */
  silence(): Promise<void>
}

const inputOf = ({ body }: Asked): ModelInput =>
  JSON.parse(body.messages.find(({ role }) => role === 'user')?.content ?? '{}')
const json = { 'content-type': 'application/json' }
const HALF = '{"id":"chatcmpl-fake","choices":['

/** A body that begins with `text` and then goes silent. */
const stalled = (text: string, { silence, signal }: Asked): Response =>
  new Response(
    new ReadableStream({
      start: (stream) => {
        stream.enqueue(new TextEncoder().encode(text))
        void silence().then(() => signal.aborted || stream.close())
      },
    }),
    { headers: json },
  )

/** A body that never ends, as long as somebody reads it. */
const endless = (status: number): Response =>
  new Response(
    new ReadableStream({
      pull: (stream) => stream.enqueue(new TextEncoder().encode(' '.repeat(65_536))),
    }),
    { status, headers: json },
  )

/** The requested kind: drafts, an article, a reply or wordings. */
const drafted = (asked: Asked, change: Change = {}) => {
  const answer = answerOf(asked.body.response_format.json_schema.name, inputOf(asked), change)
  return chat(asked.body.model, { content: JSON.stringify(answer) })
}

/** A valid answer with bytes in its bodies that no encoding explains. */
const mangled = async (asked: Asked): Promise<Response> => {
  const text = await drafted(asked, { body: 'Half of this is @ gone' }).text()
  return new Response(
    Uint8Array.from(Buffer.from(text), (byte) => (byte === 64 ? 0xff : byte)),
    { headers: json },
  )
}

const uncalled = {
  tool_calls: [
    { id: 'call-1', type: 'function', function: { name: 'delete_all', arguments: '{}' } },
  ],
}

/** Replies by name, one for each answer. `hang…`: then goes silent. */
const replies = {
  valid: (asked: Asked) => drafted(asked),
  wrong_schema: ({ body }: Asked) =>
    chat(body.model, { content: JSON.stringify({ posts: ['just text'] }) }),
  not_json: ({ body }: Asked) => chat(body.model, { content: 'Here are your posts!' }),
  truncated: ({ body }: Asked) =>
    chat(body.model, { content: '{"drafts":[{"body":"Half a' }, 'length'),
  empty: ({ body }: Asked) => chat(body.model, { content: '' }),
  no_choices: ({ body }: Asked) =>
    Response.json({ id: 'chatcmpl-fake', object: 'chat.completion', model: body.model }),
  refusal: ({ body }: Asked) =>
    chat(body.model, { content: null, refusal: 'I cannot help with that.' }),
  filtered: ({ body }: Asked) => chat(body.model, { content: null }, 'content_filter'),
  tool_calls: ({ body }: Asked) => chat(body.model, { content: null, ...uncalled }, 'tool_calls'),
  content_in_parts: ({ body }: Asked) =>
    Response.json({
      model: body.model,
      choices: [{ message: { content: [{ type: 'text', text: 'Hello' }] } }],
      usage: { prompt_tokens: 'many' },
    }),
  nul_characters: (asked: Asked) => drafted(asked, { rationale: 'Nothing\u0000 here.' }),
  half_characters: (asked: Asked) => drafted(asked, { body: 'Half of an emoji: \ud83d' }),
  invalid_utf8: mangled,
  fences: ({ body }: Asked) => chat(body.model, { content: `\`\`\`${'\n'.repeat(200_000)}` }),
  nested: ({ body }: Asked) => chat(body.model, { content: '['.repeat(200_000) }),
  huge: ({ body }: Asked) =>
    chat(body.model, { content: JSON.stringify({ drafts: 'x'.repeat(1_048_576) }) }),
  endless: () => endless(200),
  endless_error: () => endless(500),
  half_body: () => new Response(HALF, { headers: json }),
  null_body: () => Response.json(null),
  no_content: () => new Response(null, { status: 204 }),
  web_page: () =>
    new Response('<!doctype html><title>Sign in</title>', {
      headers: { 'content-type': 'text/html' },
    }),
  rate_limited: ({ authorization }: Asked) =>
    failure(429, {
      code: 'rate_limit_exceeded',
      message: `Rate limit for ${authorization}`,
      headers: { 'retry-after': '20' },
    }),
  out_of_credit: () =>
    failure(429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }),
  unauthorized: ({ authorization }: Asked) =>
    failure(401, {
      code: 'invalid_api_key',
      message: `Incorrect API key provided: ${authorization}`,
    }),
  not_found: ({ body }: Asked) =>
    failure(404, { code: 'model_not_found', message: `The model ${body.model} does not exist` }),
  bad_request: () =>
    failure(400, { code: 'invalid_request_error', message: 'response_format is not supported' }),
  server_error: ({ authorization }: Asked) =>
    failure(500, { code: 'server_error', message: `Internal failure for ${authorization}` }),
  overloaded: () =>
    failure(503, { code: 'overloaded', message: 'Try again', headers: { 'retry-after': '3600' } }),
  redirect: () => Response.redirect('/v1/elsewhere', 307),
  hang: (asked: Asked) => asked.silence().then(() => new Response(null, { status: 504 })),
  hang_after_headers: (asked: Asked) => stalled('', asked),
  hang_in_body: (asked: Asked) => stalled(HALF, asked),
} satisfies Record<string, (asked: Asked) => Response | Promise<Response>>

/** Every behaviour that has a name. */
export const behaviours = Object.keys(replies) as (keyof typeof replies)[]

const respond = (behaviour: Behaviour, asked: Asked): Response | Promise<Response> =>
  typeof behaviour === 'object'
    ? chat(asked.body.model, { content: JSON.stringify(behaviour.write(inputOf(asked))) })
    : replies[behaviour](asked)

const answered = async (
  script: ChatScript,
  chat: RecordedChat,
  silence: () => Promise<void>,
): Promise<Response> => {
  const fault = requestFault(chat.body)
  if (fault !== undefined) return failed(400, { message: fault })
  const reply = await replyTo(script, chat.body)
  if (reply === 'hang') return silence().then(() => new Response(null, { status: 504 }))
  return reply instanceof Response
    ? reply
    : written(reply, chat.body, { signal: chat.signal, silence })
}

/**
 * A provider on loopback that speaks Chat Completions over real HTTP and follows a script, one
 * behaviour a call.
 */
export const createFakeOpenAi = async (...script: Behaviour[]): Promise<FakeOpenAi> => {
  const [calls, chats, conversation]: [RecordedCall[], RecordedChat[], ChatScript[]] = [[], [], []]
  let waiting = Promise.withResolvers<void>()
  let choose = (_: RecordedCall): Behaviour => 'valid'
  let spoken: ChatScript = 'text'
  let silence = () => new Promise<void>(() => {})
  const respondTo = (call: RecordedCall | RecordedChat) => {
    // Drafts are not streamed.
    if ('response_format' in call.body && !('tools' in call.body) && !('stream' in call.body)) {
      calls.push(call as RecordedCall)
      return respond(script.shift() ?? choose(call as RecordedCall), {
        ...(call as RecordedCall),
        silence,
      })
    }
    chats.push(call as RecordedChat)
    return answered(conversation.shift() ?? spoken, call as RecordedChat, silence)
  }
  const server: Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 120,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (
        request.method !== 'POST' ||
        !['/v1/chat/completions', '/v1/elsewhere'].includes(pathname)
      )
        return new Response(null, { status: 404 })
      const body = (await request.json()) as RecordedCall['body'] | ChatRequest
      const answer = respondTo({
        authorization: request.headers.get('authorization'),
        signal: request.signal,
        body,
      } as RecordedCall | RecordedChat)
      waiting.resolve()
      waiting = Promise.withResolvers()
      return answer
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    calls,
    chats,
    script: (...behaviours) => void script.push(...behaviours),
    otherwise: (chosen) => {
      choose = chosen
    },
    converse: (...more) => void conversation.push(...more),
    converseOtherwise: (one) => {
      spoken = one
    },
    breakAfter: (ms) => {
      silence = () => Bun.sleep(ms)
    },
    arrived: () => waiting.promise,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}
