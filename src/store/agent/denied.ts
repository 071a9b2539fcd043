import { many } from '../engine/load.ts'

/** Tools that a rule of the workspace forbids. */
export const deniedTools = many<{ tool_name: string }>(
  {},
  (sql) => sql`select tool_name from agent_tool_rule where decision = 'deny' limit 200`,
)

/** All rules for tools. */
export const toolDecisions = many<{ tool_name: string; decision: 'allow' | 'ask' | 'deny' }>(
  {},
  (sql) => sql`select tool_name, decision from agent_tool_rule order by tool_name limit 200`,
)
