/** What comes in from outside, signed: verified in the process that received it. Internal: in no document and on no surface. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, record } from '../shapes.ts'

export const inbound = {
  receive: op.command(
    'POST /operator/inbound/:id',
    'Start the job of a webhook rule. The same event starts it once.',
    {
      input: { id: Id, event: T.String({ minLength: 1, maxLength: 256 }), body: T.String({ maxLength: 65_536 }) },
      output: record({ job: nullable(Id), retryAfter: T.Integer() }),
    },
    { errors: ['not_found'], roles: ['editor'], whileDeleting: true },
  ),
}
