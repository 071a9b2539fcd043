/**
 * A client for MCP servers (Model Context Protocol) that people of a workspace have named. It
 * trusts nothing that the servers say.
 */

import type { ForeignAnswer } from '#domain/agent/mcp/foreign-result'

export type McpConnection =
  /** The headers may hold secrets. They are sent only to the URL's own origin. */
  | { transport: 'streamable_http'; url: string; headers: Record<string, string> }
  /** A program on this machine that the operator allows by MCP_STDIO. */
  | { transport: 'stdio'; command: string; args: readonly string[]; env: Record<string, string> }

export type McpFailure =
  /** Our own rules refused it, and nothing was called. */
  | 'refused'
  /** There was no connection, or the program did not start. */
  | 'unreachable'
  /** The server requires credentials, or different ones. */
  | 'unauthorized'
  /** The server no longer knows the session. */
  | 'session_lost'
  /** The server answered with an HTTP status other than success. */
  | 'status'
  /** The server has no protocol version in common with us, or has no tools. */
  | 'unsupported'
  | 'too_large'
  /** The server sent more messages or requests than an honest one needs. */
  | 'flood'
  | 'timeout'
  /** The connection or the program ended before the answer. */
  | 'closed'
  /** The answer does not follow the protocol. */
  | 'broken'
  /** The server answered a request of ours with an error. */
  | 'server_error'
  | 'stopped'

/**
 * There is no answer. The message is ours and contains no header, no secret and no word of the
 * server. For a call, `outcome` says whether the server provably did nothing, because the call was
 * not sent or because the server itself says that it rejected it.
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
  /** Not checked yet; see `foreignTools`. */
  tools: unknown[]
  /** Whether there are more tools, which were not read. */
  isCut: boolean
}

export interface McpCall {
  /** Sent as `tendril/idempotency-key`. A server that knows it does nothing twice. */
  idempotencyKey: string
  signal: AbortSignal
}

/** A session with one server. It must not be shared. */
export interface McpClientSession {
  /** The server's cleaned name and version, and the protocol version that is spoken. */
  readonly info: { name: string; version: string; protocol: string }
  /** The server has said that its tools have changed. */
  readonly toolsChanged: boolean
  /** Throws `McpError`. */
  list(): Promise<McpListing>
  /**
   * Sends the call at most once, whatever happens. An error that the server returns counts as an
   * answer. Throws `McpError`.
   */
  call(name: string, args: Record<string, unknown>, call: McpCall): Promise<ForeignAnswer>
  /** Ends the session and the program. Never throws. */
  close(): Promise<void>
}

export interface McpClient {
  /** Throws `McpError` (refused) if the configuration alone rules out a connection. */
  check(config: McpConnection): void
  /**
   * Connects and agrees on a version. `signal` ends the session whenever it aborts. Throws
   * `McpError`.
   */
  open(
    config: McpConnection,
    options: { signal: AbortSignal; tenantId: string },
  ): Promise<McpClientSession>
}

/** The most tools in a listing, all its pages together. */
export const MOST_TOOLS = 200
export const MOST_BYTES = 1_048_576
export const DEADLINE_MS = 60_000
