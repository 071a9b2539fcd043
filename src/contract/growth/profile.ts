import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { OnMissed } from '../records/growth/item.ts'
import { Author, cursorLike, NextCursor, nullable, page, record, Time } from '../shapes.ts'

const entries = (description: string) =>
  T.Array(T.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 100, description })

const dna = {
  voice: entries('Alias of voice_rules.'),
  voice_rules: entries('How posts should sound, one rule per entry.'),
  stories: entries('Real events, in your own words.'),
  proof: entries('Results, numbers and names that drafts may cite.'),
  patterns: entries('Post formats that suit you.'),
  use: entries('Phrases that drafts should use.'),
  avoid: entries('Phrases that no draft may contain.'),
}

const fields = {
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
  on_missed: OnMissed,
}

/** Entries of several lists, by the name of the list. */
const listChange = (description: string) =>
  T.Optional(
    T.Record(
      T.String({ maxLength: 20 }),
      T.Array(T.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 100 }),
      {
        description,
        examples: [{ proof: ['Late parcels fell by 31%'] }],
      },
    ),
  )

const WritingDna = record(dna, { title: 'WritingDna' })

const ProfileRevision = record(
  {
    number: T.Integer(),
    profile: record({ ...fields, writing_dna: WritingDna }),
    written_by: nullable(Author),
    written_at: Time,
    changed: T.Array(T.String(), {
      description: 'The fields and lists that differ from the version before.',
    }),
  },
  { title: 'ProfileRevision' },
)

export const Profile = record(
  {
    ...fields,
    writing_dna: WritingDna,
    revision: T.Integer({ description: 'Counts its versions; 0 before the first.' }),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { title: 'Profile' },
)

const OneProfile = record({ profile: Profile })

export const profile = {
  get: op.query('GET /api/v1/growth/profile', 'Read the growth profile and Writing DNA.', {
    input: {},
    output: OneProfile,
  }),
  update: op.command(
    'PUT /api/v1/growth/profile',
    'Update the growth profile and Writing DNA. Omitted fields keep their value; a list in writing_dna replaces the whole list, add and remove change single entries.',
    {
      input: {
        revision: T.Optional(
          T.Integer({ minimum: 0, description: 'As read; 409 if there is a newer one.' }),
        ),
        add: listChange('Entries to add, by list.'),
        remove: listChange('Entries to take out, by list.'),
        ...T.Partial(T.Object(fields)).properties,
        writing_dna: T.Optional(T.Partial(T.Object(dna), { additionalProperties: false })),
      },
      output: OneProfile,
    },
    {
      tool: 'growth_update_profile',
      agent: 'commit',
      errors: ['conflict'],
      roles: ['editor'],
      destructive: true,
      repeatable: true,
    },
  ),
  revisions: op.query(
    'GET /api/v1/growth/profile/revisions',
    'List the versions of the profile, newest first, with the present one: what it said, who changed it and when. The newest 50 are kept.',
    {
      input: { ...page, cursor: cursorLike('Mw') },
      output: record({ revisions: T.Array(ProfileRevision), next_cursor: NextCursor }),
    },
  ),
}
