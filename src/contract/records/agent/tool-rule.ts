/** What people have decided about a tool of the agent, or about a host that it may read. */
import { Type as T } from '@sinclair/typebox'
import { oneOf, record } from '../../shapes.ts'
import { declare } from '../record.ts'

export const ruleDecisions = ['allow', 'ask', 'deny'] as const

export const toolRuleRecord = declare(
  'agent_tool_rule',
  { hidden: 'tools are shown with their rules' },
  {
    id: { type: 'uuid' },
    tool_name: { type: 'text' },
    decision: { type: 'text', of: oneOf(ruleDecisions) },
    // The hash of the tool definition that the rule applies to. Null: any definition.
    definition_hash: {
      type: 'text',
      null: true,
      unexported: 'binds a rule to the definition of a tool',
    },
    // For a tool of an MCP server: the server, and the definition that the person has read.
    server_id: { type: 'uuid', null: true },
    definition: {
      type: 'jsonb',
      of: record({ description: T.String(), parameters: T.Record(T.String(), T.Unknown()) }),
      null: true,
    },
    set_by: { type: 'uuid' },
    created_at: { type: 'timestamp with time zone' },
    updated_at: { type: 'timestamp with time zone' },
  },
)
