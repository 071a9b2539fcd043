import { type Static, Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { approvalRecord, approvalStatuses } from '../records/agent/approval.ts'
import { cursorLike, Id, NextCursor, nullable, oneOf, record, type Shown } from '../shapes.ts'

export const ApprovalSchema = approvalRecord.schema

export type ShownApproval = Shown<Static<typeof ApprovalSchema>>

const OneApproval = record({ approval: ApprovalSchema })

const expect_sha256 = T.Optional(
  T.String({
    pattern: '^[0-9a-f]{64}$',
    examples: ['0c2cce39'.repeat(8)],
    description:
      "The call's sha256 that you saw, or subject.sha256 where it has a text. 409 with the reason stale_call if the call is another one.",
  }),
)

export const approvals = {
  list: op.query(
    'GET /api/v1/agent/approvals',
    'List what jobs of the agent have asked people, newest first. Filter by status.',
    {
      input: {
        status: T.Optional(
          oneOf(approvalStatuses, { description: 'Return only approvals in this state.' }),
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
      output: record({ approvals: T.Array(ApprovalSchema), next_cursor: NextCursor }),
    },
    { ...use, tool: 'agent_list_approvals', agent: 'never', foreign: true },
  ),
  get: op.query(
    'GET /api/v1/agent/approvals/:id',
    'Get an approval, with the record that the call has made or changed.',
    {
      input: { id: Id },
      output: record({ approval: ApprovalSchema, record_id: nullable(Id) }),
    },
    { ...use, errors: ['not_found'] },
  ),
  approve: op.command(
    'POST /api/v1/agent/approvals/:id/approve',
    'Approve a call of a tool. It then runs once, in your name, with the arguments that you saw or give. With expect_sha256 it is also refused, as stale_call, if a record that it is about has changed since it was shown; without, such a call is approved and then not carried out: its outcome is stale. Requires a signed-in person who may run the operation.',
    {
      input: {
        id: Id,
        expect_sha256,
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
        expect_sha256,
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
