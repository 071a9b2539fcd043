import { Type as T } from '@sinclair/typebox'
import { door } from '../op.ts'
import { Id, record, Time } from '../shapes.ts'
import { Email, GivenPassword } from './session.ts'

const Account = record(
  { id: Id, email: T.String(), name: T.String(), created_at: Time },
  { title: 'PersonalAccount', description: 'A person.' },
)

const answer = record({ person: Account })

export const person = {
  get: door('GET /api/v1/app/person', 'Read your account.', { input: {}, output: answer }, { scope: 'session' }),
  update: door(
    'PUT /api/v1/app/person',
    'Change your name, or the email by which you sign in; the email takes your password. What is not given stays.',
    {
      input: { name: T.Optional(T.String({ maxLength: 160 })), email: T.Optional(Email), current_password: T.Optional(GivenPassword) },
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
}
