import { type Static, Type as T, type TSchema } from '@sinclair/typebox'
import { roles } from '#kernel/roles'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import {
  cursorLike,
  Id,
  NamedAuthor,
  NextCursor,
  nullable,
  oneOf,
  record,
  type Shown,
  Time,
  untrustedIf,
} from '../shapes.ts'

const statuses = ['pending', 'approved', 'rejected'] as const

/**
 * What a job asks for after it has read text of people outside may follow that, until a person has
 * approved it.
 */
const ofJob = <S extends TSchema>(schema: S): S =>
  untrustedIf({ field: 'job.taint', unless: ['status', 'approved'] }, schema)
/** A message of somebody outside, where that began the job. */
const asked = <S extends TSchema>(schema: S): S =>
  untrustedIf({ field: 'job.taint', begins: 'channel ' }, schema)

const Subject = record({
  records: T.Array(record({ kind: T.String(), id: Id, sha256: T.String() })),
  account: nullable(
    T.String({ description: 'The account that it would go out from, such as @dockside.' }),
  ),
  text: ofJob(nullable(T.String({ description: 'The exact text that would go out.' }))),
  sha256: nullable(T.String({ description: 'Of the text.' })),
})

export const Approval = record(
  {
    id: Id,
    job_id: Id,
    url: T.String({ description: 'The page where a person decides.' }),
    job: nullable(
      record({
        id: Id,
        goal: asked(T.String()),
        taint: T.Array(T.String(), {
          description: 'Where untrusted text that the job has read came from.',
        }),
      }),
    ),
    tool_name: T.String(),
    goal: asked(T.String()),
    summary: ofJob(
      T.String({ description: 'What will happen, in a sentence made from the records.' }),
    ),
    arguments: ofJob(T.Record(T.String(), T.Unknown())),
    subject: Subject,
    why: T.Array(T.String({ description: 'Why a person is asked.' })),
    status: oneOf(statuses),
    deciders: nullable(
      record(
        {
          roles: T.Array(oneOf(roles)),
          people: T.Array(NamedAuthor, { description: 'At most five members with these roles.' }),
          more: T.Boolean({ description: 'There are others.' }),
        },
        { description: 'Who can decide, while it waits.' },
      ),
    ),
    may_decide: T.Boolean({ description: 'Whether you can decide now.' }),
    decided_how: nullable(
      oneOf(['person', 'expiry', 'cancel', 'stale'], {
        description: 'stale: the record changed after it was shown.',
      }),
    ),
    decided_by: nullable(Id),
    reason: nullable(T.String()),
    edited: T.Boolean({ description: 'The person changed the arguments.' }),
    created_at: Time,
    expires_at: Time,
    decided_at: nullable(Time),
  },
  { title: 'AgentApproval' },
)

export type ShownApproval = Shown<Static<typeof Approval>>

const OneApproval = record({ approval: Approval })

export const approvals = {
  list: op.query(
    'GET /api/v1/agent/approvals',
    'List what jobs of the agent have asked people, newest first. Filter by status.',
    {
      input: {
        status: T.Optional(
          oneOf(statuses, { description: 'Return only approvals in this state.' }),
        ),
        limit: T.Optional(
          T.Integer({
            minimum: 1,
            maximum: 50,
            default: 25,
            description: 'Page size. Default 25.',
          }),
        ),
        cursor: cursorLike('MDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
      },
      output: record({ approvals: T.Array(Approval), next_cursor: NextCursor }),
    },
    { ...use, tool: 'agent_list_approvals', agent: 'never', foreign: true },
  ),
  get: op.query(
    'GET /api/v1/agent/approvals/:id',
    'Get an approval, with the record that the call has made or changed.',
    {
      input: { id: Id },
      output: record({ approval: Approval, record_id: nullable(Id) }),
    },
    { ...use, errors: ['not_found'] },
  ),
  approve: op.command(
    'POST /api/v1/agent/approvals/:id/approve',
    'Approve a call of a tool. It then runs once, in your name, with the arguments that you saw or give. Requires a signed-in person who may run the operation.',
    {
      input: {
        id: Id,
        arguments: T.Optional(
          T.Record(T.String(), T.Unknown(), {
            description:
              'Replace all arguments. Records are named by id, or as the conversation calls them, such as item:3.',
          }),
        ),
        remember: T.Optional(
          oneOf(['workspace'], {
            description:
              'Do not ask again: for tools that write outside of the workspace, and for the host of fetch_url. Owners and approvers.',
          }),
        ),
      },
      output: OneApproval,
    },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      errors: ['not_found', 'conflict'],
      repeatable: true,
    },
  ),
  reject: op.command(
    'POST /api/v1/agent/approvals/:id/reject',
    'Reject a call of a tool. The agent is told the reason, and goes on without it. Requires a signed-in person.',
    {
      input: {
        id: Id,
        reason: T.Optional(T.String({ maxLength: 500, description: 'Told to the agent.' })),
      },
      output: OneApproval,
    },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      errors: ['not_found', 'conflict'],
      repeatable: true,
    },
  ),
}
