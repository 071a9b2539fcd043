/** What people have decided about tools of the agent. */
import { HOST_RULE } from '#domain/agent/job/fetching'
import type { RuleDecision } from '#domain/agent/job/verdict'
import type { RuledDefinition } from '#domain/agent/mcp/tool'
import type { Query } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'

export interface ToolRule {
  tool_name: string
  decision: RuleDecision
}

/** With the definition that it holds for; null: any. */
export interface BoundRule extends ToolRule {
  definition_hash: string | null
}

/** Tools that a rule of the workspace forbids. */
export const deniedTools = many<{ tool_name: string }>(
  {},
  (sql) => sql`select tool_name from agent_tool_rule where decision = 'deny' limit 200`,
)

/** Rules are for tools, of which there are fewer, and for a bounded number of hosts. */
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

export interface NewRule extends ToolRule {
  id: string
  /** Of the tool that it is about, if it holds for that definition alone. */
  definition_hash: string | null
  set_by: string
  now: Date
  /** Of a tool of an MCP server: the server, and what the person has read. */
  server_id?: string
  definition?: RuledDefinition
}

export const putToolRule =
  ({ now, server_id = undefined, definition, ...rule }: NewRule): Query =>
  (sql) => {
    const bound = {
      server_id: server_id ?? null,
      definition: definition ? sql.json(definition as never) : null,
    }
    return sql`insert into agent_tool_rule
      ${sql({ ...rule, ...bound, created_at: now, updated_at: now })}
      on conflict (tenant_id, tool_name) do update set decision = excluded.decision,
        definition_hash = excluded.definition_hash,
        server_id = excluded.server_id, definition = excluded.definition,
          set_by = excluded.set_by, updated_at = excluded.updated_at`
  }

export const deleteToolRule =
  (name: string): Query =>
  (sql) =>
    sql`delete from agent_tool_rule where tool_name = ${name}`
