/** MCP servers that workspaces have connected. */

import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import type { McpServer } from '#domain/agent/mcp/server'
import type { SealedRow } from '#kernel/sealer'
import type { Query } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(mcpServerRecord)

export const mcpServerPart = (id: string) =>
  one<McpServer>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 's')} from mcp_server s where s.id = ${id}`,
  )

/** Prefixes that other servers must not use. A workspace has only a few. */
export const mcpPrefixes = many<Pick<McpServer, 'id' | 'tool_prefix'>>(
  {},
  (sql) => sql`select id, tool_prefix from mcp_server limit 100`,
)

export const listMcpServers =
  ({ limit, after }: Page): Query<McpServer> =>
  (sql) =>
    sql`select ${table.columns(sql, 's')} from mcp_server s where true
      ${after ? sql`and s.id < ${after}` : sql``} order by s.id desc limit ${limit + 1}`

/** Sealed values. Undefined leaves a value as it is. */
export interface SealedSecrets {
  headers?: Buffer | null
  env?: Buffer | null
}

/** The row and column that they are sealed for. */
export const mcpSecretRow = (id: string, column: 'headers' | 'env'): SealedRow =>
  `mcp_server/${id}/${column}`

/** The sealed values in base64. */
export const mcpSecretsPart = (id: string) =>
  one<{ headers: string | null; env: string | null }>(
    {},
    (sql) =>
      sql`select encode(headers, 'base64') as headers, encode(env, 'base64') as env from mcp_server
        where id = ${id}`,
  )

export const insertMcpServer = (server: McpServer, sealed: SealedSecrets): Query =>
  table.insert(server, sealed)

export const saveMcpServer = (server: McpServer, sealed: SealedSecrets = {}): Query =>
  table.save(server, sealed)

/** Its tools and their rules are deleted with it. */
export const deleteMcpServer =
  (id: string): Query =>
  (sql) =>
    sql`delete from mcp_server where id = ${id}`

/** Notes that one of its tools was called, or decided about. */
export const useMcpServer =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update mcp_server set used_at = ${now} where id = ${id}`
