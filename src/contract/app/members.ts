import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, page, record, Time } from '../shapes.ts'
import { address, RoleName } from './session.ts'

const Member = record(
  {
    id: T.String({ format: 'uuid', description: 'The id of the person.' }),
    ...address,
    former_email: nullable(
      T.String({ description: 'The email of this account before another account verified it.' }),
    ),
    name: T.String(),
    role: RoleName,
    joined_at: Time,
  },
  { title: 'Member' },
)

const answer = record({ member: Member })

export const members = {
  list: op.query(
    'GET /api/v1/app/members',
    'List the members of the workspace.',
    { input: page, output: record({ members: T.Array(Member), next_cursor: NextCursor }) },
    { scope: 'session' },
  ),
  update: op.command(
    'PUT /api/v1/app/members/:id',
    "Change the role of a member. Takes effect with the next request of the person's sessions and keys. A former owner's open invitations are withdrawn. The last owner must stay an owner. In a command-line session, making someone an owner requires a password given in the last 10 minutes: app.session.confirm.",
    { input: { id: Id, role: RoleName }, output: answer },
    {
      scope: 'session',
      errors: ['not_found', 'conflict', 'reauthentication_required'],
      repeatable: true,
    },
  ),
  remove: op.command(
    'DELETE /api/v1/app/members/:id',
    "Remove a member, or leave. Owners can remove anyone, other members themselves. The person's sessions in this workspace, keys and open invitations end at once, permanently. Workspace keys stay: replace those that the person knows. The last owner cannot leave.",
    { input: { id: Id }, output: answer },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      errors: ['not_found', 'conflict'],
      destructive: true,
    },
  ),
}
