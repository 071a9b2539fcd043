/** What the workspace stands for, its audience and its style, and the earlier versions of these. */
import { Type as T } from '@sinclair/typebox'
import { AuthorSchema, nullable, record, Time } from '../../shapes.ts'
import { times } from '../fields.ts'
import { declare } from '../record.ts'
import { OnMissedSchema } from './item.ts'

const entries = (description: string) =>
  T.Array(T.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 100, description })

const lists = {
  voice_rules: entries('How posts should sound, one rule per entry.'),
  stories: entries('Real events, in your own words.'),
  proof: entries('Results, numbers and names that drafts may cite.'),
  patterns: entries('Post formats that suit you.'),
  use: entries('Phrases that drafts should use.'),
  avoid: entries('Phrases that no draft may contain.'),
}

/** Surfaces accept an alias for one of the lists. */
export const WritingDna = record(
  { voice: entries('Alias of voice_rules.'), ...lists },
  { title: 'WritingDna' },
)

export const profileFields = {
  goal: T.String({ maxLength: 2_000, description: 'What posts should achieve.' }),
  audience: T.String({ maxLength: 2_000, description: 'Who the posts are for.' }),
  voice: T.String({ maxLength: 2_000, description: 'How posts sound.' }),
  language: T.String({
    format: 'language',
    maxLength: 35,
    description: 'A BCP 47 language tag, such as en or pt-BR.',
  }),
  time_zone: T.String({
    format: 'time-zone',
    maxLength: 64,
    description: 'An IANA time zone, such as Europe/Berlin.',
  }),
  on_missed: OnMissedSchema,
}

/** What drafts are made from. */
export const ProfileData = T.Object({ ...profileFields, writing_dna: T.Object(lists) })

/** Fields that were added later are absent until the next change. */
const data = {
  type: 'jsonb',
  of: T.Partial(ProfileData),
  hidden: 'shown field by field',
} as const

const IN_REVISION = 'shown with the versions of the profile'

export const profileRecord = declare(
  'profile',
  {},
  {
    data,
    revision: { type: 'integer', shown: T.Integer() },
    written_by: { type: 'jsonb', of: AuthorSchema, null: true, hidden: IN_REVISION },
    changed: { type: 'text[]', hidden: IN_REVISION },
    ...times,
  },
)

export const profileRevisionRecord = declare(
  'profile_revision',
  { title: 'ProfileRevision' },
  {
    number: { type: 'integer', shown: T.Integer() },
    data,
    profile: { shown: record({ ...profileFields, writing_dna: WritingDna }), from: 'view' },
    written_by: { type: 'jsonb', shown: nullable(AuthorSchema) },
    written_at: { type: 'timestamp with time zone', shown: Time },
    changed: {
      type: 'text[]',
      shown: T.Array(T.String(), {
        description: 'The fields and lists that differ from the version before.',
      }),
    },
  },
)
