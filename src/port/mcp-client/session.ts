/** A session with a server over either transport. */
import { Client, ProtocolError, type StandardSchemaV1 } from '@modelcontextprotocol/client'
import { answerOf, type ForeignAnswer } from '#domain/agent/mcp/foreign-result'
import { cleanText } from '#domain/agent/mcp/foreign-text'
import { isObject } from '#kernel/json-value'
import {
  type McpCall,
  type McpClientSession,
  McpError,
  type McpListing,
  MOST_TOOLS,
} from './client.ts'
import { Guard, type SessionTransport, type SessionWatch } from './guard.ts'

export interface ClientSessionOptions {
  connect(watch: SessionWatch): SessionTransport
  /** Ends the session. */
  signal: AbortSignal
  /** For connecting, for a listing with all its pages, and for each call. */
  deadlineMs: number
  version: string
  /** Called once, when the session is closed. */
  release(): void
}

type Result = Record<string, unknown>

const sessionLimits = {
  pages: 20,
  cursorLength: 4_096,
  nameLength: 80,
  errorLength: 2_000,
} as const

/**
 * Results are not validated here: one wrong tool must not hide the others, and whoever uses a
 * result checks it.
 */
const anything: StandardSchemaV1<unknown, Result> = {
  '~standard': {
    version: 1,
    vendor: 'tendril',
    validate: (value) => ({ value: isObject(value) ? value : {} }),
  },
}

interface Connection {
  client: Client
  guard: Guard
}

/** What limits one operation: its time, and what stops it. */
interface Bounds {
  stopped: AbortSignal
  deadline: AbortSignal
}

/** Why a request got no answer, whether or not it was sent. */
const failureOf = (cause: unknown, { failure }: Guard, { stopped, deadline }: Bounds): McpError => {
  if (failure) return failure
  if (cause instanceof McpError) return cause
  if (stopped.aborted) return new McpError('stopped', 'the call was stopped', 'unknown', { cause })
  if (deadline.aborted)
    return new McpError('timeout', 'the server did not answer in time', 'unknown', { cause })
  if (cause instanceof ProtocolError)
    return new McpError(
      'server_error',
      `the server answered with the error ${cause.code}`,
      'unknown',
    )
  const message = cause instanceof Error ? cause.message : ''
  if (message.includes('protocol version is not supported'))
    return new McpError(
      'unsupported',
      'the server speaks no version of the protocol that is known here',
      'unknown',
      { cause },
    )
  if (message === 'Connection closed')
    return new McpError('closed', 'the connection ended before the answer', 'unknown', { cause })
  return new McpError('broken', 'the answer is none of the protocol', 'unknown', { cause })
}

/** What is known about a session that cannot have called anything yet. */
const beforeCalls = ({ failure, message, cause }: McpError): McpError =>
  new McpError(failure, message, 'not_done', { cause })

class Session implements McpClientSession {
  #connection: Connection | undefined
  #isClosed = false

  constructor(private readonly options: ClientSessionOptions) {
    options.signal.addEventListener('abort', this.#stop)
  }

  readonly #stop = (): void =>
    this.#connection?.guard.fail(new McpError('stopped', 'the session was stopped', 'unknown'))

  #bounds(signal?: AbortSignal): Bounds {
    const { signal: whole, deadlineMs } = this.options
    return {
      stopped: signal ? AbortSignal.any([whole, signal]) : whole,
      deadline: AbortSignal.timeout(deadlineMs),
    }
  }

