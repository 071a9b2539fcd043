/**
 * Sessions with the MCP servers of workspaces, for the lane that lists their tools and for calls of
 * these tools.
 */

import type { Place } from '#domain/agent/mcp/config'
import { secretsIn } from '#domain/agent/mcp/secrets'
import type { McpServer as Configured } from '#domain/agent/mcp/server'
import type { FairLimit } from '#kernel/fair-limit'
import type { Sealer } from '#kernel/sealer'
import type { McpClient, McpClientSession, McpConnection } from '#port/mcp-client/client'
import { McpError } from '#port/mcp-client/client'
import { mcpSecretRow } from '#store/agent/mcp-servers'

export interface McpSessions {
  client: McpClient
  sealer: Sealer
  /** Sessions of this process, granted to workspaces round-robin. */
  open: FairLimit
}

/** A server with its sealed values, in base64. */
export interface SealedServer {
  tenantId: string
  server: Pick<Configured, 'id' | 'transport' | 'url' | 'command' | 'args'>
  sealed: { headers: string | null; env: string | null }
}

export interface OpenMcpSession {
  session: McpClientSession
  /** Values to be removed from everything that the server says. */
  secrets: string[]
}

const openSealed = (
  { sealer }: McpSessions,
  { server: { id }, sealed }: SealedServer,
  column: 'headers' | 'env',
): Record<string, string> => {
  const bytes = sealed[column]
  return bytes === null
    ? {}
    : JSON.parse(sealer.open(Buffer.from(bytes, 'base64'), mcpSecretRow(id, column)))
}

const configOf = (sessions: McpSessions, sealed: SealedServer): McpConnection => {
  const { transport, url, command, args } = sealed.server
  if (transport === 'stdio')
    return { transport, command: command ?? '', args, env: openSealed(sessions, sealed, 'env') }
  return {
    transport: 'streamable_http',
    url: url ?? '',
    headers: openSealed(sessions, sealed, 'headers'),
  }
}

/** The configuration without secret values, to check it. */
export const placeConfig = ({ transport, url, command, args, env_names }: Place): McpConnection =>
  transport === 'stdio'
    ? {
        transport,
        command: command ?? '',
        args,
        env: Object.fromEntries(env_names.map((name) => [name, ''])),
      }
    : { transport: 'streamable_http', url: url ?? '', headers: {} }

/**
 * A place among the process's sessions. Throws `McpError` (not done) if none becomes free in time.
 */
const takePlace = async ({ open }: McpSessions, tenantId: string): Promise<void> => {
  try {
    await open.enter(tenantId)
  } catch (cause) {
    throw new McpError(
      'refused',
      'too many calls of MCP servers wait in this process; try again later',
      'not_done',
      { cause },
    )
  }
}

/** Throws `McpError`. The session ends when `use` returns. */
export const useMcpSession = async <T>(
  sessions: McpSessions,
  sealed: SealedServer,
  signal: AbortSignal,
  use: (session: OpenMcpSession) => Promise<T>,
): Promise<T> => {
  const config = configOf(sessions, sealed)
  await takePlace(sessions, sealed.tenantId)
  try {
    const session = await sessions.client.open(config, { signal, tenantId: sealed.tenantId })
    try {
      return await use({ session, secrets: secretsIn(config) })
    } finally {
      await session.close()
    }
  } finally {
    sessions.open.leave(sealed.tenantId)
  }
}
