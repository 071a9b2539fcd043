import type { Server } from 'bun'

/** What the fake answers to one call, in the provider's own wire format: one of the replies below, */
export type Behaviour =
  | keyof typeof replies
  /** or anything else the model may write, made from what it was asked. */
  | { write: (input: ModelInput) => unknown }

/** The part of the user message that the fake reads: of a batch, of an article, or of findings to be worded. */
export interface ModelInput {
  count: number
  hooks: { name: string; how: string }[]
  preferred_hooks: string[]
  max_length: number
  profile: { stories: { id: string }[]; avoid: string[] }
  products: { name: string; one_liner: string; url: string | null }[]
  archived_products: string[]
  untrusted: { recent_posts: { body: string }[] }
  topic: string
  outline: string[]
  least_words: number
  most_words: number
  sentences: string[]
}

export interface RecordedCall {
  authorization: string | null
  /** Aborts when the caller goes away before the answer has ended. */
  signal: AbortSignal
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
  /** Appends to the script. */
  script(...behaviours: Behaviour[]): void
  /** What calls get once the script is used up; `valid` unless told. */
  otherwise(choose: (call: RecordedCall) => Behaviour): void
  /** Connections on which nothing comes any more break after this long; never unless told. */
  breakAfter(ms: number): void
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

/** Drafts that keep every rule of the input; products come first. */
export const validDrafts = ({ count, max_length, hooks, profile, products, untrusted }: ModelInput) => {
  const taken = untrusted.recent_posts.map(({ body }) => body)
  const offered = products.map(({ name, one_liner }) => `${name}: ${one_liner}.`)
  const allowed = [...offered, ...SENTENCES].filter(
    (text) =>
      text.length <= max_length &&
      !taken.includes(text) &&
      !profile.avoid.some((phrase) => text.toLowerCase().includes(phrase.normalize('NFKC').toLowerCase())),
  )
  return allowed.slice(0, count).map((body, index) => ({
    body,
    format: 'one-liner',
    // No two open alike, nor like a recent post.
    hook: hooks[(taken.length + index) % hooks.length]!.name,
    rationale: 'A short thought that fits the voice.',
    stories: profile.stories.slice(0, 1).map(({ id }) => id),
    learnings: [],
  }))
}

/** An article that keeps every rule of the input: each paragraph is of other sentences, as many as it takes. */
export const validArticle = ({ topic, outline, least_words, profile }: ModelInput) => {
  const allowed = SENTENCES.filter(
    (text) => !profile.avoid.some((phrase) => text.toLowerCase().includes(phrase.normalize('NFKC').toLowerCase())),
  )
  const paragraphs: string[] = []
  for (let words = 0, index = 0; words < least_words; index += 1) {
    // Another pair of sentences each time: no paragraph comes twice.
    const pair = [allowed[index % allowed.length], allowed[(index * 2 + 1 + Math.floor(index / allowed.length)) % allowed.length]]
    const paragraph = pair.join(' ')
    paragraphs.push(paragraph)
    words += paragraph.split(' ').length
  }
  const headings = outline.length > 0 ? outline : ['']
  const share = Math.ceil(paragraphs.length / headings.length)
  return {
    title: `On ${topic}`,
    sections: headings.map((heading, index) => ({ heading, text: paragraphs.slice(index * share, (index + 1) * share).join('\n\n') })),
    rationale: 'A calm article that fits the voice.',
    stories: profile.stories.slice(0, 1).map(({ id }) => id),
    learnings: [],
  }
}

const chat = (model: string, message: { content: string | null; refusal?: string; tool_calls?: object[] }, finish_reason = 'stop') =>
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

interface Asked extends RecordedCall {
  /** Resolves when a connection on which nothing comes is to break. */
  silence(): Promise<void>
}

const inputOf = ({ body }: Asked): ModelInput => JSON.parse(body.messages.find(({ role }) => role === 'user')?.content ?? '{}')
const json = { 'content-type': 'application/json' }
const HALF = '{"id":"chatcmpl-fake","choices":['

/** A body that begins with `text` and then does not go on. */
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

/** A body that never ends, for as long as somebody reads it. */
const endless = (status: number): Response =>
  new Response(
    new ReadableStream({
      pull: (stream) => stream.enqueue(new TextEncoder().encode(' '.repeat(65_536))),
    }),
    { status, headers: json },
  )

interface Change {
  body?: string
  rationale?: string
}

const articleWith = (input: ModelInput, { body, ...change }: Change) => {
  const article = validArticle(input)
  return { ...article, ...(body === undefined ? {} : { sections: article.sections.map((one) => ({ ...one, text: body })) }), ...change }
}

const replyWith = (change: Change) => ({ body: SENTENCES[0], rationale: 'A short thought that fits the voice.', ...change })

const answerOf = (name: string, input: ModelInput, change: Change) => {
  if (name === 'article') return articleWith(input, change)
  if (name === 'reply') return replyWith(change)
  if (name === 'wordings') return { sentences: input.sentences.map((sentence) => change.body ?? `As found: ${sentence}`) }
  return { drafts: validDrafts(input).map((draft) => ({ ...draft, ...change })) }
}

/** What was asked for: drafts, an article, a reply or wordings. */
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

const uncalled = { tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'delete_all', arguments: '{}' } }] }

