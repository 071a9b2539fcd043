/**
 * The end of a sign-in to an account by OAuth, once its network has answered. Internal: in no
 * document and on no surface.
 */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, oneOf, record } from '../shapes.ts'

const KnownAccount = record({
  external_id: T.String({ minLength: 1, maxLength: 300 }),
  handle: T.String({ minLength: 1, maxLength: 300 }),
  display_name: nullable(T.String({ maxLength: 640 })),
})

export const authorizations = {
  connect: op.command(
    'POST /operator/authorizations/:id/connect',
    'Connect the account whose session the authorization holds. If it cannot be connected, its session is ended.',
    {
      input: { id: Id, account: KnownAccount },
      output: record({ outcome: oneOf(['connected', 'refused']) }),
    },
    { scope: 'session', errors: ['not_found', 'conflict'] },
  ),
  refuse: op.command(
    'POST /operator/authorizations/:id/refuse',
    'Note that nothing was connected, and why.',
    {
      input: { id: Id, reason: T.String({ minLength: 1, maxLength: 500 }) },
      output: record({ outcome: oneOf(['refused']) }),
    },
    { scope: 'session', errors: ['not_found', 'conflict'] },
  ),
}
