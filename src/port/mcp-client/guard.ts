/** Stands between the protocol's client and a transport, and ends what grows beyond its bounds. */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { McpError, MOST_BYTES } from './client.ts'

/** Of one listing or call: progress, log lines, answers. */
const MOST_MESSAGES = 1_000
/**
 * Requests that a server makes of us in one session, such as for a sampling. Each gets a refusal,
 * which is a message, too.
 */
const MOST_ASKED = 16

/** What a transport reports to. */
export interface SessionWatch {
  /** Ends the session with this error. */
  fail(error: McpError): void
  /** Counts what was read. */
  read(bytes: number): void
  /** Whether the request has no answer yet. */
  isWaiting(id: RequestId): boolean
}

export type RequestId = string | number

/** A transport of the protocol's client; its `end` releases what outlives it. Never throws. */
export interface SessionTransport extends Transport {
  end(): Promise<void>
}

/** The id of what needs an answer. */
export const requestId = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message && 'id' in message ? (message.id as RequestId) : undefined

export class Guard implements Transport, SessionWatch {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  /** Why the session ended. */
  failure: McpError | undefined
  /** The server has said that its tools have changed. */
  toolsChanged = false
  readonly #link: SessionTransport
  readonly #waiting = new Set<RequestId>()
  #messages = 0
  #asked = 0
  #bytes = 0
  #isOpen = true

  constructor(connect: (watch: SessionWatch) => SessionTransport) {
    this.#link = connect(this)
  }

  get sessionId(): string | undefined {
    return this.#link.sessionId
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  setProtocolVersion = (version: string): void => this.#link.setProtocolVersion?.(version)

  /** Another listing or call begins, with bounds of its own. */
  begin(): void {
    this.#messages = 0
    this.#bytes = 0
  }

  start(): Promise<void> {
    this.#link.onclose = () => {
      this.#isOpen = false
      this.onclose?.()
    }
    this.#link.onerror = (error) => {
      this.#count()
      this.onerror?.(error)
    }
    this.#link.onmessage = (message, extra) => this.#received(message, extra)
    return this.#link.start()
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = requestId(message)
    if (id === undefined) return this.#link.send(message, options)
    this.#waiting.add(id)
    // A transport says so if an answer can no longer come, which the client would wait for.
    await this.#link.send(message, { ...options, onRequestStreamEnd: () => this.#unanswered(id) })
  }

  async close(): Promise<void> {
    this.#isOpen = false
    await this.#link.close()
  }

  /** Releases what the session has outside of this process. */
  async end(): Promise<void> {
    await this.close().catch(() => {})
    await this.#link.end()
  }

  fail(error: McpError): void {
    if (!this.#isOpen) return
    this.failure ??= error
    this.close().catch(() => {})
  }

  read(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > MOST_BYTES)
      this.fail(
        new McpError('too_large', `the server answered more than ${MOST_BYTES} bytes`, 'unknown'),
      )
  }

  isWaiting(id: RequestId): boolean {
    return this.#waiting.has(id)
  }

  #unanswered(id: RequestId): void {
    if (this.isWaiting(id))
      this.fail(new McpError('closed', 'the connection ended before the answer', 'unknown'))
  }

  #count(): void {
    this.#messages++
    if (this.#messages > MOST_MESSAGES)
      this.fail(
        new McpError('flood', `the server sent more than ${MOST_MESSAGES} messages`, 'unknown'),
      )
  }

  #received(
    message: JSONRPCMessage,
    extra: Parameters<NonNullable<Transport['onmessage']>>[1],
  ): void {
    this.#count()
    if (requestId(message) !== undefined) this.#asked++
    else if ('method' in message)
      this.toolsChanged ||= message.method === 'notifications/tools/list_changed'
    // Ours are numbers, also where a server writes them as text.
    else if (message.id !== undefined) this.#waiting.delete(Number(message.id))
    if (this.#asked > MOST_ASKED)
      this.fail(
        new McpError('flood', `the server made more than ${MOST_ASKED} requests`, 'unknown'),
      )
    if (this.#isOpen) this.onmessage?.(message, extra)
  }
}