/** One an answer, by name; `hang…`: nothing comes any more. */
const replies = {
  valid: (asked: Asked) => drafted(asked),
  wrong_schema: ({ body }: Asked) => chat(body.model, { content: JSON.stringify({ posts: ['just text'] }) }),
  not_json: ({ body }: Asked) => chat(body.model, { content: 'Here are your posts!' }),
  truncated: ({ body }: Asked) => chat(body.model, { content: '{"drafts":[{"body":"Half a' }, 'length'),
  empty: ({ body }: Asked) => chat(body.model, { content: '' }),
  no_choices: ({ body }: Asked) => Response.json({ id: 'chatcmpl-fake', object: 'chat.completion', model: body.model }),
  refusal: ({ body }: Asked) => chat(body.model, { content: null, refusal: 'I cannot help with that.' }),
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
  huge: ({ body }: Asked) => chat(body.model, { content: JSON.stringify({ drafts: 'x'.repeat(1_048_576) }) }),
  endless: () => endless(200),
  endless_error: () => endless(500),
  half_body: () => new Response(HALF, { headers: json }),
  null_body: () => Response.json(null),
  no_content: () => new Response(null, { status: 204 }),
  web_page: () => new Response('<!doctype html><title>Sign in</title>', { headers: { 'content-type': 'text/html' } }),
  rate_limited: ({ authorization }: Asked) =>
    failure(429, { code: 'rate_limit_exceeded', message: `Rate limit for ${authorization}`, headers: { 'retry-after': '20' } }),
  out_of_credit: () => failure(429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }),
  unauthorized: ({ authorization }: Asked) =>
    failure(401, { code: 'invalid_api_key', message: `Incorrect API key provided: ${authorization}` }),
  not_found: ({ body }: Asked) => failure(404, { code: 'model_not_found', message: `The model ${body.model} does not exist` }),
  bad_request: () => failure(400, { code: 'invalid_request_error', message: 'response_format is not supported' }),
  server_error: ({ authorization }: Asked) => failure(500, { code: 'server_error', message: `Internal failure for ${authorization}` }),
  overloaded: () => failure(503, { code: 'overloaded', message: 'Try again', headers: { 'retry-after': '3600' } }),
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

/** A provider on loopback that speaks Chat Completions over real HTTP and follows a script, one behaviour a call. */
export const createFakeOpenAi = async (...script: Behaviour[]): Promise<FakeOpenAi> => {
  const calls: RecordedCall[] = []
  let waiting = Promise.withResolvers<void>()
  let choose = (_: RecordedCall): Behaviour => 'valid'
  let silence = () => new Promise<void>(() => {})
  const server: Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 120,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (request.method !== 'POST' || !['/v1/chat/completions', '/v1/elsewhere'].includes(pathname))
        return new Response(null, { status: 404 })
      const body = (await request.json()) as RecordedCall['body']
      const call = { authorization: request.headers.get('authorization'), signal: request.signal, body }
      calls.push(call)
      waiting.resolve()
      waiting = Promise.withResolvers()
      return respond(script.shift() ?? choose(call), { ...call, silence })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    calls,
    script: (...behaviours) => void script.push(...behaviours),
    otherwise: (chosen) => {
      choose = chosen
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
