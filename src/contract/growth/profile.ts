import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { profileFields, profileRevisionRecord, WritingDna } from '../records/growth/profile.ts'
import { cursorLike, NextCursor, nullable, page, record, Time } from '../shapes.ts'

/** Entries to change in several lists, by the name of the list. */
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

export const ProfileSchema = record(
  {
    ...profileFields,
    writing_dna: WritingDna,
    revision: T.Integer({ description: 'Counts its versions; 0 before the first.' }),
    created_at: nullable(Time),
    updated_at: nullable(Time),
  },
  { title: 'Profile' },
)

const OneProfile = record({ profile: ProfileSchema })

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
        ...T.Partial(T.Object(profileFields)).properties,
        writing_dna: T.Optional(
          T.Partial(T.Object(WritingDna.properties), { additionalProperties: false }),
        ),
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
      output: record({ revisions: T.Array(profileRevisionRecord.schema), next_cursor: NextCursor }),
    },
  ),
}
