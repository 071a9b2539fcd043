/** One client's session: a server of the SDK with its transport, bound to whoever opened it. */
import {
  type AuthInfo,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
  type RequestId,
  type Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { BODY_LIMIT } from '#contract/kinds'
import { fail } from '#kernel/errors'
import { accessOf, type McpCaller } from './caller.ts'
import type { Calls } from './calls.ts'
import type { McpContext } from './context.ts'
import type { SessionEvents } from './events.ts'
import { rpcError } from './rpc-error.ts'
import type { View } from './view.ts'

/** Well below the time after which a connection without a byte is closed. */
export const KEEP_ALIVE_MS = 5_000

/** How long a client whose stream ended waits before it reads on. */
const COME_AGAIN_MS = 1_000

/** What a server of the SDK is made for. */
export interface Served {
  view: View
  era: 'session' | 'stateless'
  /** Runs a handler with the context of its very request. */
  within<T>(ctx: ServerContext, run: (context: McpContext) => Promise<T>): Promise<T>
}

/** What is served: tools, resources, prompts. */
export interface Surface {
  /** A server that is not connected yet. */
  open(served: Served): Server
}

/** A request's context travels in the SDK's place for what authentication has found. */
export const authInfoOf = (context: McpContext): AuthInfo => ({
  token: '',
  clientId: context.call.principal.id,
  scopes: [...context.call.scopes],
  extra: { context },
})

export const contextOf = (ctx: ServerContext): McpContext =>
  (ctx.http?.authInfo?.extra?.context as McpContext | undefined) ?? fail('internal', 'a request without its context')

export interface SessionOptions {
  id: string
  caller: McpCaller
  view: View
  surface: Surface
  events: SessionEvents
  calls: Calls
  onClose(): void
}

export class McpSession implements AsyncDisposable {
  readonly id: string
  readonly caller: McpCaller
  readonly #server: Server
  readonly #transport: WebStandardStreamableHTTPServerTransport
  #usedAt = performance.now()
  /** Requests that run. */
  #running = 0
  /** GET streams that are open. */
  #streams = 0
  /** Ids of requests that have no answer; those that the client took back get none. */
  readonly #unanswered = new Set<RequestId>()
  #access: string
  /** It changed while nobody listened. */
  #untold = false

  constructor(options: SessionOptions) {
    const { id, caller, view, surface, events, calls } = options
    this.id = id
    this.caller = caller
    this.#access = accessOf(caller)
    const within: Served['within'] = (ctx, run) => {
      const context = contextOf(ctx)
      return this.#within(() => calls.count(context.call, () => run(context)))
    }
    this.#server = surface.open({ view, era: 'session', within })
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: events,
      keepAliveMs: KEEP_ALIVE_MS,
      retryInterval: COME_AGAIN_MS,
      maxRequestBodySize: BODY_LIMIT,
    })
    this.#noticeAnswers()
    this.#server.onclose = () => {
      events[Symbol.dispose]()
      options.onClose()
    }
  }

  /** To be called once, before the first request. */
  connect(): Promise<void> {
    return this.#server.connect(this.#transport)
  }

  get listening(): boolean {
    return this.#streams > 0
  }

  /** Since when nothing has run and nobody has listened, by the monotonic clock; undefined while something does. */
  get idleSince(): number | undefined {
    return this.#running > 0 || this.#streams > 0 ? undefined : this.#usedAt
  }

  async handle(request: Request, context: McpContext, parsedBody: unknown): Promise<Response> {
    this.#usedAt = performance.now()
    this.noteAccess(context.call)
    const ids = request.method === 'POST' ? idsIn(parsedBody) : []
    const refused = this.#refusalOf(ids)
    if (refused) return refused
    for (const id of ids) this.#unanswered.add(id)
    const versioned = withVersion(request, this.#server.getNegotiatedProtocolVersion())
    const response = await this.#transport.handleRequest(versioned, { parsedBody, authInfo: authInfoOf(context) })
    if (!response.ok) for (const id of ids) this.#unanswered.delete(id)
    if (request.method !== 'GET' || !response.ok) return response
    // What was told while nobody listened is kept, but replayed only to a client that reads on.
    if (this.#untold && !request.headers.has('last-event-id')) this.#tellOfChange()
    this.#untold = false
    return this.#watched(response)
  }

  /** Tells the client, if it may do other things now than it could before. */
  noteAccess(now: McpCaller): void {
    const access = accessOf(now)
    if (access === this.#access) return
    this.#access = access
    this.#untold = !this.listening
    this.#tellOfChange()
  }

  #tellOfChange(): void {
    const { tools, resources, prompts } = this.#server.getCapabilities()
    if (tools?.listChanged) void this.#server.sendToolListChanged().catch(() => {})
    if (resources?.listChanged) void this.#server.sendResourceListChanged().catch(() => {})
    if (prompts?.listChanged) void this.#server.sendPromptListChanged().catch(() => {})
  }

  /** Ends its streams; a client that comes again is told that there is no such session. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
  }

  /** To the SDK the later one of two requests with one id is the only one: the stream of the other would never end. */
  #refusalOf(ids: RequestId[]): Response | undefined {
    const twice = ids.find((id, index) => this.#unanswered.has(id) || ids.indexOf(id) !== index)
    if (twice !== undefined) return rpcError(400, ProtocolErrorCode.InvalidRequest, 'Bad Request: the id of a request is in use')
    if (ids.some((id) => String(id).length > LONGEST_ID))
      return rpcError(400, ProtocolErrorCode.InvalidRequest, `Bad Request: an id has at most ${LONGEST_ID} characters`)
    if (this.#unanswered.size + ids.length <= MOST_UNANSWERED) return undefined
    return rpcError(429, ProtocolErrorCode.InvalidRequest, 'Too many requests were taken back: begin a new session', { 'retry-after': '1' })
  }

  #noticeAnswers(): void {
    const transport = this.#transport
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const answers = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
      if (answers && message.id !== undefined) this.#unanswered.delete(message.id)
      return send(message, options)
    }
  }

  async #within<T>(run: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      return await run()
    } finally {
      this.#running--
      this.#usedAt = performance.now()
    }
  }

  /** The same response, whose end is noticed. */
  #watched(response: Response): Response {
    if (!response.body) return response
    this.#streams++
    const ended = () => {
      this.#streams--
      this.#usedAt = performance.now()
    }
    return new Response(noticing(response.body, ended), { status: response.status, headers: response.headers })
  }
}

const LONGEST_ID = 200
/** The SDK remembers each of them for as long as the session lasts. */
const MOST_UNANSWERED = 1_000

const idsIn = (body: unknown): RequestId[] =>
  [body].flat().flatMap((one) => {
    const { id, method } = (one ?? {}) as { id?: unknown; method?: unknown }
    return method !== undefined && (typeof id === 'string' || typeof id === 'number') ? [id] : []
  })

const VERSION_HEADER = 'mcp-protocol-version'

/** A client that does not say which version it speaks speaks the one that the session was opened with. The body was read before. */
const withVersion = (request: Request, version: string | undefined): Request => {
  if (version === undefined || request.headers.has(VERSION_HEADER)) return request
  const headers = new Headers(request.headers)
  headers.set(VERSION_HEADER, version)
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}

const noticing = (body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  let open = true
  const end = () => {
    if (open) ended()
    open = false
  }
  return new ReadableStream({
    // Bun sends the head of a response with its first bytes: without any, a client waits for it until the first event.
    start: (controller) => controller.enqueue(new TextEncoder().encode(': open\n\n')),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      end()
      controller.close()
    },
    async cancel(reason) {
      end()
      await reader.cancel(reason)
    },
  })
}
