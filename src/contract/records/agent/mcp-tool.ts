/** A tool of an MCP server as it was when last looked at. */
import { Type as T } from '@sinclair/typebox'
import { markUntrusted, nullable, oneOf, record, untrustedName } from '../../shapes.ts'
import { declare } from '../record.ts'
import { ruleDecisions } from './tool-rule.ts'

const Change = record(
  {
    field: oneOf(['description', 'parameters']),
    parts: markUntrusted(
      T.Array(record({ kind: oneOf(['same', 'added', 'removed']), text: T.String() }), {
        description: 'The text that the rule was set on and the present one, word by word.',
      }),
    ),
  },
  { title: 'McpToolChange' },
)

export const mcpToolRecord = declare(
  'mcp_tool',
  { title: 'McpTool', case: 'camelCase' },
  {
    id: { type: 'uuid', hidden: 'it is named by its name' },
    server_id: { type: 'uuid', hidden: 'it is shown with its server' },
    // With its server's prefix.
    name: { type: 'text', shown: T.String({ description: 'As rules and the agent name it.' }) },
    own_name: {
      type: 'text',
      shown: untrustedName(T.String({ description: 'As the server names it.' })),
    },
    title: { type: 'text', shown: markUntrusted(T.String()) },
    description: {
      type: 'text',
      shown: markUntrusted(
        T.String({
          description:
            'In the words of the server, which the agent reads. Read it before you set a rule.',
        }),
      ),
    },
    parameters: {
      type: 'jsonb',
      shown: markUntrusted(
        T.Record(T.String(), T.Unknown(), { description: 'JSON Schema of its arguments.' }),
      ),
    },
    read_only_hint: {
      type: 'boolean',
      shown: T.Boolean({ description: 'What the server says of the tool. It decides nothing.' }),
    },
    hash: {
      type: 'text',
      shown: T.String({
        description: 'Of this definition and of where the server is. A rule holds for it alone.',
      }),
      unexported: 'follows from the definition, as the server wrote it',
    },
    state: {
      shown: oneOf(['new', 'ruled', 'changed'], {
        description: 'Only what is ruled is offered. changed: its rule was for another definition.',
      }),
      from: 'view',
    },
    rule: { shown: nullable(oneOf(ruleDecisions)), from: 'view' },
    changes: {
      shown: T.Array(Change, { description: 'What has changed since its rule was set.' }),
      from: 'view',
    },
    created_at: { type: 'timestamp with time zone', hidden: 'of use to the service alone' },
    updated_at: { type: 'timestamp with time zone', hidden: 'of use to the service alone' },
  },
)
