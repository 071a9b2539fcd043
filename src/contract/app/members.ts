import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, page, record, Time } from '../shapes.ts'
import { address, RoleName } from './session.ts'

const Member = record(
  {
    id: T.String({ format: 'uuid', description: 'Of the person.' }),
    ...address,
    former_email: nullable(T.String({ description: 'By which this account was known until its email was lost.' })),
    name: T.String(),
    role: RoleName,
    joined_at: Time,
  },
  { title: 'Member' },
)

const answer = record({ member: Member })

export const members = {
  list: op(
    'GET /api/v1/app/members',
    'List the members of the workspace.',
    { input: page, output: record({ members: T.Array(Member), next_cursor: NextCursor }) },
    { scope: 'session' },
  ),
  update: op(
    'PUT /api/v1/app/members/:id',
    'Change the role of a member. It holds from the next request on, for sessions and keys of this person alike; whoever is no owner any more takes the open invitations they made along. The last owner stays one. In a session of the command line, making an owner takes the password again after 10 minutes: app.session.confirm.',
    { input: { id: Id, role: RoleName }, output: answer },
    { scope: 'session', errors: ['not_found', 'conflict', 'reauthentication_required'], repeatable: true },
  ),
  remove: op(
    'DELETE /api/v1/app/members/:id',
    "Remove a member, or leave. Owners remove anybody, the others themselves. Sessions at this workspace, keys and open invitations of this person end at once, and for good; the workspace's own keys stay, so replace those that this person knows. The last owner stays.",
    { input: { id: Id }, output: answer },
    { scope: 'session', roles: ['editor', 'approver', 'viewer'], errors: ['not_found', 'conflict'], destructive: true },
  ),
}
