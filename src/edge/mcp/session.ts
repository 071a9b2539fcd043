/** One client's session: a server of the SDK with its transport, bound to the caller who opened it. */
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
import { readTool } from './call-tool.ts'
import { accessOf, type McpCaller } from './caller.ts'
import type { Calls } from './calls.ts'
import type { McpContext } from './context.ts'
import type { SessionEvents } from './events.ts'
import type { Lister } from './module-watch.ts'
import { hasSessionHeaders, type PlainCall, plainAnswer, plainCallIn } from './plain-call.ts'
import { rpcError } from './rpc-error.ts'
import type { View } from './view.ts'

/** Well below the idle timeout of a connection. */
export const KEEP_ALIVE_MS = 5_000

/** How long a client waits before it reconnects to a stream that ended. */
const RECONNECT_MS = 1_000

/** Settings of one SDK server. */
export interface ServerSettings {
  view: View
  era: 'session' | 'stateless'
  /** Told which modules were enabled when tools were listed; undefined if the list depends on none. */
  listed?(modules: ReadonlySet<string> | undefined): void
  /** Runs a handler with the context of its own request. */
  within<T>(ctx: ServerContext, run: (context: McpContext) => Promise<T>): Promise<T>
}

/** Makes SDK servers with their tools, resources and prompts. */
export interface ServerFactory {
  /** Returns a server that is not connected yet. */
  create(settings: ServerSettings): Server
}

/** Carries a request's context through the SDK, in its field for authentication. */
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
  servers: ServerFactory
  events: SessionEvents
  calls: Calls
  onClose(): void
}

export class McpSession implements AsyncDisposable {
  readonly id: string
  readonly caller: McpCaller
  readonly #server: Server
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #view: View
  readonly #calls: Calls
  #usedAt = performance.now()
  /** Requests being handled. */
  #running = 0
  /** Open GET streams. */
  #streams = 0
  /** Ids of requests without an answer. Cancelled ones never get one. */
  readonly #unanswered = new Set<RequestId>()
  /** The caller as last seen, and its access. */
  #current: McpCaller
  #access: string
  /** The modules that were enabled when it last listed tools. */
  #modules: ReadonlySet<string> | undefined
  /** The access changed while no stream was open. */
  #changePending = false

  constructor(options: SessionOptions) {
    const { id, caller, view, servers, events, calls } = options
    this.id = id
    this.caller = caller
    this.#view = view
    this.#calls = calls
    this.#current = caller
    this.#access = accessOf(caller)
    const within: ServerSettings['within'] = (ctx, run) => {
      const context = contextOf(ctx)
      return this.#within(() => calls.count(context.call, () => run(context)))
    }
    const listed = (modules: ReadonlySet<string> | undefined) => {
      this.#modules = modules
    }
    this.#server = servers.create({ view, era: 'session', within, listed })
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: events,
      keepAliveMs: KEEP_ALIVE_MS,
      retryInterval: RECONNECT_MS,
      maxRequestBodySize: BODY_LIMIT,
    })
    this.#noticeAnswers()
    this.#server.onclose = () => {
      events[Symbol.dispose]()
      options.onClose()
    }
  }

  /** Call once, before the first request. */
  connect(): Promise<void> {
    return this.#server.connect(this.#transport)
  }

  get listening(): boolean {
    return this.#streams > 0
  }

  /** Whether a request runs. */
  get isCalling(): boolean {
    return this.#running > 0
  }

  /** When it was last in use, in monotonic milliseconds; undefined while a request runs or a stream is open. */
  get idleSince(): number | undefined {
    return this.#running > 0 || this.#streams > 0 ? undefined : this.#usedAt
  }

  /** The call that a request makes, if it needs nothing of the SDK. */
  plainCallIn(request: Request, body: unknown, operations: McpContext['operations']): PlainCall | undefined {
    const call = plainCallIn(body, operations, this.#view)
    if (!call || call.envelope !== '' || !hasSessionHeaders(request)) return undefined
    const agreed = this.#server.getNegotiatedProtocolVersion()
    return agreed !== undefined && (request.headers.get(VERSION_HEADER) ?? agreed) === agreed ? call : undefined
  }

  /** Answers a call without the SDK; undefined if it is refused and the caller's access must be looked up. */
  async read(call: PlainCall, context: McpContext): Promise<Response | undefined> {
    const { id } = call
    const refused = this.#refusalOf([id])
    if (refused) return refused
    this.#unanswered.add(id)
    try {
      const result = await this.#within(() => this.#calls.count(context.call, () => readTool(context, call)))
      if (result === undefined) return undefined
      this.noteAccess(context.call)
      return plainAnswer({ id, result }, { 'mcp-session-id': this.id })
    } finally {
      this.#unanswered.delete(id)
    }
  }

  /** Passes a request on to the SDK. */
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
    // A notification sent while no stream was open is stored, but replayed only to a client that sends Last-Event-ID.
    if (this.#changePending && !request.headers.has('last-event-id')) this.#notifyOfChange()
    this.#changePending = false
    return this.#watched(response)
  }

  /** Notifies the client if its access has changed. */
  noteAccess(now: McpCaller): void {
    const { scopes, principal } = this.#current
    if (now.scopes === scopes && now.principal === principal) return
    this.#current = now
    const access = accessOf(now)
    if (access === this.#access) return
    this.#access = access
    this.#changePending = !this.listening
    this.#notifyOfChange()
  }

  /** As it last listed tools. */
  get lister(): Lister {
    const changed = (modules: ReadonlySet<string>) => {
      this.#modules = modules
      void this.#server.sendToolListChanged().catch(() => {})
    }
    return { tenantId: this.caller.tenantId, listed: this.#modules, changed }
  }

  #notifyOfChange(): void {
    const { tools, resources, prompts } = this.#server.getCapabilities()
    if (tools?.listChanged) void this.#server.sendToolListChanged().catch(() => {})
    if (resources?.listChanged) void this.#server.sendResourceListChanged().catch(() => {})
    if (prompts?.listChanged) void this.#server.sendPromptListChanged().catch(() => {})
  }

  /** Ends its streams. A later request finds no such session. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
  }

  /** The SDK forgets a request when another arrives with the same id, and never ends the first one's stream. Refuses the second. */
  #refusalOf(ids: RequestId[]): Response | undefined {
    const twice = ids.find((id, index) => this.#unanswered.has(id) || ids.indexOf(id) !== index)
    if (twice !== undefined) return rpcError(400, ProtocolErrorCode.InvalidRequest, 'Bad Request: this request id is in use')
    if (ids.some((id) => String(id).length > LONGEST_ID))
      return rpcError(400, ProtocolErrorCode.InvalidRequest, `Bad Request: an id has at most ${LONGEST_ID} characters`)
    if (this.#unanswered.size + ids.length <= MAX_UNANSWERED) return undefined
    return rpcError(429, ProtocolErrorCode.InvalidRequest, 'Too many requests were cancelled: start a new session', { 'retry-after': '1' })
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

  /** The same response; tracks when its stream ends. */
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
/** The SDK keeps each of them in memory until the session ends. */
const MAX_UNANSWERED = 1_000

const idsIn = (body: unknown): RequestId[] =>
  [body].flat().flatMap((one) => {
    const { id, method } = (one ?? {}) as { id?: unknown; method?: unknown }
    return method !== undefined && (typeof id === 'string' || typeof id === 'number') ? [id] : []
  })

export const VERSION_HEADER = 'mcp-protocol-version'

/** Adds the session's protocol version if the client did not send one. Drops the body, which has been read. */
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
    // Bun sends a response's headers with its first bytes. Without any, the client would wait for them until the first event.
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
