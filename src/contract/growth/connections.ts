import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { connectionRecord } from '../records/growth/connection.ts'
import { Id, NextCursor, nameForModels, page, record } from '../shapes.ts'
import { ConnectionSchema, InFlight, NetworkLimitsSchema } from '../shared-records.ts'

export const connection = {
  get: op.query(
    'GET /api/v1/growth/connection',
    'Read the connection. Shows whether a network account is connected, the default one, and the daily read budget.',
    { input: {}, output: record({ connection: ConnectionSchema }) },
    { tool: 'growth_connection_status', agent: 'read' },
  ),
  disconnect: op.command(
    'DELETE /api/v1/growth/connection',
    'Disconnect the default network account. No other account becomes the default. Scheduled posts stay, and return to approved if nothing is connected when they fall due. What is on its way already is listed in in_flight, and takes its outcome.',
    { input: {}, output: record({ connection: ConnectionSchema, in_flight: InFlight }) },
    { errors: ['x_not_connected'], urgent: true, exempt: ['rates', 'answers'], destructive: true },
  ),
}

export const connections = {
  list: op.query(
    'GET /api/v1/growth/connections',
    'List the connected accounts, and those whose network asks for a new sign-in. New approvals use the default one.',
    {
      input: page,
      output: record({
        connections: nameForModels('account', T.Array(connectionRecord.schema)),
        networks: T.Array(record({ network: T.String(), limits: NetworkLimitsSchema }), {
          description: 'What the networks of these accounts accept.',
        }),
        next_cursor: NextCursor,
      }),
    },
    { tool: 'growth_list_accounts', agent: 'read' },
  ),
  setDefault: op.command(
    'POST /api/v1/growth/connections/:id/default',
    'Make a connected account the default for new approvals. Items approved for another account keep it.',
    { input: { id: Id }, output: record({ connection: ConnectionSchema }) },
    {
      tool: 'growth_set_default_account',
      agent: 'commit',
      errors: ['not_found', 'conflict'],
      repeatable: true,
    },
  ),
}
