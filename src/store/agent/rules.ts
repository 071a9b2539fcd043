/** What people have decided about tools of the agent. */
import type { RuleDecision } from '#domain/agent/verdict'
import type { Query } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'

export interface ToolRule {
  tool_name: string
  decision: RuleDecision
}

/** Tools that a rule of the workspace forbids. */
export const deniedTools = many<{ tool_name: string }>(
  {},
  (sql) => sql`select tool_name from agent_tool_rule where decision = 'deny' limit 200`,
)

/** Rules are for tools, of which there are fewer, and for a bounded number of hosts. */
const MOST_RULES = 1_000

/** All rules for tools. */
export const toolDecisions = many<ToolRule>(
  {},
  (sql) => sql`select tool_name, decision from agent_tool_rule order by tool_name limit ${MOST_RULES}`,
)

export const toolRulePart = (name: string) =>
  one<ToolRule>({}, (sql) => sql`select tool_name, decision from agent_tool_rule where tool_name = ${name}`)

export interface NewRule extends ToolRule {
  id: string
  set_by: string
  now: Date
}

export const putToolRule =
  ({ now, ...rule }: NewRule): Query =>
  (sql) =>
    sql`insert into agent_tool_rule ${sql({ ...rule, created_at: now, updated_at: now })}
      on conflict (tenant_id, tool_name) do update set decision = excluded.decision, set_by = excluded.set_by, updated_at = excluded.updated_at`

export const deleteToolRule =
  (name: string): Query =>
  (sql) =>
    sql`delete from agent_tool_rule where tool_name = ${name}`
