/** An MCP server that a workspace has connected. */
import { Type as T } from '@sinclair/typebox'
import { markUntrusted, nullable, oneOf, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const transports = ['streamable_http', 'stdio'] as const

const Names = T.Array(T.String(), { description: 'Their values are not shown.' })

export const mcpServerRecord = declare(
  'mcp_server',
  { title: 'McpServer', case: 'camelCase' },
  {
    id,
    name: { type: 'text', shown: T.String() },
    transport: { type: 'text', shown: nullable(oneOf(transports)) },
    url: {
      type: 'text',
      shown: nullable(T.String({ description: 'Values in its query are masked.' })),
      unexported: 'may hold a secret in its query',
    },
    command: { type: 'text', shown: nullable(T.String()) },
    args: { type: 'jsonb', shown: T.Array(T.String()) },
    header_names: { type: 'jsonb', shown: Names },
    env_names: { type: 'jsonb', shown: Names },
    tool_prefix: { type: 'text', shown: T.String() },
    enabled: { type: 'boolean', shown: T.Boolean() },
    metadata: { type: 'jsonb', shown: T.Record(T.String(), T.Unknown()) },
    status: {
      type: 'text',
      shown: oneOf(['new', 'ready', 'failing', 'refused'], {
        description:
          'new: not asked yet. failing: the last look came to nothing, and its tools are not offered. refused: it cannot be asked as it is configured.',
      }),
    },
    last_error: {
      type: 'text',
      shown: markUntrusted(nullable(T.String({ description: 'May hold words of the server.' }))),
    },
    failures: { type: 'integer', hidden: 'looks in a row that came to nothing' },
    looked_at: {
      type: 'timestamp with time zone',
      shown: nullable({ ...Time, description: 'When its tools were last listed.' }),
    },
    used_at: {
      type: 'timestamp with time zone',
      shown: nullable({
        ...Time,
        description:
          'When a tool was last called or decided about. It is looked at each hour for a week from then.',
      }),
    },
    ...times,
    headers: {
      type: 'bytea',
      null: true,
      hidden: 'sealed',
      from: 'elsewhere',
      unexported: 'secrets',
    },
    env: { type: 'bytea', null: true, hidden: 'sealed', from: 'elsewhere', unexported: 'secrets' },
  },
)
