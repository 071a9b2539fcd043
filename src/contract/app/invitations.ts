import { Type as T } from '@sinclair/typebox'
import { door, op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'
import { Delivery, Email, NewPassword, RoleName, SignedIn } from './session.ts'

const Invitation = record(
  {
    id: Id,
    email: nullable(T.String({ description: 'null: whoever has the link.' })),
    role: RoleName,
    status: oneOf(['open', 'accepted', 'revoked', 'expired']),
    invited_by: nullable(T.String({ format: 'uuid', description: 'The person; null for the operator of the deployment.' })),
    created_at: Time,
    expires_at: Time,
    accepted_at: nullable(Time),
    accepted_by: nullable(T.String({ format: 'uuid', description: 'The person.' })),
    revoked_at: nullable(Time),
  },
  { title: 'Invitation' },
)

export const invitations = {
  create: op(
    'POST /api/v1/app/invitations',
    'Invite somebody to the workspace. The answer shows the link, once: hand it over yourself, no mail is sent. It is good for seven days and for one person; with an email, for whoever joins under that email. In a session of the command line, inviting an owner takes the password again after 10 minutes: app.session.confirm.',
    {
      input: { email: T.Optional(Email), role: RoleName },
      output: record({ invitation: Invitation, url: T.String({ description: 'The link. Shown once.' }) }),
    },
    { scope: 'session', status: 201, errors: ['conflict', 'reauthentication_required'], secret: true },
  ),
  list: op(
    'GET /api/v1/app/invitations',
    'List invitations, open and past. Without their links.',
    { input: page, output: record({ invitations: T.Array(Invitation), next_cursor: NextCursor }) },
    { scope: 'session', roles: [] },
  ),
  revoke: op(
    'DELETE /api/v1/app/invitations/:id',
    'Withdraw an invitation. Its link opens nothing any more.',
    { input: { id: Id }, output: record({ invitation: Invitation }) },
    { scope: 'session', errors: ['not_found', 'conflict'], destructive: true, repeatable: true },
  ),
  accept: door(
    'POST /api/v1/app/invitations/accept',
    'Accept an invitation by the token of its link, and be signed in. Whoever has an account under this email gives its password, and joins with it; with any other password a new account is made, whose email is unverified. The link that the operator of the deployment has printed for an email proves it: accounts that had it unproven lose it, and keep the rest; only a verified account is joined with, by its password.',
    {
      input: {
        token: T.String({ minLength: 20, maxLength: 200 }),
        email: T.Optional(Email),
        password: NewPassword,
        name: T.Optional(T.String({ maxLength: 160, format: 'name' })),
        delivery: T.Optional(Delivery),
      },
      output: record({ session: SignedIn }),
    },
    { scope: 'public', status: 201, errors: ['unauthenticated', 'rate_limited', 'not_found', 'conflict'] },
  ),
}
