import { Type as T } from '@sinclair/typebox'
import { everybody, nextCursor, use, workers } from '../agent-fields.ts'
import { op } from '../op.ts'
import { documentRecord, documentStatuses, documentTypes } from '../records/agent/document.ts'
import {
  asName,
  cursorLike,
  Id,
  markUntrusted,
  NOT_BLANK,
  nullable,
  oneOf,
  record,
} from '../shapes.ts'

const offset = (description: string, example: number) =>
  T.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    description: `${description}, in UTF-16 code units.`,
    examples: [example],
  })

const Document = documentRecord.schema
const OneDocument = record({ document: Document })

const passage = {
  documentId: Id,
  fileName: T.String(),
  number: T.Integer(),
  heading: nullable(
    T.String({ description: 'The headings over it, the outermost first, with › between.' }),
  ),
  start: offset('Where it begins in the content', 1_200),
  end: offset('Where it ends', 2_380),
  text: T.String(),
  cite: asName(
    T.String({
      description:
        'To cite it by: file, heading and place, as a link in Markdown to the page that shows it.',
    }),
  ),
}
const Passage = record(passage, { title: 'Passage' })

const Hit = record(
  {
    ...passage,
    highlights: T.Array(record({ start: T.Integer(), end: T.Integer() }), {
      description: 'Where the content has words of the query, in any of their forms.',
    }),
    score: T.Number({ description: 'Higher is better, within this answer.' }),
  },
  { title: 'PassageFound' },
)

const documentPage = {
  limit: T.Optional(
    T.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Page size. Default 25.' }),
  ),
  cursor: cursorLike('MDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
}

const query = T.String({
  minLength: 1,
  maxLength: 300,
  pattern: NOT_BLANK,
  description: 'Words to look for.',
  examples: ['refund period'],
})
const most = (usual: number) =>
  T.Optional(
    T.Integer({
      minimum: 1,
      maximum: 20,
      default: usual,
      description: `At most so many. Default ${usual}.`,
    }),
  )

export const documents = {
  list: op.query(
    'GET /api/v1/documents',
    'List documents, newest first. Filter by status or file name.',
    {
      input: {
        status: T.Optional(
          oneOf(documentStatuses, { description: 'Return only documents in this state.' }),
        ),
        fileName: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 240,
            description: 'Return only documents of this name.',
          }),
        ),
        ...documentPage,
      },
      output: record({ documents: T.Array(Document), ...nextCursor }),
    },
    use,
  ),
  search: op.query(
    'GET /api/v1/documents/search',
    'Search documents. Returns passages with any of the words, in any of their forms, the best first; rarer words count for more.',
    { input: { q: query, limit: most(10) }, output: record({ passages: T.Array(Hit) }) },
    use,
  ),
  add: op.command(
    'POST /api/v1/documents',
    'Add a text file, to be searched once it is ready. At most 1 MiB. What it says counts as text of people outside, unless a person or the owner sets trusted in its metadata.',
    {
      input: {
        fileName: T.String({
          minLength: 1,
          maxLength: 240,
          format: 'file-name',
          examples: ['returns.md'],
        }),
        content: T.String({ minLength: 1, examples: ['# Returns\n\nWithin 30 days.'] }),
        mimeType: T.Optional(
          oneOf(documentTypes, {
            description: 'Default: by the end of the name; text/markdown for .md and .markdown.',
          }),
        ),
        metadata: T.Optional(
          T.Record(T.String(), T.Unknown(), {
            description: 'Anything, at most 16 KiB. trusted: true, to vouch for what it says.',
          }),
        ),
      },
      output: OneDocument,
    },
    {
      ...use,
      ...workers,
      status: 201,
      errors: ['conflict'],
      failure: 'enqueue failed',
      settles: 'get',
    },
  ),
  get: op.query(
    'GET /api/v1/documents/:id',
    'Get a document with its content; or with at, the passage at that place in the place of the content.',
    {
      input: { id: Id, at: T.Optional(offset('A place in the content', 1_200)) },
      output: record({
        document: record(
          { ...Document.properties, content: nullable(T.String()) },
          { title: 'DocumentWithContent' },
        ),
        passage: nullable(Passage),
      }),
    },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  remove: op.command(
    'DELETE /api/v1/documents/:id',
    'Delete a document. No search finds it any more.',
    { input: { id: Id }, output: OneDocument },
    { ...use, ...workers, anyId: true, errors: ['not_found'] },
  ),
  retry: op.command(
    'POST /api/v1/documents/:id/retry',
    'Read a document again that failed.',
    { input: { id: Id }, output: OneDocument },
    {
      ...use,
      ...workers,
      anyId: true,
      status: 202,
      errors: ['not_found', 'conflict'],
      settles: 'get',
    },
  ),
}

const found = {
  passages: T.Array(Passage),
  untrusted: markUntrusted(
    T.Array(Passage, { description: 'Of documents that nobody vouches for.' }),
  ),
}

export const documentCapabilities = {
  search_documents: op.query(
    'GET /api/v1/actions/search_documents',
    'Search the documents of the workspace by words. When you use a passage, copy its cite.',
    { input: { query, limit: most(5) }, output: record(found) },
    { ...use, ...everybody, tool: 'search_documents', agent: 'read', foreign: true },
  ),
  read_document: op.query(
    'GET /api/v1/actions/read_document',
    'Read five passages of a document.',
    {
      input: {
        id: Id,
        at: T.Optional(
          T.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Default 0.' }),
        ),
      },
      output: record({
        ...found,
        nextAt: nullable(T.Integer({ description: 'Where to read on.' })),
      }),
    },
    {
      ...use,
      ...everybody,
      tool: 'read_document',
      agent: 'read',
      foreign: true,
      errors: ['not_found', 'conflict'],
    },
  ),
}
