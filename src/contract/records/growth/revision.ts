/** A version of one of our texts: an item's or an engagement's. */
import { Type as T } from '@sinclair/typebox'
import { AuthorSchema, fieldsBut, NamedAuthorSchema, nullable, record, Time } from '../../shapes.ts'
import { declare } from '../record.ts'

const description = 'A version of a text. written_by is null for what a drafter wrote.'

export const revisionRecord = declare(
  'revision',
  { title: 'EngagementRevision', description },
  {
    record_id: { type: 'uuid', hidden: 'the caller has asked for it', fixed: true },
    number: { type: 'integer', shown: T.Integer({ description: 'From 1.' }), fixed: true },
    written_by: {
      type: 'jsonb',
      of: AuthorSchema,
      shown: nullable(NamedAuthorSchema),
      fixed: true,
    },
    written_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    title: { type: 'text', null: true, hidden: 'engagements have none', fixed: true },
    body: {
      type: 'text',
      shown: nullable(T.String({ description: 'Null for a repost or like, and until drafted.' })),
      fixed: true,
    },
  },
)

export const ItemRevision = record(
  {
    ...fieldsBut(revisionRecord.schema, ['body']),
    title: nullable(T.String()),
    body: T.String(),
  },
  { title: 'Revision', description },
)
