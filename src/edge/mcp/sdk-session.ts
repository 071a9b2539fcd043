/** The SDK's half of a session: a server with its transport. */
import {
  type AuthInfo,
  type EventStore,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { BODY_LIMIT } from '#contract/kinds'

export const VERSION_HEADER = 'mcp-protocol-version'
/** Well below the idle timeout of a connection. */
export const KEEP_ALIVE_MS = 5_000
/** How long a client waits before it reconnects to a stream that ended. */
const RECONNECT_MS = 1_000

interface SdkOptions {
  id: string
  /** Not connected yet. */
  server: Server
  events: EventStore
  onAnswer(id: RequestId): void
  onClose(): void
}

interface Handling {
  parsedBody: unknown
  authInfo: AuthInfo
  /** The event after which the client resumes. Null if there is none. */
  lastEvent: string | null
}

/** What a client sends once it has been told the server's capabilities. */
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }

export class SdkSession {
  readonly server: Server
  readonly #id: string
  readonly #transport: WebStandardStreamableHTTPServerTransport

  constructor({ id, server, events, onAnswer, onClose }: SdkOptions) {
    this.#id = id
    this.server = server
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: events,
      keepAliveMs: KEEP_ALIVE_MS,
      retryInterval: RECONNECT_MS,
      maxRequestBodySize: BODY_LIMIT,
    })
    noticeAnswers(this.#transport, onAnswer)
    this.server.onclose = onClose
  }

  /** The protocol version that was agreed on, if any. */
  get version(): string | undefined {
    return this.server.getNegotiatedProtocolVersion()
  }

  /**
   * Call once, before the first request. `opening`: the request of a client that has opened the
   * session before, and does not get another answer.
   */
  async connect(opening?: unknown): Promise<void> {
    await this.server.connect(this.#transport)
    if (opening === undefined) return
    for (const parsedBody of [opening, INITIALIZED]) {
      const headers = {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': this.#id,
      }
      const response = await this.#transport.handleRequest(
        new Request(ANYWHERE, { method: 'POST', headers }),
        { parsedBody },
      )
      // The stream ends with the answer, and by then the SDK knows its client.
      await response.text()
      if (!response.ok) throw new Error(`the SDK does not open a session again: ${response.status}`)
    }
  }

  handle(request: Request, { lastEvent, ...options }: Handling): Promise<Response> {
    return this.#transport.handleRequest(
      adaptRequest(request, { version: this.version, lastEvent }),
      options,
    )
  }

  /** Tells the client that its access has changed. */
  notifyOfChange(): void {
    const { tools, resources, prompts } = this.server.getCapabilities()
    if (tools?.listChanged) this.notifyOfTools()
    if (resources?.listChanged) void this.server.sendResourceListChanged().catch(() => {})
    if (prompts?.listChanged) void this.server.sendPromptListChanged().catch(() => {})
  }

  notifyOfTools(): void {
    void this.server.sendToolListChanged().catch(() => {})
  }

  /** Ends without telling anybody. */
  forget(): void {
    this.server.onclose = () => {}
    void this.server.close().catch(() => {})
  }

  close(): Promise<void> {
    return this.server.close()
  }
}

const ANYWHERE = 'http://localhost/'

const noticeAnswers = (
  transport: WebStandardStreamableHTTPServerTransport,
  onAnswer: (id: RequestId) => void,
): void => {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const answers = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
    if (answers && message.id !== undefined) onAnswer(message.id)
    return send(message, options)
  }
}

/**
 * Adds the session's protocol version if the client did not send one, and leaves out an event that
 * is no longer known. Drops the body, which has been read.
 */
const adaptRequest = (
  request: Request,
  { version, lastEvent }: { version: string | undefined; lastEvent: string | null },
): Request => {
  const isKnown = request.headers.get('last-event-id') === lastEvent || lastEvent !== null
  if ((version === undefined || request.headers.has(VERSION_HEADER)) && isKnown) return request
  const headers = new Headers(request.headers)
  if (version !== undefined && !headers.has(VERSION_HEADER)) headers.set(VERSION_HEADER, version)
  if (!isKnown) headers.delete('last-event-id')
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}
