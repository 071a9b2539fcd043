/** A file that the agent has made, and the links by which it is shared. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, Time } from '../../shapes.ts'
import { declare } from '../record.ts'

export const artifactKinds = ['report', 'data', 'chart', 'image', 'screenshot', 'other'] as const
export const artifactSources = ['capability', 'sandbox', 'browser'] as const

export const artifactRecord = declare(
  'artifact',
  { title: 'Artifact', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id },
    tenant_id: { shown: T.String({ format: 'uuid', description: 'The workspace.' }), from: 'view' },
    job_id: {
      type: 'uuid',
      shown: nullable(T.String({ format: 'uuid', description: 'The job that made it.' })),
    },
    conversation_id: { type: 'uuid', shown: nullable(Id) },
    created_by_user_id: {
      type: 'uuid',
      shown: nullable(
        T.String({ format: 'uuid', description: 'The person for whom it was made.' }),
      ),
    },
    source: {
      type: 'text',
      shown: oneOf(artifactSources, {
        description: 'capability: made by a tool of the agent, or of a record.',
      }),
    },
    kind: { type: 'text', shown: oneOf(artifactKinds) },
    file_name: { type: 'text', shown: T.String() },
    mime_type: { type: 'text', shown: T.String() },
    byte_size: { type: 'integer', shown: T.Integer({ minimum: 0 }) },
    sha256: {
      type: 'text',
      shown: T.String({ pattern: '^[0-9a-f]{64}$', description: 'Of its bytes, in hex.' }),
    },
    metadata: {
      type: 'jsonb',
      shown: T.Record(T.String(), T.Unknown(), {
        description:
          'untrusted: whether it was made by a job that had read text of people outside the workspace. Set by the service alone.',
      }),
    },
    untrusted: {
      type: 'boolean',
      hidden: 'whether its name and bytes may be words of people outside. Its metadata shows it',
    },
    file_id: { type: 'uuid', hidden: 'where its bytes are', unexported: 'where its bytes are' },
    created_at: { type: 'timestamp with time zone', shown: Time },
    deleted_at: { type: 'timestamp with time zone', shown: nullable(Time) },
  },
)

export const shareRecord = declare(
  'artifact_share',
  { title: 'ArtifactShare', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id },
    artifact_id: {
      type: 'uuid',
      shown: T.String({ format: 'uuid', description: 'The artifact.' }),
    },
    token_hash: {
      type: 'bytea',
      hidden: 'by which its token is found',
      from: 'elsewhere',
      unexported: 'a secret',
    },
    expires_at: { type: 'timestamp with time zone', shown: Time },
    revoked_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    created_at: { type: 'timestamp with time zone', shown: Time },
  },
)
