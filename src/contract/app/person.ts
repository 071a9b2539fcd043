import { Type as T } from '@sinclair/typebox'
import { door } from '../op.ts'
import { Id, nullable, record, Time } from '../shapes.ts'
import { address, Email, GivenPassword, NewPassword } from './session.ts'

const Account = record(
  {
    id: Id,
    ...address,
    former_email: nullable(T.String({ description: 'The email that was lost. Set another.' })),
    name: T.String(),
    created_at: Time,
  },
  { title: 'PersonalAccount', description: 'A person.' },
)

const answer = record({ person: Account })

export const person = {
  get: door('GET /api/v1/app/person', 'Read your account.', { input: {}, output: answer }, { scope: 'session' }),
  update: door(
    'PUT /api/v1/app/person',
    'Change your name, or the email by which you sign in; the email takes your password. What is not given stays. A new email is unverified, whether or not others have it: the answer is the same. Refused only where a member of one of your workspaces has it.',
    {
      input: {
        name: T.Optional(T.String({ maxLength: 160, format: 'name' })),
        email: T.Optional(Email),
        current_password: T.Optional(GivenPassword),
      },
      output: answer,
    },
    { scope: 'session', errors: ['unauthenticated', 'rate_limited', 'conflict'], repeatable: true },
  ),
  delete: door(
    'DELETE /api/v1/app/person',
    'Delete your account, for good and at once. You leave all workspaces, and your sessions and keys end; what you have written there stays with them. Refused while you are the last owner of a workspace: make somebody else an owner, or delete the workspace, with which accounts end that are members nowhere else.',
    { input: { current_password: GivenPassword }, output: record({ deleted: Id }) },
    { scope: 'session', errors: ['unauthenticated', 'rate_limited', 'conflict'], destructive: true },
  ),
  resetPassword: door(
    'POST /api/v1/app/person/reset',
    'Choose a new password by the token of a link that the operator of the deployment has printed. It is good once, for an hour. It proves the email, ends all your sessions, and revokes your API keys if the email was unverified before: somebody else may have made them.',
    {
      input: { token: T.String({ minLength: 20, maxLength: 200 }), new_password: NewPassword },
      output: record({
        reset: record(
          {
            email: T.String(),
            signed_out: T.Integer({ description: 'How many sessions have ended.' }),
            revoked_keys: T.Integer(),
            keys_left: T.Integer({ description: 'API keys of yours that go on: revoke those that you do not know.' }),
          },
          { title: 'PasswordReset' },
        ),
      }),
    },
    { scope: 'public', errors: ['not_found', 'conflict', 'rate_limited'] },
  ),
}
