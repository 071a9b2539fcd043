/** MCP servers that workspaces have connected. */
import type { McpServer } from '#domain/agent/mcp/server'
import { assignments } from '../engine/assign.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'

const columns = (
  sql: Sql,
): Fragment => sql`s.id, s.name, s.transport, s.url, s.command, s.args, s.header_names, s.env_names,
  s.tool_prefix, s.enabled, s.metadata,
  s.status, s.last_error, s.failures, s.looked_at, s.used_at, s.created_at, s.updated_at`

const times = { looked_at: true, used_at: true, created_at: true, updated_at: true } as const

export const mcpServerPart = (id: string) =>
  one<McpServer>(times, (sql) => sql`select ${columns(sql)} from mcp_server s where s.id = ${id}`)

/** What other servers must not collide with. A workspace has a few. */
export const mcpPrefixes = many<Pick<McpServer, 'id' | 'tool_prefix'>>(
  {},
  (sql) => sql`select id, tool_prefix from mcp_server limit 100`,
)

export const listMcpServers =
  ({ limit, after }: Page): Query<McpServer> =>
  (sql) =>
    sql`select ${columns(sql)} from mcp_server s where true
      ${after ? sql`and s.id < ${after}` : sql``} order by s.id desc limit ${limit + 1}`

/** Sealed values; undefined: as they are. */
export interface SealedSecrets {
  headers?: Buffer | null
  env?: Buffer | null
}

/** What they are sealed for. */
export const mcpSecretRow = (id: string, column: 'headers' | 'env'): string =>
  `mcp_server/${id}/${column}`

/** In base64. */
export const mcpSecretsPart = (id: string) =>
  one<{ headers: string | null; env: string | null }>(
    {},
    (sql) =>
      sql`select encode(headers, 'base64') as headers, encode(env, 'base64') as env from mcp_server
        where id = ${id}`,
  )

const json = (sql: Sql, { args, header_names, env_names, metadata }: McpServer) => ({
  args: sql.json(args),
  header_names: sql.json(header_names),
  env_names: sql.json(env_names),
  metadata: sql.json(metadata as never),
})

export const insertMcpServer =
  (server: McpServer, sealed: SealedSecrets): Query =>
  (sql) =>
    sql`insert into mcp_server ${sql({ ...server, ...json(sql, server), ...sealed })}`

export const saveMcpServer =
  (server: McpServer, sealed: SealedSecrets = {}): Query =>
  (sql) => {
    const { id, created_at: _, ...rest } = server
    return sql`update mcp_server set
      ${assignments(sql, { ...rest, ...json(sql, server), ...sealed })} where id = ${id}`
  }

/** Its tools and their rules go with it. */
export const deleteMcpServer =
  (id: string): Query =>
  (sql) =>
    sql`delete from mcp_server where id = ${id}`

/** One of its tools was called, or decided about. */
export const useMcpServer =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update mcp_server set used_at = ${now} where id = ${id}`
