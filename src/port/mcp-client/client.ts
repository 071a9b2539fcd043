/**
 * A client of servers of the Model Context Protocol that people of a workspace have named. It
 * trusts nothing that they say.
 */

import type { ForeignAnswer } from '#domain/agent/mcp/foreign-result'

export type McpConnection =
  /** The headers may hold secrets. They go to the URL's own origin alone. */
  | { transport: 'streamable_http'; url: string; headers: Record<string, string> }
  /** A program on this machine, which the operator allows by MCP_STDIO. */
  | { transport: 'stdio'; command: string; args: readonly string[]; env: Record<string, string> }

export type McpFailure =
  /** By our own rules: nothing was called. */
  | 'refused'
  /** No connection, or the program did not start. */
  | 'unreachable'
  /** The server wants credentials, or other ones. */
  | 'unauthorized'
  /** The server no longer knows the session. */
  | 'session_lost'
  /** The server answered with another HTTP status than those of success. */
  | 'status'
  /** The server speaks no version of the protocol that we do, or has no tools. */
  | 'unsupported'
  | 'too_large'
  /** More messages or requests than an honest server needs. */
  | 'flood'
  | 'timeout'
  /** The connection or the program ended before the answer. */
  | 'closed'
  /** The answer is none that the protocol knows. */
  | 'broken'
  /** The server answered a question of ours with an error. */
  | 'server_error'
  | 'stopped'

/**
 * No answer. The message is ours: it holds no header, no secret and no word of the server. Of a
 * call, `outcome` says whether the server provably did nothing: it was not sent, or the server
 * itself says that it turned it away.
 */
export class McpError extends Error {
  override readonly name = 'McpError'
  constructor(
    readonly failure: McpFailure,
    message: string,
    readonly outcome: 'not_done' | 'unknown' = 'not_done',
    options: ErrorOptions = {},
  ) {
    super(message, options)
  }
}

export interface McpListing {
  /** Unchecked: see `foreignTools`. */
  tools: unknown[]
  /** There are more, which were not read. */
  isCut: boolean
}

export interface McpCall {
  /** Sent along as `tendril/idempotency-key`: a server that knows it does nothing twice. */
  idempotencyKey: string
  signal: AbortSignal
}

/** A session with one server. Not to be shared. */
export interface McpClientSession {
  /** As it calls itself, cleaned; the version of the protocol that is spoken. */
  readonly info: { name: string; version: string; protocol: string }
  /** The server has said that its tools have changed. */
  readonly toolsChanged: boolean
  /** Throws `McpError`. */
  list(): Promise<McpListing>
  /**
   * Sends it at most once, whatever happens. An error that the server answers is an answer. Throws
   * `McpError`.
   */
  call(name: string, args: Record<string, unknown>, call: McpCall): Promise<ForeignAnswer>
  /** Ends the session, and the program. Never throws. */
  close(): Promise<void>
}

export interface McpClient {
  /** Throws `McpError` (refused) if the configuration alone rules a connection out. */
  check(config: McpConnection): void
  /**
   * Connects and agrees on a version; `signal` ends the session whenever it aborts. Throws
   * `McpError`.
   */
  open(
    config: McpConnection,
    options: { signal: AbortSignal; tenantId: string },
  ): Promise<McpClientSession>
}

/** Of a listing with all its pages, and of each call. */
export const MOST_TOOLS = 200
export const MOST_BYTES = 1_048_576
export const DEADLINE_MS = 60_000
