import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

export const Account = record(
  {
    id: Id,
    network: T.String({ description: 'For example sandbox.' }),
    external_id: T.String({ description: "The network's own id of the account." }),
    handle: T.String(),
    status: oneOf(['connected', 'disconnected']),
    is_default: T.Boolean({ description: 'New approvals are bound to this account.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Account' },
)

export const Reads = record(
  {
    tier: oneOf(['free', 'payg']),
    unit: oneOf(['resources', 'usd_micros'], { description: 'Millionths of a US dollar on payg.' }),
    used: T.Integer(),
    limit: T.Integer(),
    reserved: T.Integer({ description: 'The part of limit that is kept for finding out what became of a post.' }),
    resets_at: Time,
  },
  { title: 'Reads', description: 'What may be read of the network in a day, by UTC.' },
)

export const Connection = record(
  {
    connected: T.Boolean(),
    tier: oneOf(['free', 'payg'], { description: 'payg: reads spend a metered daily budget.' }),
    account: nullable(Account),
    reads: Reads,
  },
  { title: 'Connection' },
)

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
