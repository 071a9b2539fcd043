import { Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { ruleDecisions } from '../records/agent/tool-rule.ts'
import { markUntrustedIf, nullable, oneOf, record } from '../shapes.ts'

const ofTool = {
  name: T.String(),
  title: T.String(),
  module: T.String(),
  class: oneOf(['read', 'draft', 'commit', 'safe', 'outside_read', 'outside_write'], {
    description:
      'commit: always asked of a person. draft: asked once the job has read untrusted text. safe: asked if the message that began the job can be forged.',
  }),
  readsForeignText: T.Boolean({
    description: 'Its answers may contain words of people outside the workspace.',
  }),
  rule: nullable(oneOf(ruleDecisions, { description: 'What a person has decided.' })),
  hosts: T.Optional(
    T.Array(T.String(), { description: 'Of fetch_url: hosts that people have allowed.' }),
  ),
  isAsked: T.Boolean({
    description:
      'Whether a person is asked before it runs, in a job that has read no untrusted text.',
  }),
}

const Tool = record(ofTool, { title: 'AgentTool' })

const DefinedTool = record(
  {
    ...ofTool,
    parameters: markUntrustedIf(
      { field: 'ofServer' },
      T.Record(T.String(), T.Unknown(), { description: 'JSON Schema of its arguments.' }),
    ),
    textField: nullable(
      T.String({ description: 'The argument that is the text which it sends or keeps.' }),
    ),
    ofServer: T.Boolean({ description: 'It belongs to an MCP server, whose words these are.' }),
  },
  { title: 'DefinedAgentTool' },
)

const hash = T.String({
  minLength: 64,
  maxLength: 64,
  description:
    'Of a tool of an MCP server, to allow or ask: the hash of the definition that you have read.',
})
const name = T.String({
  format: 'tool-name',
  description: 'The name of a tool, such as growth_create_batch.',
})

export const tools = {
  list: op.query(
    'GET /api/v1/agent/tools',
    'List the tools that the agent has when you ask it, and when it asks a person first.',
    { input: {}, output: record({ tools: T.Array(Tool) }) },
    use,
  ),
  get: op.query(
    'GET /api/v1/agent/tools/:name',
    'Get a tool with the schema of its arguments, such as that of a call which waits for a person.',
    { input: { name }, output: record({ tool: DefinedTool }) },
    { ...use, errors: ['not_found'] },
  ),
}

export const toolRules = {
  set: op.command(
    'PUT /api/v1/agent/tool-rules/:name',
    'Decide that a tool is always asked of a person, or never used. What publishes or approves is asked whatever the rule. A tool of an MCP server is offered once its rule is ask or allow, until it changes.',
    {
      input: {
        name,
        decision: oneOf(ruleDecisions, {
          description:
            'allow: as without a rule; of a tool of an MCP server: unasked, while the job has read no untrusted text.',
        }),
        hash: T.Optional(hash),
      },
      output: record({ tool: Tool }),
    },
    { scope: 'session', roles: ['approver'], errors: ['not_found', 'conflict'], repeatable: true },
  ),
  remove: op.command(
    'DELETE /api/v1/agent/tool-rules/:name',
    'Remove the rule of a tool, or of a host that fetch_url may read.',
    {
      input: {
        name: T.String({
          format: 'tool-rule',
          description: 'The name of a tool, or a host such as fetch_url:example.com.',
        }),
      },
      output: record({ tool: Tool }),
    },
    { scope: 'session', roles: ['approver'], errors: ['not_found'], repeatable: true },
  ),
}
