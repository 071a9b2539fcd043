/**
 * Streamable HTTP through the egress client. Each request's address is judged, and nothing is sent
 * twice.
 */
import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { TooLong } from '../egress/body.ts'
import { type Egress, type EgressStream, NotConnected } from '../egress/egress.ts'
import { EgressRefused } from '../egress/target.ts'
import { McpError, MOST_BYTES } from './client.ts'
import { requestId, type SessionTransport, type SessionWatch } from './guard.ts'

export interface HttpServer {
  url: string
  headers: Record<string, string>
}

interface HttpOptions {
  egress: Egress
  deadlineMs: number
}

/** How many times a session may resume streams that broke off. */
const MOST_RESUMED = 10
const RESUMPTIONS = {
  maxRetries: 2,
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
}
/** For ending a session, which nobody waits for any more. */
const END_MS = 5_000

/** Statuses by which a server says that it did nothing. */
const TURNED_AWAY = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429])

const failureOfStatus = (status: number, hasSession: boolean): McpError => {
  const outcome = TURNED_AWAY.has(status) ? 'not_done' : 'unknown'
  if (status === 401)
    return new McpError(
      'unauthorized',
      'the server wants credentials (HTTP 401); OAuth is not supported, set a header',
      outcome,
    )
  if (status === 403)
    return new McpError(
      'unauthorized',
      'the server does not accept these credentials (HTTP 403)',
      outcome,
    )
  if (status === 404 && hasSession)
    return new McpError('session_lost', 'the server has ended the session (HTTP 404)', outcome)
  if (status >= 300 && status < 400)
    return new McpError(
      'status',
      `the server redirects elsewhere (HTTP ${status}), which is not followed`,
      outcome,
    )
  return new McpError('status', `the server answered with HTTP ${status}`, outcome)
}

/** The failure of a request that got no response, or only part of one. */
const failureOf = (cause: unknown): McpError => {
  if (cause instanceof McpError) return cause
  if (cause instanceof EgressRefused)
    return new McpError('refused', cause.message, 'not_done', { cause })
  if (cause instanceof NotConnected) {
    const isLate = cause.cause instanceof Error && cause.cause.name === 'TimeoutError'
    const failure = isLate ? 'timeout' : 'unreachable'
    return new McpError(
      failure,
      `no connection to the server${isLate ? ' in time' : ''}`,
      'not_done',
      { cause },
    )
  }
  const name = cause instanceof Error ? cause.name : ''
  if (name === 'TimeoutError')
    return new McpError('timeout', 'the server did not answer in time', 'unknown', { cause })
  if (cause instanceof TooLong)
    return new McpError(
      'too_large',
      `the server answered more than ${MOST_BYTES} bytes`,
      'unknown',
      { cause },
    )
  return new McpError('closed', 'the connection ended before the answer', 'unknown', { cause })
}

const isPacked = ({ headers }: EgressStream): boolean =>
  !['', 'identity'].includes(String(headers['content-encoding'] ?? ''))

/**
 * Whether the connection broke off, so that the client may resume it. It may not if the answer
 * became too large or late.
 */
const isCut = (failure: McpError): boolean => failure.failure === 'closed'

/** The most messages in one answer. */
const MOST_LISTED = 100

/** In bytes. */
const PIECE = 8_192

/** Headers that the protocol's client reads. */
const READ = ['content-type', 'mcp-session-id'] as const

class Http {
  #resumed = 0

  constructor(
    private readonly server: HttpServer,
    private readonly options: HttpOptions,
    private readonly watch: SessionWatch,
  ) {}

