import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, record } from '../shapes.ts'
import { ConnectionSchema, InFlight } from '../shared-records.ts'

const answer = record({ connection: ConnectionSchema })

export const appConnections = {
  connectSandbox: op.prepared(
    'POST /api/v1/app/connections/sandbox',
    'Connect an account of the sandbox, the built-in network. Reconnecting a handle restores its account. The same handle in another workspace is a different account. The first account becomes the default.',
    {
      input: {
        handle: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 51,
            examples: ['dockside'],
            description:
              'Letters, digits, dots, dashes or underscores. Default: a handle made for the workspace.',
          }),
        ),
      },
      output: answer,
    },
    { scope: 'session', status: 201, errors: ['conflict', 'network_error'], outside: true },
  ),
  disconnect: op.command(
    'DELETE /api/v1/app/connections/:id',
    'Disconnect an account. Recalls posts and engagements that are not sent yet. Scheduled posts stay, and return to approved if their account is not connected when they fall due. No other account becomes the default. Returns the remaining default account, and in in_flight what is on its way already, which takes its outcome.',
    { input: { id: Id }, output: record({ connection: ConnectionSchema, in_flight: InFlight }) },
    {
      scope: 'session',
      errors: ['not_found'],
      urgent: true,
      exempt: ['rates', 'answers'],
      destructive: true,
    },
  ),
}
