import type { Server } from 'bun'

/** What the fake answers to one call, in the provider's own wire format. */
export type Behaviour =
  | 'valid'
  | 'wrong_schema'
  | 'not_json'
  | 'truncated'
  | 'empty'
  | 'no_choices'
  | 'refusal'
  | 'filtered'
  | 'rate_limited'
  | 'out_of_credit'
  | 'unauthorized'
  | 'not_found'
  | 'bad_request'
  | 'server_error'
  /** Never answers. */
  | 'hang'
  /** Sends headers and the beginning of a body, then nothing. */
  | 'hang_in_body'
  /** Anything else the model may write, made from what it was asked. */
  | { write: (input: ModelInput) => unknown }

/** The part of the user message that the fake reads. */
export interface ModelInput {
  count: number
  max_length: number
  profile: { stories: { id: string }[]; avoid: string[] }
  untrusted: { recent_posts: { body: string }[] }
}

export interface RecordedCall {
  authorization: string | null
  body: {
    model: string
    messages: { role: string; content: string }[]
    max_completion_tokens: number
    response_format: { type: string; json_schema: { name: string; strict: boolean; schema: Record<string, unknown> } }
  }
}

export interface FakeOpenAi extends AsyncDisposable {
  /** For `baseURL`: ends in `/v1`. */
  url: string
  calls: RecordedCall[]
  /** Appends to the script; once it is used up every call is `valid`. */
  script(...behaviours: Behaviour[]): void
  /** Resolves when the next request has arrived. */
  arrived(): Promise<void>
}

/** Enough different posts for the largest batch; without numbers, so that they claim nothing. */
const SENTENCES = [
  'Write down what surprised you today.',
  'Small fixes add up faster than grand plans.',
  'Ask why twice, then listen.',
  'Nobody reads a manual at midnight.',
  'Good defaults are quiet kindness.',
  'Delete something before lunch.',
  'Every queue hides somebody waiting.',
  'Names outlive their reasons.',
  'Fridays reveal which habits stick.',
  'A clear no saves everyone trouble.',
  'Ship it while you still remember why.',
  'Feedback cools quickly; collect it warm.',
  'Maps get old, compasses less so.',
  'Slow answers cost trust.',
  'Repeat yourself until it sounds boring.',
  'Some meetings want to be letters.',
  'Begin with an empty page more often.',
  'Kind criticism needs a concrete example.',
  'Curiosity beats certainty in week one.',
  'Measure, then argue.',
  'Support inboxes are free research.',
  'Polish belongs last, honesty first.',
  'Trust grows by boring, kept promises.',
  'Silence is an answer too.',
]

/** Drafts that keep every rule of the input. */
export const validDrafts = ({ count, max_length, profile, untrusted }: ModelInput) => {
  const taken = untrusted.recent_posts.map(({ body }) => body)
  const allowed = SENTENCES.filter(
    (text) =>
      text.length <= max_length &&
      !taken.includes(text) &&
      !profile.avoid.some((phrase) => text.toLowerCase().includes(phrase.normalize('NFKC').toLowerCase())),
  )
  return allowed.slice(0, count).map((body) => ({
    body,
    format: 'one-liner',
    hook: `opens on "${body.split(' ')[0]}"`,
    rationale: 'A short thought that fits the voice.',
    stories: profile.stories.slice(0, 1).map(({ id }) => id),
    learnings: [],
  }))
}

const chat = (model: string, message: { content: string | null; refusal?: string }, finish_reason = 'stop') =>
  Response.json({
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, finish_reason, logprobs: null, message: { role: 'assistant', refusal: null, ...message } }],
    usage: { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 },
  })

/** The real provider repeats part of the key in its 401; the fake repeats all of it, so that a leak shows. */
const failure = (status: number, { code, message, headers = {} }: { code: string; message: string; headers?: Record<string, string> }) =>
  Response.json({ error: { message, type: code, param: null, code } }, { status, headers })

const never = () => new Promise<Response>(() => {})
const halfBody = () =>
  new Response(
    new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{"id":"chatcmpl-fake","choices":[')),
      cancel: () => {},
    }),
    { headers: { 'content-type': 'application/json' } },
  )

const respond = (behaviour: Behaviour, { body, authorization }: RecordedCall): Response | Promise<Response> => {
  const asked = body.messages.find(({ role }) => role === 'user')?.content ?? '{}'
  const input = (): ModelInput => JSON.parse(asked)
  if (typeof behaviour === 'object') return chat(body.model, { content: JSON.stringify(behaviour.write(input())) })
  const replies: Record<Exclude<Behaviour, object>, () => Response | Promise<Response>> = {
    valid: () => chat(body.model, { content: JSON.stringify({ drafts: validDrafts(input()) }) }),
    wrong_schema: () => chat(body.model, { content: JSON.stringify({ posts: ['just text'] }) }),
    not_json: () => chat(body.model, { content: 'Here are your posts!' }),
    truncated: () => chat(body.model, { content: '{"drafts":[{"body":"Half a' }, 'length'),
    empty: () => chat(body.model, { content: '' }),
    no_choices: () => Response.json({ id: 'chatcmpl-fake', object: 'chat.completion', model: body.model }),
    refusal: () => chat(body.model, { content: null, refusal: 'I cannot help with that.' }),
    filtered: () => chat(body.model, { content: null }, 'content_filter'),
    rate_limited: () =>
      failure(429, { code: 'rate_limit_exceeded', message: `Rate limit for ${authorization}`, headers: { 'retry-after': '20' } }),
    out_of_credit: () => failure(429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }),
    unauthorized: () => failure(401, { code: 'invalid_api_key', message: `Incorrect API key provided: ${authorization}` }),
    not_found: () => failure(404, { code: 'model_not_found', message: `The model ${body.model} does not exist` }),
    bad_request: () => failure(400, { code: 'invalid_request_error', message: 'response_format is not supported' }),
    server_error: () => failure(500, { code: 'server_error', message: `Internal failure for ${authorization}` }),
    hang: never,
    hang_in_body: halfBody,
  }
  return replies[behaviour]()
}

/** A provider on loopback that speaks Chat Completions over real HTTP and follows a script, one behaviour a call. */
export const createFakeOpenAi = async (...script: Behaviour[]): Promise<FakeOpenAi> => {
  const calls: RecordedCall[] = []
  let waiting = Promise.withResolvers<void>()
  const server: Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      if (request.method !== 'POST' || new URL(request.url).pathname !== '/v1/chat/completions') return new Response(null, { status: 404 })
      const call = { authorization: request.headers.get('authorization'), body: (await request.json()) as RecordedCall['body'] }
      calls.push(call)
      waiting.resolve()
      waiting = Promise.withResolvers()
      return respond(script.shift() ?? 'valid', call)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    calls,
    script: (...behaviours) => void script.push(...behaviours),
    arrived: () => waiting.promise,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}
