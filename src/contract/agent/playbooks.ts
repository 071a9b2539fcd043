import { Type as T } from '@sinclair/typebox'
import { everybody, nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import {
  Pinned,
  PlaybookStatus,
  playbookRecord,
  playbookStatuses,
  Slug,
  versionRecord,
  versionStates,
} from '../records/agent/playbook.ts'
import { Id, NOT_BLANK, nullable, ONE_LINE, oneOf, record, theText } from '../shapes.ts'

const name = T.String({
  minLength: 1,
  maxLength: 160,
  pattern: ONE_LINE,
  examples: ['Launch posts'],
})
const description = T.String({ maxLength: 500 })
const content = T.String({
  minLength: 1,
  maxLength: 20_000,
  pattern: NOT_BLANK,
  examples: ['Mention the price in the first line.'],
})
const rationale = T.String({ maxLength: 2_000, description: 'Why.' })

const Playbook = playbookRecord.schema
const PlaybookVersion = versionRecord.schema
const OnePlaybook = record({ playbook: Playbook })
const OneVersion = record({ version: PlaybookVersion })
const writers = { roles: ['editor', 'approver'] } as const
const deciders = { roles: ['approver'] } as const
const versionId = T.String({ format: 'uuid', description: 'The id of a version of this playbook.' })

export const playbooks = {
  list: op.query(
    'GET /api/v1/agent/playbooks',
    'List playbooks, newest first. Filter by status.',
    {
      input: { status: T.Optional(PlaybookStatus), ...shortPage },
      output: record({ playbooks: T.Array(Playbook), ...nextCursor }),
    },
    use,
  ),
  create: op.command(
    'POST /api/v1/agent/playbooks',
    'Add a playbook: instructions for the agent, which hold at once. At most 100 active ones, 10 of them pinned.',
    {
      input: {
        slug: Slug,
        name,
        content,
        description: T.Optional(description),
        pinned: T.Optional(Pinned),
      },
      output: OnePlaybook,
    },
    { ...use, ...writers, status: 201, errors: ['conflict'] },
  ),
  get: op.query(
    'GET /api/v1/agent/playbooks/:id',
    'Get a playbook with its versions, newest first.',
    {
      input: { id: Id },
      output: record({ playbook: Playbook, versions: T.Array(PlaybookVersion) }),
    },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  update: op.command(
    'PATCH /api/v1/agent/playbooks/:id',
    'Rename, describe, pin or archive a playbook. Its text changes by a new version.',
    {
      input: {
        id: Id,
        name: T.Optional(name),
        description: T.Optional(description),
        pinned: T.Optional(Pinned),
        status: T.Optional(PlaybookStatus),
      },
      output: OnePlaybook,
    },
    { ...use, ...writers, errors: ['not_found'], repeatable: true },
  ),
  addVersion: op.command(
    'POST /api/v1/agent/playbooks/:id/versions',
    'Add a draft to a playbook. It changes nothing until it is activated. A playbook keeps 50 versions: the oldest rejected or retired one makes way.',
    { input: { id: Id, content, rationale: T.Optional(rationale) }, output: OneVersion },
    { ...use, ...writers, status: 201, errors: ['not_found'] },
  ),
  version: op.query(
    'GET /api/v1/agent/playbook-versions/:id',
    'Get one version of a playbook, with its playbook and, if another version holds now, that one.',
    {
      input: { id: Id },
      output: record({
        playbook: Playbook,
        version: PlaybookVersion,
        active: nullable(PlaybookVersion),
      }),
    },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  activate: op.command(
    'POST /api/v1/agent/playbooks/:id/versions/:versionId/activate',
    'Let a draft or a retired version hold from now on. What a job of the agent has drafted requires a signed-in person.',
    { input: { id: Id, versionId }, output: OneVersion },
    { ...use, ...deciders, errors: ['not_found'] },
  ),
  reject: op.command(
    'POST /api/v1/agent/playbooks/:id/versions/:versionId/reject',
    'Reject a draft.',
    { input: { id: Id, versionId }, output: OneVersion },
    { ...use, ...deciders, errors: ['not_found'] },
  ),
}

const slug = T.String({
  minLength: 1,
  maxLength: 64,
  description: 'The slug of an active playbook.',
  examples: ['launch-posts'],
})

const Listed = record({
  slug: Slug,
  name: T.String(),
  description: nullable(T.String()),
  pinned: Pinned,
  status: PlaybookStatus,
  hasActiveVersion: T.Boolean(),
})

export const playbookCapabilities = {
  list_playbooks: op.query(
    'GET /api/v1/actions/list_playbooks',
    'List playbooks: the instructions of this workspace. The newest 100.',
    {
      input: { status: T.Optional(oneOf(playbookStatuses)) },
      output: record({ playbooks: T.Array(Listed) }),
    },
    { ...use, ...everybody, tool: 'list_playbooks', agent: 'read' },
  ),
  read_playbook: op.query(
    'GET /api/v1/actions/read_playbook',
    'Read the instructions of a playbook.',
    {
      input: { slug },
      output: record({
        slug: Slug,
        name: T.String(),
        description: nullable(T.String()),
        version: T.Integer(),
        content: T.String(),
      }),
    },
    { ...use, ...everybody, tool: 'read_playbook', agent: 'read', errors: ['not_found'] },
  ),
  propose_playbook_update: op.command(
    'POST /api/v1/actions/propose_playbook_update',
    'Propose a new, whole text for a playbook: a draft until a person activates it.',
    {
      input: {
        slug,
        content: theText(content),
        rationale: T.String({
          minLength: 1,
          maxLength: 2_000,
          pattern: NOT_BLANK,
          description: 'Why.',
        }),
      },
      output: record({
        playbookId: Id,
        versionId: Id,
        slug: Slug,
        number: T.Integer(),
        state: oneOf(versionStates),
        url: T.String({ description: 'The page where a person decides.' }),
      }),
    },
    { ...use, ...writers, tool: 'propose_playbook_update', agent: 'draft', errors: ['not_found'] },
  ),
}
