/**
 * Stands between the protocol's client and a transport, and ends sessions that exceed their limits.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { McpError, MOST_BYTES } from './client.ts'

/** For one listing or call, including progress, log lines and answers. */
const MOST_MESSAGES = 1_000
/**
 * How many requests a server may make of us in one session, for example for sampling. Each gets a
 * refusal, which also counts as a message.
 */
const MOST_ASKED = 16

/** What a transport reports to. */
export interface SessionWatch {
  /** Ends the session with this error. */
  fail(error: McpError): void
  /** Counts bytes that were read. */
  read(bytes: number): void
  /** Whether the request has not been answered yet. */
  isWaiting(id: RequestId): boolean
}

export type RequestId = string | number

/**
 * A transport for the protocol's client. Its `end` releases what outlives the transport. Never
 * throws.
 */
export interface SessionTransport extends Transport {
  end(): Promise<void>
}

/** The id of a message that needs an answer. */
export const requestId = (message: JSONRPCMessage): RequestId | undefined =>
  'method' in message && 'id' in message ? (message.id as RequestId) : undefined

export class Guard implements Transport, SessionWatch {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  /** Why the session ended. */
  failure: McpError | undefined
  /** Whether the server has said that its tools changed. */
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

  /** Starts the limits of another listing or call. */
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
    // A transport reports when an answer can no longer come. Otherwise the client would wait for
    // it.
    await this.#link.send(message, { ...options, onRequestStreamEnd: () => this.#unanswered(id) })
  }

  async close(): Promise<void> {
    this.#isOpen = false
    await this.#link.close()
  }

  /** Releases what the session holds outside this process. */
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
    // Our ids are numbers, even if a server returns them as text.
    else if (message.id !== undefined) this.#waiting.delete(Number(message.id))
    if (this.#asked > MOST_ASKED)
      this.fail(
        new McpError('flood', `the server made more than ${MOST_ASKED} requests`, 'unknown'),
      )
    if (this.#isOpen) this.onmessage?.(message, extra)
  }
}
