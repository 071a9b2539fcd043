import { Type as T } from '@sinclair/typebox'
import { download, op } from '../op.ts'
import { Id, NOT_BLANK, nullable, oneOf, record, Time } from '../shapes.ts'
import { Automation } from '../shared-records.ts'

const Workspace = record(
  {
    id: Id,
    name: T.String(),
    plan: T.String({ description: 'What it may spend is at app.plan.' }),
    created_at: Time,
    deletes_at: nullable(Time),
  },
  { title: 'Workspace' },
)

/** In the order in which an export has them, between its first line and its last one. */
export const exportKinds = [
  ...([
    'workspace',
    'member',
    'invitation',
    'profile',
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
    'rule',
    'rule_run',
    'attempt',
    'engagement',
    'engagement_attempt',
    'target',
    'signal',
  ] as const),
  ...(['webhook', 'key', 'audit', 'event'] as const),
] as const

const Exported = record(
  {
    kind: oneOf(['export', ...exportKinds, 'end']),
    record: T.Record(T.String(), T.Unknown(), { description: 'The fields of its kind, named as everywhere else.' }),
  },
  { title: 'ExportLine', description: 'One record. The first line says of what and when, the last one how many there were of each kind.' },
)

const Deletion = record(
  {
    deletes_at: nullable(Time),
    automation: Automation,
  },
  { title: 'Deletion', description: 'When the workspace is erased, null when it is kept; and what of it still acts.' },
)

const deletion = record({ deletion: Deletion })

const answer = record({ workspace: Workspace })

export const workspace = {
  get: op('GET /api/v1/app/workspace', 'Read the workspace.', { input: {}, output: answer }, { scope: 'session' }),
  rename: op(
    'PUT /api/v1/app/workspace',
    'Rename the workspace. Nothing else depends on the name.',
    {
      input: { name: T.String({ minLength: 1, maxLength: 160, format: 'name', pattern: NOT_BLANK, examples: ['Dockside'] }) },
      output: answer,
    },
    { scope: 'session', repeatable: true },
  ),
  requestDeletion: op(
    'POST /api/v1/app/workspace/deletion',
    'Delete the workspace in 14 days. From now on nothing goes out: automation is paused, posts that were not sent are recalled, and until this is taken back everything but reading and exporting is refused. Then all of it is erased, with the accounts of people who are members nowhere else.',
    {
      input: { name: T.String({ maxLength: 160, description: "The workspace's name, typed again.", examples: ['Dockside'] }) },
      output: deletion,
    },
    { scope: 'session', urgent: true, destructive: true, repeatable: true, whileDeleting: true },
  ),
  cancelDeletion: op(
    'DELETE /api/v1/app/workspace/deletion',
    'Keep the workspace after all. Automation stays paused until somebody resumes it; posts that fell due meanwhile then follow on_missed.',
    { input: {}, output: deletion },
    { scope: 'session', repeatable: true, whileDeleting: true },
  ),
  export: download(
    'GET /api/v1/app/workspace/export',
    'Export everything the workspace owns, as a file of JSON lines. No passwords, tokens, secrets or hashes of keys are in it. Records are read some at a time, each group as it is at that moment; a file without its last line (kind end) is not whole.',
    { input: {}, line: Exported },
    { roles: [], file: 'tendril-workspace' },
  ),
}
