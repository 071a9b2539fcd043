/** A text file of the workspace. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, Time } from '../../shapes.ts'
import { declare } from '../record.ts'
import { OnBehalfSchema } from './on-behalf.ts'

export const documentStatuses = ['queued', 'processing', 'ready', 'failed'] as const
export const documentTypes = ['text/plain', 'text/markdown'] as const

export const documentRecord = declare(
  'document',
  { title: 'Document', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id, fixed: true },
    file_name: { type: 'text', shown: T.String(), fixed: true },
    mime_type: { type: 'text', shown: oneOf(documentTypes), fixed: true },
    byte_size: { type: 'integer', shown: T.Integer(), fixed: true },
    length: {
      type: 'integer',
      shown: T.Integer({
        description: 'Of the content, in UTF-16 code units, as all places in it.',
      }),
      fixed: true,
    },
    sha256: {
      type: 'text',
      shown: T.String({ description: 'Of the content, in hex.' }),
      fixed: true,
    },
    metadata: { type: 'jsonb', shown: T.Record(T.String(), T.Unknown()), fixed: true },
    trusted: {
      type: 'boolean',
      shown: T.Boolean({
        description: 'Whether the agent may take its text for that of the workspace.',
      }),
      fixed: true,
    },
    status: {
      type: 'text',
      shown: oneOf(documentStatuses, { description: 'Only ready ones are found by a search.' }),
    },
    error: { type: 'text', shown: nullable(T.String({ description: 'Why it failed.' })) },
    passages: {
      type: 'integer',
      shown: T.Integer({ description: 'How many it was cut into, once it is ready.' }),
    },
    configuration: {
      type: 'text',
      hidden: 'the configuration of full text search by which its words are found',
      fixed: true,
      unexported: 'how the words were found',
    },
    author: {
      type: 'jsonb',
      of: OnBehalfSchema,
      hidden: 'who added it, for the rights of what is done with it',
      fixed: true,
    },
    content: { type: 'text', hidden: 'shown where one document is read', from: 'elsewhere' },
    created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    updated_at: { type: 'timestamp with time zone', shown: Time },
  },
)

/** A passage of the content. Offsets are in UTF-16 code units. */
export const passageRecord = declare(
  'document_passage',
  { hidden: 'searches and the page of the document show them' },
  {
    document_id: { type: 'uuid' },
    number: { type: 'integer' },
    // The headings above it, the outermost first.
    path: { type: 'jsonb', of: T.Array(T.String()) },
    start_at: { type: 'integer' },
    end_at: { type: 'integer' },
    text: {
      type: 'text',
      unexported: 'a part of the content of the document, which is exported',
    },
    // The text with spaces between words, if its script has none.
    spaced: { type: 'text', null: true, unexported: 'follows from the text of the passage' },
  },
)