  readonly fetch: FetchLike = async (url, init = {}) => {
    const headers = new Headers(init.headers)
    if (String(url) !== this.server.url)
      throw new McpError('refused', 'only the URL of the server is called')
    if (init.method === 'GET') {
      // Messages that the server sends unasked are of no use here.
      if (!headers.has('last-event-id')) return new Response(null, { status: 405 })
      if (++this.#resumed > MOST_RESUMED)
        this.watch.fail(
          new McpError('flood', `the server broke off more than ${MOST_RESUMED} times`, 'unknown'),
        )
    }
    return this.#exchanged(init.method ?? 'GET', headers, init)
  }

  async #exchanged(
    method: string,
    headers: Headers,
    { body, signal }: RequestInit,
  ): Promise<Response> {
    const answer = await this.#open(method as 'GET' | 'POST', headers, {
      body: String(body ?? ''),
      ...(signal ? { signal } : {}),
    })
    const { status } = answer
    const isEmpty = status === 202 || status === 204
    if (status >= 300 || isEmpty) await answer.body.cancel()
    if (status < 200 || status >= 300) throw failureOfStatus(status, headers.has('mcp-session-id'))
    if (isPacked(answer))
      throw new McpError('broken', 'the answer is packed, though nobody asked for that', 'unknown')
    const read = READ.flatMap((name) =>
      answer.headers[name] === undefined
        ? []
        : [[name, String(answer.headers[name])] as [string, string]],
    )
    const said = isEmpty ? null : this.#watched(answer.body)
    const isWhole = /^application\/json\b/i.test(String(answer.headers['content-type'] ?? ''))
    return new Response(said && isWhole ? await this.#whole(said) : said, { status, headers: read })
  }

  /** The client checks all messages of a list at once, so a long list is not passed to it. */
  async #whole(body: ReadableStream<Uint8Array>): Promise<string> {
    const text = await new Response(body).text()
    if (!/^\s*\[/.test(text) || text.split('"jsonrpc"').length <= MOST_LISTED) return text
    throw new McpError(
      'flood',
      `the server answered a list of more than ${MOST_LISTED} messages`,
      'unknown',
    )
  }

  async #open(
    method: 'GET' | 'POST' | 'DELETE',
    headers: Headers,
    more: { body: string; signal?: AbortSignal; deadlineMs?: number },
  ) {
    const { egress, deadlineMs } = this.options
    const { url } = this.server
    const all = {
      'user-agent': 'Tendril (mcp)',
      ...this.server.headers,
      ...Object.fromEntries(headers.entries()),
    }
    try {
      return await egress.open({
        url,
        method,
        headers: all,
        deadlineMs,
        maxBytes: MOST_BYTES,
        ...more,
      })
    } catch (cause) {
      throw failureOf(cause)
    }
  }

  /**
   * The body with its bytes counted, and cut into pieces so that the process can do other work in
   * between. Otherwise the client would read everything at once.
   */
  #watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    let rest: Uint8Array = new Uint8Array()
    const more = async (): Promise<Uint8Array | undefined> => {
      if (rest.length > 0) {
        await new Promise(setImmediate)
        return rest
      }
      const { value } = await reader.read()
      if (value) this.watch.read(value.length)
      return value
    }
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            const bytes = await more()
            if (!bytes) return controller.close()
            controller.enqueue(bytes.subarray(0, PIECE))
            rest = bytes.subarray(PIECE)
          } catch (cause) {
            const failure = failureOf(cause)
            if (!isCut(failure)) this.watch.fail(failure)
            controller.error(failure)
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  /** Tells the server that the session will not be used again. */
  async forget(headers: Headers): Promise<void> {
    try {
      const { body } = await this.#open('DELETE', headers, { body: '', deadlineMs: END_MS })
      await body.cancel()
    } catch {
      // The server will forget the session by itself.
    }
  }
}

class HttpLink extends StreamableHTTPClientTransport implements SessionTransport {
  readonly #http: Http
  readonly #watch: SessionWatch
  /** The request that is being sent, and whether its answer is a stream. */
  #sent: string | undefined
  #isStream = false

  constructor(server: HttpServer, options: HttpOptions, watch: SessionWatch) {
    const http = new Http(server, options, watch)
    const fetch: FetchLike = async (url, init) => {
      const response = await http.fetch(url, init)
      if (init?.body === this.#sent)
        this.#isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
      return response
    }
    super(new URL(server.url), { fetch, reconnectionOptions: RESUMPTIONS })
    this.#http = http
    this.#watch = watch
  }

  /**
   * If a complete answer does not contain that of the request, there is none, and no other will
   * come.
   */
  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = requestId(message)
    if (id === undefined) return super.send(message, options)
    this.#isStream = false
    this.#sent = JSON.stringify(message)
    await super.send(message, options)
    if (this.#isStream || !this.#watch.isWaiting(id)) return
    throw new McpError(
      'broken',
      'the server answered something else than what it was asked',
      'unknown',
    )
  }

  async end(): Promise<void> {
    if (this.sessionId === undefined) return
    const version: Record<string, string> =
      this.protocolVersion === undefined ? {} : { 'mcp-protocol-version': this.protocolVersion }
    await this.#http.forget(new Headers({ 'mcp-session-id': this.sessionId, ...version }))
  }
}

export const httpLink = (
  server: HttpServer,
  options: HttpOptions,
  watch: SessionWatch,
): SessionTransport => new HttpLink(server, options, watch)
