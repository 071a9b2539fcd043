import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, record } from '../shapes.ts'
import { Connection } from '../shared-records.ts'

const answer = record({ connection: Connection })

export const connections = {
  connectSandbox: op(
    'POST /api/v1/app/connections/sandbox',
    'Connect an account of the sandbox, the network of this deployment. A handle that the workspace has connected before keeps its account; in another workspace, the same handle is another account. The first account becomes the default.',
    {
      input: {
        handle: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 51,
            examples: ['dockside'],
            description: 'Letters, digits, dots, dashes or underscores; one of the workspace when absent.',
          }),
        ),
      },
      output: answer,
    },
    { scope: 'session', status: 201, errors: ['conflict', 'network_error'], outside: true, reaches: true },
  ),
  disconnect: op(
    'DELETE /api/v1/app/connections/:id',
    'Disconnect an account. What is on its way and not sent is called back; what is scheduled stays, and comes back to approved if its account is not connected when it is due. No other account becomes the default by itself. Answers the default account that is left.',
    { input: { id: Id }, output: answer },
    { scope: 'session', errors: ['not_found'], urgent: true, exempt: ['rates', 'answers'], destructive: true },
  ),
}
