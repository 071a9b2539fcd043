import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time } from '../shapes.ts'
import { Item } from './items.ts'

const lengths = ['short', 'medium', 'long'] as const

const fields = {
  id: Id,
  status: oneOf(['queued', 'generating', 'ready', 'failed']),
  error: nullable(T.String({ description: 'With failed: generation_failed: <hint>, cancelled or enqueue_failed.' })),
  topic: T.String(),
  length: oneOf(lengths),
  outline: nullable(T.String()),
  title: nullable(T.String({ description: 'What it goes out under, once it is ready; another one may be given on approval.' })),
  item_id: nullable(T.String({ format: 'uuid', description: 'The item to approve, once it is ready.' })),
  model: nullable(T.String({ description: 'Who wrote it: a model, or composer, the offline drafter.' })),
  usage: nullable(record({ input_tokens: T.Integer(), output_tokens: T.Integer(), cost_micros: T.Integer() })),
  created_at: Time,
  updated_at: Time,
}

const Article = record(fields, { title: 'Article' })

export const articles = {
  create: op(
    'POST /api/v1/growth/articles',
    'Draft an article from the growth profile. Takes one article from the quota of the month, which is given back should it fail. Answers at once; poll the article until it is ready or failed. 409 while channel articles is inactive. Its text is an item: approve it, and it goes out as one long post.',
    {
      input: {
        topic: T.String({
          minLength: 1,
          maxLength: 2_000,
          pattern: NOT_BLANK,
          description: 'What it is about.',
          examples: ['late deliveries'],
        }),
        length: T.Optional(oneOf(lengths, { default: 'medium', description: 'About 600, 1,200 or 2,400 words; medium when absent.' })),
        outline: T.Optional(
          T.String({ maxLength: 4_000, description: 'Its points in their order, a line each; they become its headings. At most 12.' }),
        ),
      },
      output: record({ article: Article }),
    },
    {
      tool: 'growth_create_article',
      status: 201,
      feature: 'articles',
      quota: 'articles',
      cap: 'create_article',
      errors: ['conflict'],
      roles: ['editor'],
      settles: 'get',
    },
  ),
  list: op(
    'GET /api/v1/growth/articles',
    'List articles, newest first. Shows which are ready, and why one failed; the texts themselves are items.',
    { input: page, output: record({ articles: T.Array(Article), next_cursor: NextCursor }) },
    { tool: 'growth_list_articles' },
  ),
  get: op(
    'GET /api/v1/growth/articles/:id',
    'Read one article with its drafted item. While it is in flight, poll about every 20 seconds.',
    { input: { id: Id }, output: record({ article: record({ ...fields, item: nullable(Item) }, { title: 'ArticleWithItem' }) }) },
    { errors: ['not_found'] },
  ),
}
