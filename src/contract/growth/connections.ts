import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, page, record } from '../shapes.ts'
import { Account, Connection } from '../shared-records.ts'

export const connection = {
  get: op(
    'GET /api/v1/growth/connection',
    'Read the connection. Says whether a network account is connected, which one is the default, and what may still be read of the network today.',
    { input: {}, output: record({ connection: Connection }) },
    { tool: 'growth_connection_status' },
  ),
  disconnect: op(
    'DELETE /api/v1/growth/connection',
    'Disconnect the default network account; no other account takes its place by itself. What is scheduled stays, and comes back to approved if nothing is connected when it is due.',
    { input: {}, output: record({ connection: Connection }) },
    { errors: ['x_not_connected'], urgent: true, exempt: ['rates', 'answers'], destructive: true },
  ),
}

export const connections = {
  list: op(
    'GET /api/v1/growth/connections',
    'List the connected accounts. New approvals are bound to the default one.',
    { input: page, output: record({ connections: T.Array(Account), next_cursor: NextCursor }) },
    { tool: 'growth_list_accounts' },
  ),
  setDefault: op(
    'POST /api/v1/growth/connections/:id/default',
    'Make a connected account the default for new approvals. Items that are bound to another account stay with it.',
    { input: { id: Id }, output: record({ connection: Connection }) },
    { tool: 'growth_set_default_account', errors: ['not_found', 'conflict'], repeatable: true },
  ),
}