  /** The connection, opened again if it has ended. */
  async connected(): Promise<Connection> {
    if (this.#isClosed) throw new McpError('closed', 'the session is closed')
    const current = this.#connection
    if (current?.guard.isOpen) return current
    await current?.guard.end()
    const bounds = this.#bounds()
    if (bounds.stopped.aborted) throw new McpError('stopped', 'the session was stopped')
    const guard = new Guard(this.options.connect)
    // Without capabilities: a server that asks for sampling, elicitation or roots is told that
    // there is no such method.
    const client = new Client(
      { name: 'tendril', version: this.options.version },
      { capabilities: {}, inputRequired: { autoFulfill: false } },
    )
    this.#connection = { client, guard }
    try {
      await client.connect(guard, this.#asked(bounds))
      return this.#connection
    } catch (cause) {
      const failure = beforeCalls(failureOf(cause, guard, bounds))
      await guard.end()
      throw failure
    }
  }

  #asked({ stopped, deadline }: Bounds) {
    // Our deadline applies. The client's own comes later.
    return { signal: AbortSignal.any([stopped, deadline]), timeout: 2 * this.options.deadlineMs }
  }

  get info(): McpClientSession['info'] {
    const client = this.#connection?.client
    const { name = '', version = '' } = client?.getServerVersion() ?? {}
    const words = [name, version, client?.getNegotiatedProtocolVersion() ?? ''].map((text) =>
      cleanText(text, sessionLimits.nameLength),
    )
    return { name: words[0]!, version: words[1]!, protocol: words[2]! }
  }

  get toolsChanged(): boolean {
    return this.#connection?.guard.toolsChanged ?? false
  }

  /** Asks a second time if the server has forgotten the session. */
  async list(): Promise<McpListing> {
    try {
      return await this.#listed()
    } catch (cause) {
      if (!(cause instanceof McpError) || cause.failure !== 'session_lost') throw cause
      await this.#connection?.guard.end()
      return await this.#listed()
    }
  }

  async #listed(): Promise<McpListing> {
    const { client, guard } = await this.connected()
    if (!client.getServerCapabilities()?.tools) return { tools: [], isCut: false }
    const bounds = this.#bounds()
    guard.begin()
    const tools: unknown[] = []
    let cursor: unknown
    for (let page = 0; page < sessionLimits.pages; page++) {
      const params = typeof cursor === 'string' ? { cursor } : {}
      const result = await client
        .request({ method: 'tools/list', params }, anything, this.#asked(bounds))
        .catch((cause) => {
          throw beforeCalls(failureOf(cause, guard, bounds))
        })
      if (!Array.isArray(result.tools))
        throw new McpError('broken', 'the server did not answer a list of tools')
      tools.push(...result.tools.slice(0, MOST_TOOLS + 1 - tools.length))
      cursor = result.nextCursor
      if (tools.length > MOST_TOOLS) return { tools: tools.slice(0, MOST_TOOLS), isCut: true }
      if (typeof cursor !== 'string' || cursor === '' || cursor.length > sessionLimits.cursorLength)
        return { tools, isCut: false }
    }
    return { tools, isCut: true }
  }

  async call(
    name: string,
    args: Record<string, unknown>,
    { idempotencyKey, signal }: McpCall,
  ): Promise<ForeignAnswer> {
    const { client, guard } = await this.connected()
    const bounds = this.#bounds(signal)
    if (bounds.stopped.aborted)
      throw new McpError('stopped', 'the call was stopped before it began')
    guard.begin()
    const params = { name, arguments: args, _meta: { 'tendril/idempotency-key': idempotencyKey } }
    try {
      // `callTool` is not used, because it may send a call again and runs the servers' schemas.
      const result = await client.request(
        { method: 'tools/call', params },
        anything,
        this.#asked(bounds),
      )
      return answerOf(result) ?? wrong()
    } catch (cause) {
      if (cause instanceof ProtocolError)
        return {
          text: cleanText(`Error ${cause.code}: ${cause.message}`, sessionLimits.errorLength),
          isError: true,
        }
      const failure = failureOf(cause, guard, bounds)
      if (failure.failure === 'session_lost') await guard.end()
      throw failure
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.options.signal.removeEventListener('abort', this.#stop)
    await this.#connection?.guard.end()
    this.options.release()
  }
}

const wrong = (): never => {
  throw new McpError('broken', 'the answer is no result of a tool', 'unknown')
}

export const openMcpSession = async (options: ClientSessionOptions): Promise<McpClientSession> => {
  const session = new Session(options)
  try {
    await session.connected()
    return session
  } catch (cause) {
    await session.close()
    throw cause
  }
}
