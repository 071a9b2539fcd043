/** A version of a text that is ours. */
import { Type as T } from '@sinclair/typebox'
import { NamedAuthor, nullable, record, Time } from './shapes.ts'

/** What versions of all kinds of texts have. */
export const revisionFields = {
  number: T.Integer({ description: 'From 1.' }),
  written_by: nullable(NamedAuthor),
  written_at: Time,
}

export const BY_A_DRAFTER = 'A version of a text. written_by is null for what a drafter wrote.'

export const EngagementRevision = record(
  {
    ...revisionFields,
    body: nullable(T.String({ description: 'Null for a repost or like, and until drafted.' })),
  },
  { title: 'EngagementRevision', description: BY_A_DRAFTER },
)
