import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { invitationRecord } from '../records/app/invitation.ts'
import { Id, NextCursor, page, record } from '../shapes.ts'
import { Email, NewPassword, RoleName, SignedIn, TokenDelivery } from './session.ts'

const Invitation = invitationRecord.schema

export const invitations = {
  create: op.command(
    'POST /api/v1/app/invitations',
    'Invite someone to the workspace. Returns the link once. No email is sent: pass the link on yourself. It works for seven days and for one person; if you give an email, only for that email. In a command-line session, inviting an owner requires a password given in the last 10 minutes: app.session.confirm.',
    {
      input: { email: T.Optional(Email), role: RoleName },
      output: record({
        invitation: Invitation,
        url: T.String({ description: 'The invitation link. Shown once.' }),
      }),
    },
    {
      scope: 'session',
      status: 201,
      errors: ['conflict', 'reauthentication_required'],
      secret: true,
    },
  ),
  list: op.query(
    'GET /api/v1/app/invitations',
    'List invitations, open and past. Links are not included.',
    { input: page, output: record({ invitations: T.Array(Invitation), next_cursor: NextCursor }) },
    { scope: 'session', roles: [] },
  ),
  revoke: op.command(
    'DELETE /api/v1/app/invitations/:id',
    'Withdraw an invitation. Its link stops working.',
    { input: { id: Id }, output: record({ invitation: Invitation }) },
    { scope: 'session', errors: ['not_found', 'conflict'], destructive: true, repeatable: true },
  ),
  accept: op.public(
    'POST /api/v1/app/invitations/accept',
    'Accept an invitation with the token of its link, and sign in. With the password of an existing account under this email, that account joins; with any other password, a new account is created, with an unverified email. A link that the operator printed for an email verifies it: unverified accounts lose that email and keep everything else, and only a verified account can join with its password.',
    {
      input: {
        token: T.String({ minLength: 20, maxLength: 200 }),
        email: T.Optional(Email),
        password: NewPassword,
        name: T.Optional(T.String({ maxLength: 160, format: 'name' })),
        delivery: T.Optional(TokenDelivery),
      },
      output: record({ session: SignedIn }),
    },
    { status: 201, errors: ['unauthenticated', 'rate_limited', 'not_found', 'conflict'] },
  ),
}
