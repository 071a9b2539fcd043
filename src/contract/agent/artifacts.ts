import { Type as T } from '@sinclair/typebox'
import { everybody, use, workers } from '../agent-fields.ts'
import { op } from '../op.ts'
import {
  artifactKinds,
  artifactRecord,
  artifactSources,
  shareRecord,
} from '../records/agent/artifact.ts'
import { Id, markUntrusted, NOT_BLANK, nullable, oneOf, record, Time, theText } from '../shapes.ts'

const types = ['text/plain', 'text/markdown', 'text/csv', 'application/json'] as const

const Artifact = artifactRecord.schema
const Share = shareRecord.schema

const page = {
  limit: T.Optional(
    T.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Page size. Default 25.' }),
  ),
  cursor: T.Optional({ ...Time, description: 'The previous nextCursor.' } as typeof Time),
}
const nextCursor = {
  nextCursor: nullable({
    ...Time,
    description: 'Pass it as cursor to get the next page; null on the last one.',
  } as typeof Time),
}

const OneArtifact = record({ artifact: Artifact })
const shareId = T.String({ format: 'uuid', description: 'A share of this artifact.' })
/** The form in which the API document has an operation on one artifact. */
const one = { ...use, anyId: true } as const

export const artifacts = {
  list: op.query(
    'GET /api/v1/artifacts',
    'List artifacts, newest first: files that the agent has made. Filter by kind, source, job or conversation.',
    {
      input: {
        kind: T.Optional(oneOf(artifactKinds, { description: 'Return only these.' })),
        source: T.Optional(
          oneOf(artifactSources, { description: 'Return only what comes from there.' }),
        ),
        jobId: T.Optional(
          T.String({ format: 'uuid', description: 'Return only what this job made.' }),
        ),
        conversationId: T.Optional(
          T.String({
            format: 'uuid',
            description: 'Return only what was made in this conversation.',
          }),
        ),
        ...page,
      },
      output: record({ artifacts: T.Array(Artifact), ...nextCursor }),
    },
    use,
  ),
  create: op.prepared(
    'POST /api/v1/artifacts',
    'Make an artifact of a report, as Markdown, or of an audit, as JSON.',
    {
      input: {
        record: oneOf(['report', 'audit'], { description: 'What it is made of.' }),
        recordId: T.String({
          format: 'uuid',
          description: 'The report or audit. It must be ready.',
        }),
      },
      output: OneArtifact,
    },
    { ...use, ...workers, status: 201, errors: ['not_found', 'conflict'] },
  ),
  get: op.query(
    'GET /api/v1/artifacts/:id',
    'Get an artifact with its active shares, newest first.',
    { input: { id: Id }, output: record({ artifact: Artifact, shares: T.Array(Share) }) },
    { ...one, errors: ['not_found'] },
  ),
  remove: op.command(
    'DELETE /api/v1/artifacts/:id',
    'Delete an artifact and revoke its shares. Its bytes go within a week.',
    { input: { id: Id }, output: OneArtifact },
    { ...one, ...workers, errors: ['not_found'], destructive: true },
  ),
  download: op.file(
    'GET /api/v1/artifacts/:id/download',
    'Download an artifact. A part of it, by Range.',
    { input: { id: Id } },
    { ...one, errors: ['not_found'] },
  ),
  share: op.command(
    'POST /api/v1/artifacts/:id/shares',
    'Share an artifact: whoever has the token can download it until it expires. The token is shown once.',
    {
      input: {
        id: Id,
        expiresInDays: T.Optional(
          T.Integer({ minimum: 1, maximum: 90, default: 7, description: 'Default 7.' }),
        ),
      },
      output: record({
        share: Share,
        token: T.String({ description: 'Shown once.' }),
        url: T.String({ format: 'uri', description: 'Where to download it.' }),
      }),
    },
    { ...one, ...workers, status: 201, errors: ['not_found', 'conflict'], secret: true },
  ),
  unshare: op.command(
    'DELETE /api/v1/artifacts/:id/shares/:shareId',
    'Revoke an active share. Its token downloads nothing from then on.',
    { input: { id: Id, shareId }, output: record({ share: Share }) },
    { ...one, ...workers, errors: ['not_found'] },
  ),
}

/** An artifact as the agent sees it. */
const MadeArtifact = record(
  {
    id: Id,
    kind: oneOf(artifactKinds),
    fileName: nullable(
      T.String({ description: 'Null where it may be the words of people outside.' }),
    ),
    untrustedFileName: markUntrusted(nullable(T.String())),
    mimeType: T.String(),
    byteSize: T.Integer(),
    jobId: nullable(Id),
    createdAt: Time,
  },
  { title: 'MadeArtifact' },
)

export const artifactCapabilities = {
  create_artifact: op.prepared(
    'POST /api/v1/actions/create_artifact',
    'Make a file for people to download.',
    {
      input: {
        fileName: T.String({
          minLength: 1,
          maxLength: 240,
          pattern: NOT_BLANK,
          examples: ['late-deliveries.md'],
        }),
        kind: oneOf(['report', 'data', 'other']),
        mimeType: oneOf(types),
        content: theText(
          T.String({ minLength: 1, maxLength: 1_000_000, examples: ['# Late deliveries'] }),
        ),
      },
      output: record({ artifact: MadeArtifact }),
    },
    { ...use, ...workers, tool: 'create_artifact', agent: 'draft', errors: ['conflict'] },
  ),
  list_artifacts: op.query(
    'GET /api/v1/actions/list_artifacts',
    'List files that were made, newest first.',
    { input: page, output: record({ artifacts: T.Array(MadeArtifact), ...nextCursor }) },
    { ...use, ...everybody, tool: 'list_artifacts', agent: 'read', foreign: true },
  ),
}
