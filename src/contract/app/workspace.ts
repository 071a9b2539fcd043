import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NOT_BLANK, nullable, oneOf, record, Time } from '../shapes.ts'
import { Automation } from '../shared-records.ts'

const Workspace = record(
  {
    id: Id,
    name: T.String(),
    plan: T.String({ description: 'The name of the plan; app.plan has its limits.' }),
    created_at: Time,
    deletes_at: nullable(Time),
  },
  { title: 'Workspace' },
)

/** In the order in which an export has them, between its first and last line. */
export const exportKinds = [
  ...([
    'workspace',
    'member',
    'invitation',
    'profile',
    'profile_revision',
    'channel',
    'learning',
    'metric',
    'product',
    'experiment',
    'connection',
    'batch',
    'article',
    'growth_audit',
    'report',
    'item',
    'revision',
    'comment',
    'rule',
    'rule_run',
    'attempt',
    'engagement',
    'engagement_attempt',
    'target',
    'signal',
  ] as const),
  ...([
    'conversation',
    'message',
    'message_feedback',
    'agent_job',
    'agent_step',
    'agent_event',
    'agent_approval',
    'tool_rule',
    'agent_module',
    'schedule',
    'memory',
    'playbook',
    'playbook_version',
    'document',
    'document_passage',
    'webhook_rule',
    'mcp_server',
    'mcp_tool',
    'inbound_event',
    'channel_connection',
    'channel_identity',
    'channel_message',
    'channel_reply',
    'artifact',
    'artifact_share',
  ] as const),
  ...(['webhook', 'key', 'audit', 'event'] as const),
] as const

const Exported = record(
  {
    kind: oneOf(['export', ...exportKinds, 'end']),
    record: T.Record(T.String(), T.Unknown(), {
      description: 'The fields of the record, named as in the API.',
    }),
  },
  {
    title: 'ExportLine',
    description:
      'One record per line. The first line describes the export, the last one counts the records of each kind.',
  },
)

const Deletion = record(
  {
    deletes_at: nullable(Time),
    automation: Automation,
  },
  {
    title: 'Deletion',
    description: 'When the workspace is erased (null if it is kept), and what is still being sent.',
  },
)

const deletion = record({ deletion: Deletion })

const answer = record({ workspace: Workspace })

export const workspace = {
  get: op.query(
    'GET /api/v1/app/workspace',
    'Read the workspace.',
    { input: {}, output: answer },
    { scope: 'session' },
  ),
  rename: op.command(
    'PUT /api/v1/app/workspace',
    'Rename the workspace. Nothing depends on the name.',
    {
      input: {
        name: T.String({
          minLength: 1,
          maxLength: 160,
          format: 'name',
          pattern: NOT_BLANK,
          examples: ['Dockside'],
        }),
      },
      output: answer,
    },
    { scope: 'session', repeatable: true },
  ),
  requestDeletion: op.command(
    'POST /api/v1/app/workspace/deletion',
    'Delete the workspace in 14 days. Nothing goes out any more: automation is paused, unsent posts are recalled, and everything except reading and exporting is refused unless you cancel the deletion. Then the workspace is erased, with the accounts of people who belong to no other workspace.',
    {
      input: {
        name: T.String({
          maxLength: 160,
          description: 'The name of the workspace, as confirmation.',
          examples: ['Dockside'],
        }),
      },
      output: deletion,
    },
    { scope: 'session', urgent: true, destructive: true, repeatable: true, whileDeleting: true },
  ),
  cancelDeletion: op.command(
    'DELETE /api/v1/app/workspace/deletion',
    'Cancel the deletion of the workspace. Automation stays paused until someone resumes it; posts that fell due in the meantime then follow on_missed.',
    { input: {}, output: deletion },
    { scope: 'session', repeatable: true, whileDeleting: true },
  ),
  export: op.download(
    'GET /api/v1/app/workspace/export',
    'Export everything the workspace owns as JSON lines. Contains no passwords, tokens, secrets or key hashes. Records are read in groups, each as of its own moment. A file without a last line of kind end is incomplete.',
    { input: {}, line: Exported },
    { roles: [], file: 'tendril-workspace' },
  ),
}
