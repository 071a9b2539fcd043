/** What people have decided about tools of the agent. */
import { toolRuleRecord } from '#contract/records/agent/tool-rule'
import type { RowOf } from '#contract/records/record'
import { HOST_RULE } from '#domain/agent/job/fetching'
import type { Query } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(toolRuleRecord)

type Row = RowOf<typeof toolRuleRecord>

export type ToolRule = Pick<Row, 'tool_name' | 'decision'>

/** With the hash of the definition that the rule applies to; null for any. */
export type BoundRule = Pick<Row, 'tool_name' | 'decision' | 'definition_hash'>

/** Tools that are forbidden by a rule of the workspace. */
export const deniedTools = many<{ tool_name: string }>(
  {},
  (sql) => sql`select tool_name from agent_tool_rule where decision = 'deny' limit 200`,
)

/** There is at most one rule for each tool, and for each of a bounded number of hosts. */
const MOST_RULES = 1_000

/** All rules for tools. */
export const toolDecisions = many<BoundRule>(
  {},
  (sql) =>
    sql`select tool_name, decision, definition_hash from agent_tool_rule order by tool_name
      limit ${MOST_RULES}`,
)

/** How many hosts people have allowed. */
export const hostRuleCount = sure(
  one<{ count: number }>(
    {},
    (sql) =>
      sql`select count(*)::int as count from agent_tool_rule
        where starts_with(tool_name, ${HOST_RULE}) and decision = 'allow'`,
  ),
)

/**
 * A rule for a tool of an MCP server includes the server and the definition that the person has
 * read.
 */
export type NewRule = Omit<Row, 'created_at' | 'updated_at' | 'server_id' | 'definition'> &
  Partial<Pick<Row, 'server_id' | 'definition'>> & { now: Date }

export const putToolRule = ({ now, ...rule }: NewRule): Query =>
  table.insert(
    { ...toolRuleRecord.blank, ...rule, created_at: now, updated_at: now },
    {},
    (sql) => sql`on conflict (tenant_id, tool_name) do update set decision = excluded.decision,
      definition_hash = excluded.definition_hash,
      server_id = excluded.server_id, definition = excluded.definition,
      set_by = excluded.set_by, updated_at = excluded.updated_at`,
  )

export const deleteToolRule =
  (name: string): Query =>
  (sql) =>
    sql`delete from agent_tool_rule where tool_name = ${name}`
