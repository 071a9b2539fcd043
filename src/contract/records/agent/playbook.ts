/** What a workspace tells its agent to do. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, record, Time } from '../../shapes.ts'
import { declare } from '../record.ts'

export const Slug = T.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
  examples: ['launch-posts'],
  description: 'Lower-case letters, digits and dashes.',
})
export const Pinned = T.Boolean({ description: 'Whether every job of the agent is given it.' })
export const playbookStatuses = ['active', 'archived'] as const
export const PlaybookStatus = oneOf(playbookStatuses, {
  description: 'archived: the agent does not see it.',
})

export const playbookRecord = declare(
  'playbook',
  { title: 'Playbook', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id, fixed: true },
    slug: { type: 'text', shown: Slug, fixed: true },
    name: { type: 'text', shown: T.String() },
    description: { type: 'text', shown: nullable(T.String()) },
    content: { shown: T.String({ description: 'Of its active version.' }), from: 'view' },
    pinned: { type: 'boolean', shown: Pinned },
    status: { type: 'text', shown: PlaybookStatus },
    created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    updated_at: { type: 'timestamp with time zone', shown: Time },
  },
)

const author = {
  kind: oneOf(['key', 'session', 'channel', 'agent', 'system']),
  id: T.String({ description: 'Of agent: its job.' }),
  personId: nullable(Id),
}
const ShownAuthor = record(author, { title: 'PlaybookAuthor' })
const Author = record({ ...author, personId: T.Optional(author.personId) })

export const versionStates = ['draft', 'active', 'retired', 'rejected'] as const

export const versionRecord = declare(
  'playbook_version',
  { title: 'PlaybookVersion', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id, fixed: true },
    playbook_id: { type: 'uuid', shown: Id, fixed: true },
    number: { type: 'integer', shown: T.Integer(), fixed: true },
    content: { type: 'text', shown: T.String(), fixed: true },
    rationale: { type: 'text', shown: nullable(T.String()), fixed: true },
    state: {
      type: 'text',
      shown: oneOf(versionStates, {
        description: 'One version is active. draft: waits for a decision.',
      }),
    },
    untrusted: {
      type: 'boolean',
      shown: T.Boolean({
        description: 'Drafted by a job that had read text of people outside the workspace.',
      }),
    },
    author: { type: 'jsonb', of: Author, shown: ShownAuthor, fixed: true },
    decided_by: { type: 'jsonb', of: Author, shown: nullable(ShownAuthor) },
    decided_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    updated_at: { type: 'timestamp with time zone', shown: Time },
    spaced: {
      type: 'text',
      null: true,
      hidden: 'the content with spaces between words, where its script has none',
      from: 'elsewhere',
      unexported: 'follows from the content, which is exported',
    },
  },
)
