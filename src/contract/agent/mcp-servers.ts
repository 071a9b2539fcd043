import { Type as T } from '@sinclair/typebox'
import { nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { mcpServerRecord, transports } from '../records/agent/mcp-server.ts'
import { mcpToolRecord } from '../records/agent/mcp-tool.ts'
import { Id, NOT_BLANK, nullable, oneOf, record } from '../shapes.ts'
import { InFlight } from '../shared-records.ts'

const Values = (description: string, examples: Record<string, string>[]) =>
  T.Record(T.String({ minLength: 1, maxLength: 100 }), T.String({ maxLength: 8_192 }), {
    maxProperties: 30,
    description,
    examples,
  })

const config = {
  transport: oneOf(transports, {
    description:
      'Default: streamable_http with a url, else stdio. What is for the other one is left out.',
  }),
  url: T.String({
    minLength: 1,
    maxLength: 2_048,
    format: 'uri',
    examples: ['https://mcp.example.com/mcp'],
    description: 'Of streamable_http: a public https URL, without user name or password.',
  }),
  command: T.String({
    minLength: 1,
    maxLength: 1_000,
    examples: ['mcp-server-time'],
    description: 'Of stdio: a command that the operator allows (MCP_STDIO).',
  }),
  args: T.Array(T.String({ maxLength: 1_000 }), {
    maxItems: 50,
    description: 'Of stdio: exactly the arguments that the operator allows.',
  }),
  headers: Values('Of streamable_http. The values are never shown again.', [
    { Authorization: 'Bearer sk-1' },
  ]),
  env: Values('Of stdio: variables that the operator allows. The values are never shown again.', [
    {},
  ]),
  toolPrefix: T.String({
    minLength: 1,
    maxLength: 32,
    pattern: '^[a-z][a-z0-9_]*$',
    examples: ['acme'],
    description: 'With what the names of its tools begin. Default: made of the name.',
  }),
  enabled: T.Boolean({
    description: 'Whether it is asked, and its tools are offered to the agent.',
  }),
  metadata: T.Record(T.String(), T.Unknown(), {
    description: 'Yours, and shown to no model. At most 8,192 characters as JSON.',
    examples: [{}],
  }),
}
const name = T.String({
  minLength: 1,
  maxLength: 80,
  pattern: NOT_BLANK,
  format: 'name',
  examples: ['Acme'],
})

const optional = {
  transport: T.Optional(config.transport),
  url: T.Optional(config.url),
  command: T.Optional(config.command),
  args: T.Optional(config.args),
  headers: T.Optional(config.headers),
  env: T.Optional(config.env),
  toolPrefix: T.Optional(config.toolPrefix),
  enabled: T.Optional(config.enabled),
  metadata: T.Optional(config.metadata),
}

const McpServer = mcpServerRecord.schema
const McpTool = mcpToolRecord.schema

const OneServer = record({ server: McpServer })
const deciding = { ...use, roles: ['approver'] } as const

export const mcpServers = {
  list: op.query(
    'GET /api/v1/mcp/servers',
    'List the MCP servers of the workspace, newest first, without secrets.',
    { input: shortPage, output: record({ servers: T.Array(McpServer), ...nextCursor }) },
    use,
  ),
  get: op.query(
    'GET /api/v1/mcp/servers/:id',
    'Get an MCP server with its tools, what people have decided about each, and what has changed since.',
    { input: { id: Id }, output: record({ server: McpServer, tools: T.Array(McpTool) }) },
    { ...use, errors: ['not_found'] },
  ),
  create: op.command(
    'POST /api/v1/mcp/servers',
    'Connect an MCP server, so that the agent can use tools of it. Its tools are listed at once, and none is offered before a person has set its rule. One that cannot be asked as it is configured is kept disabled, with the reason.',
    { input: { name, ...optional }, output: OneServer },
    { ...deciding, status: 201 },
  ),
  update: op.command(
    'PATCH /api/v1/mcp/servers/:id',
    'Change an MCP server. Omitted fields keep their value. Another origin, command or arguments drop headers and variables that are not given anew, and all rules and approvals of its tools. Of one that is disabled then, or is another one, nothing further is asked: calls that are on their way are listed in in_flight, and take their outcome.',
    {
      input: { id: Id, name: T.Optional(name), ...optional },
      output: record({ server: McpServer, in_flight: InFlight }),
    },
    { ...deciding, errors: ['not_found'], recalls: true, repeatable: true },
  ),
  refresh: op.command(
    'POST /api/v1/mcp/servers/:id/refresh',
    'List the tools of an MCP server again, now. The answer comes before; get the server to see what was found.',
    { input: { id: Id }, output: OneServer },
    { ...deciding, errors: ['not_found', 'conflict'] },
  ),
  remove: op.command(
    'DELETE /api/v1/mcp/servers/:id',
    'Disconnect an MCP server, with the rules of its tools. Nothing more is sent to it: calls that are on their way are listed in in_flight, and take their outcome. An unknown id is not an error.',
    {
      input: {
        id: T.String({
          minLength: 1,
          maxLength: 200,
          examples: ['018f47a0-0000-7000-8000-000000000000'],
        }),
      },
      output: record({ server: nullable(McpServer), in_flight: InFlight }),
    },
    { ...deciding, recalls: true, destructive: true },
  ),
}
