/** What the process needs to call the MCP servers of workspaces. */
import type { Config } from '#config/config'
import type { McpSessions } from '#decisions/agent/mcp-session'
import type { StdioProgram } from '#domain/agent/mcp/config'
import { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Sealer } from '#kernel/sealer'
import type { Egress } from '#port/egress/egress'
import type { McpClient } from '#port/mcp-client/client'
import { createMcpClient } from '#port/mcp-client/open'
import { version } from '../../package.json'

/**
 * How many sessions a process has open at once, granted to workspaces in turn. As many as a
 * workspace can run at once may wait.
 */
const SESSIONS = { name: 'MCP session', total: 64, bound: 16, withinMs: 20_000 }

interface SessionParts {
  egress: Egress
  sealer: Sealer
  log: Log
  /** Replaces the usual client. */
  client: McpClient | undefined
}

export const mcpSessionsOf = (
  { mcpStdio: programs, home }: Config,
  {
    egress,
    sealer,
    log,
    client = createMcpClient({ egress, programs, home, log, version }),
  }: SessionParts,
): McpSessions & { programs: readonly StdioProgram[] } => ({
  client,
  sealer,
  programs,
  open: new FairLimit(SESSIONS),
})
