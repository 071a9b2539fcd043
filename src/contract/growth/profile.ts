import { Type as T } from '@sinclair/typebox'
import { OnMissed } from '../item-record.ts'
import { op } from '../op.ts'
import { nullable, record, Time } from '../shapes.ts'

const entries = (description: string) => T.Array(T.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 100, description })

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
  language: T.String({ format: 'language', maxLength: 35, description: 'A BCP 47 language tag, such as en or pt-BR.' }),
  time_zone: T.String({ format: 'time-zone', maxLength: 64, description: 'An IANA time zone, such as Europe/Berlin.' }),
  on_missed: OnMissed,
}

export const Profile = record(
  { ...fields, writing_dna: record(dna, { title: 'WritingDna' }), created_at: nullable(Time), updated_at: nullable(Time) },
  { title: 'Profile' },
)

const OneProfile = record({ profile: Profile })

export const profile = {
  get: op.query('GET /api/v1/growth/profile', 'Read the growth profile and Writing DNA.', { input: {}, output: OneProfile }),
  update: op.command(
    'PUT /api/v1/growth/profile',
    'Update the growth profile and Writing DNA. Omitted fields keep their value; a list replaces the whole list.',
    {
      input: {
        ...T.Partial(T.Object(fields)).properties,
        writing_dna: T.Optional(T.Partial(T.Object(dna), { additionalProperties: false })),
      },
      output: OneProfile,
    },
    { tool: 'growth_update_profile', agent: 'commit', roles: ['editor'], destructive: true, repeatable: true },
  ),
}
