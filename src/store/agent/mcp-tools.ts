/** Tools of MCP servers as they were when last looked at. */
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import {
  type McpTool,
  MOST_SERVED_TOOLS,
  type RuledTool,
  type ServedTool,
} from '#domain/agent/mcp/tool'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { writing } from '../engine/sql.ts'

const table = tableOf(mcpToolRecord)

/** The tools of a server, sorted by name. */
export const mcpToolsOf = (serverId: string) =>
  many<McpTool>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 't')} from mcp_tool t where t.server_id = ${serverId} order by t.name
        limit 1000`,
  )

/** The tools of a server, with what people have decided about each. */
export const ruledToolsOf = (serverId: string) =>
  many<RuledTool>(
    table.times,
    (
      sql,
    ) => sql`select ${table.columns(sql, 't')}, r.decision, r.definition_hash, r.definition from mcp_tool t
      left join agent_tool_rule r on r.tool_name = t.name where t.server_id = ${serverId}
        order by t.name limit 1000`,
  )

export const insertMcpTools = (tools: readonly McpTool[]): Query => table.insertAll(tools)

export const deleteMcpTools =
  (serverId: string): Query =>
  (sql) =>
    sql`delete from mcp_tool where server_id = ${serverId}`

/** Deletes the rules of tools that the server no longer has. */
export const deleteRulesBeside = (serverId: string, names: readonly string[]): Query =>
  writing(
    { table: 'agent_tool_rule', rows: 'some' },
    (sql) =>
      sql`delete from agent_tool_rule where server_id = ${serverId}
        and tool_name <> all(${[...names]}::text[])`,
  )

/** Deletes all rules of a server, because it is now another program. */
export const deleteRulesOfServer = (serverId: string): Query =>
  writing(
    { table: 'agent_tool_rule', rows: 'some' },
    (sql) => sql`delete from agent_tool_rule where server_id = ${serverId}`,
  )

const servedColumns = (
  sql: Sql,
): Fragment => sql`t.name, t.own_name, t.hash, t.server_id, s.name as server_name,
    json_build_object('transport', s.transport, 'url', s.url, 'command', s.command, 'args', s.args)
      as place`

/**
 * What the agent may call: tools of enabled servers whose rule was set on the present definition.
 */
const selectServed = (sql: Sql, whole: Fragment): Fragment => sql`select ${servedColumns(sql)},
    case when ${whole} then t.description else '' end as description,
    case when ${whole} then t.parameters else '{}' end as parameters
  from agent_tool_rule r join mcp_tool t on t.name = r.tool_name and t.hash = r.definition_hash
    join mcp_server s on s.id = t.server_id
  where r.server_id is not null and r.decision in ('allow', 'ask') and s.enabled`

export const servedTools = (names: readonly string[]) =>
  many<ServedTool>(
    {},
    (sql) => sql`${selectServed(sql, sql`true`)} and t.name = any(${[...names]}::text[])`,
  )

/**
 * What a job is offered: tools of servers that answered when last looked at. Tools that the job has
 * asked for come with their whole definition.
 */
export const offeredMcpTools = (wanted: readonly string[]) =>
  many<ServedTool>(
    {},
    (sql) =>
      sql`${selectServed(sql, sql`t.name = any(${[...wanted]}::text[])`)} and s.status = 'ready'
        order by t.name limit ${MOST_SERVED_TOOLS}`,
  )

/** Servers whose tools the agent would have if they answered. */
export const failingMcpServers = many<{ name: string }>(
  {},
  (sql) => sql`select s.name from mcp_server s where s.enabled and s.status = 'failing'
    and exists (select from agent_tool_rule r where r.server_id = s.id
      and r.decision in ('allow', 'ask')) order by s.name limit 20`,
)

/** How many rules there are for tools of servers. */
export const servedRuleCount = sure(
  one<{ count: number }>(
    {},
    (sql) => sql`select count(*)::int as count from agent_tool_rule where server_id is not null`,
  ),
)

/** A tool, whatever its rule. */
export const mcpToolNamed = (name: string) =>
  one<ServedTool>(
    {},
    (sql) => sql`select ${servedColumns(sql)}, t.description, t.parameters from mcp_tool t
      join mcp_server s on s.id = t.server_id
      where t.name = ${name}`,
  )

/** The tool that an approval asks about, if it is a server's and has not changed since. */
export const servedToolOfApproval = (id: string) =>
  one<ServedTool>(
    {},
    (sql) =>
      sql`${selectServed(sql, sql`true`)} and t.name = (select tool_name from agent_approval
        where id = ${id})`,
  )

/** Which of these names belong to tools of servers. */
export const knownMcpTools = (names: readonly string[]) =>
  many<{ name: string }>(
    {},
    (sql) => sql`select name from mcp_tool where name = any(${[...names]}::text[])`,
  )

/** Whether a call of one of the server's tools is running. A server gets one call at a time. */
export const isServerBusy = (serverId: string, since: Date) =>
  sure(
    one<{ busy: boolean }>(
      {},
      (sql) => sql`select exists (select from mcp_tool t join agent_step s on s.name = t.name
        where t.server_id = ${serverId} and s.kind = 'tool' and s.state = 'running'
          and s.started_at > ${since}) as busy`,
    ),
  )

/** The server of a tool, with its sealed values in base64. */
export const serverOfTool = (name: string) =>
  one<{
    id: string
    hash: string
    place: ServedTool['place']
    headers: string | null
    env: string | null
  }>(
    {},
    (sql) => sql`select s.id, t.hash,
        json_build_object('transport', s.transport, 'url', s.url, 'command', s.command, 'args',
          s.args) as place,
        encode(s.headers, 'base64') as headers, encode(s.env, 'base64') as env
      from mcp_tool t join mcp_server s on s.id = t.server_id where t.name = ${name} and s.enabled`,
  )
