import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, record, Time } from '../shapes.ts'
import { address, Email, GivenPassword, NewPassword } from './session.ts'

const Account = record(
  {
    id: Id,
    ...address,
    former_email: nullable(
      T.String({ description: 'The email that another account verified. Set a new one.' }),
    ),
    name: T.String(),
    created_at: Time,
  },
  { title: 'PersonalAccount', description: 'Your account.' },
)

const answer = record({ person: Account })

export const person = {
  get: op.personal('GET /api/v1/app/person', 'Read your account.', { input: {}, output: answer }),
  update: op.personal(
    'PUT /api/v1/app/person',
    'Change your name or sign-in email. Changing the email requires your password. Omitted fields keep their value. A new email is unverified; the response does not reveal whether another account uses it. Refused only if a member of one of your workspaces has it.',
    {
      input: {
        name: T.Optional(T.String({ maxLength: 160, format: 'name' })),
        email: T.Optional(Email),
        current_password: T.Optional(GivenPassword),
      },
      output: answer,
    },
    { errors: ['unauthenticated', 'rate_limited', 'conflict'], repeatable: true },
  ),
  delete: op.personal(
    'DELETE /api/v1/app/person',
    'Delete your account, permanently and at once. You leave all workspaces, and your sessions and keys end; your content stays with the workspaces. Refused while you are the last owner of a workspace: make someone else an owner, or delete the workspace along with accounts that belong to no other workspace.',
    { input: { current_password: GivenPassword }, output: record({ deleted: Id }) },
    { errors: ['unauthenticated', 'rate_limited', 'conflict'], destructive: true },
  ),
  resetPassword: op.public(
    'POST /api/v1/app/person/reset',
    'Choose a new password with the token of a link that the operator printed. The link works once, within an hour. It verifies your email, ends all your sessions, and revokes your API keys if the email was unverified, because someone else may have created them.',
    {
      input: { token: T.String({ minLength: 20, maxLength: 200 }), new_password: NewPassword },
      output: record({
        reset: record(
          {
            email: T.String(),
            signed_out: T.Integer({ description: 'How many sessions were ended.' }),
            revoked_keys: T.Integer(),
            keys_left: T.Integer({
              description: 'Your API keys that still work. Revoke those you do not recognize.',
            }),
          },
          { title: 'PasswordReset' },
        ),
      }),
    },
    { errors: ['not_found', 'conflict', 'rate_limited'] },
  ),
}
