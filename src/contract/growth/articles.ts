import { Type as T } from '@sinclair/typebox'
import { cancels, GenerationStatus, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { Item } from '../records/growth/item.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, record, Time } from '../shapes.ts'

const lengths = ['short', 'medium', 'long'] as const

const fields = {
  id: Id,
  status: GenerationStatus,
  error: nullable(
    T.String({
      description:
        'Set when failed: generation_failed: <hint>, cancelled or enqueue_failed. While queued, plan_invalid:<reason> if it waits for billing.',
    }),
  ),
  topic: T.String(),
  length: oneOf(lengths),
  outline: nullable(T.String()),
  title: nullable(T.String({ description: 'The published title, set once ready. You can change it on approval.' })),
  item_id: nullable(T.String({ format: 'uuid', description: 'The item to approve, set once ready.' })),
  model: nullable(T.String({ description: 'What wrote it: a model name, or composer for the offline drafter.' })),
  usage: nullable(record({ input_tokens: T.Integer(), output_tokens: T.Integer(), cost_micros: T.Integer() })),
  created_at: Time,
  updated_at: Time,
}

const Article = record(fields, { title: 'Article' })

export const articles = {
  create: op.command(
    'POST /api/v1/growth/articles',
    'Draft an article from the growth profile. Uses one article of the monthly quota, returned if drafting fails. Poll the article until ready or failed. 409 while the articles channel is inactive. The text is an item: approve it to post it as one long post.',
    {
      input: {
        topic: T.String({
          minLength: 1,
          maxLength: 2_000,
          pattern: NOT_BLANK,
          description: 'What it is about.',
          examples: ['late deliveries'],
        }),
        length: T.Optional(oneOf(lengths, { default: 'medium', description: 'About 600, 1,200 or 2,400 words. Default medium.' })),
        outline: T.Optional(
          T.String({ maxLength: 4_000, description: 'The points to make, in order, one per line; each becomes a heading. At most 12.' }),
        ),
      },
      output: record({ article: Article }),
    },
    {
      tool: 'growth_create_article',
      agent: 'draft',
      status: 201,
      feature: 'articles',
      quota: 'articles',
      cap: 'create_article',
      errors: ['conflict'],
      roles: ['editor'],
      settles: 'get',
    },
  ),
  list: op.query(
    'GET /api/v1/growth/articles',
    'List articles, newest first. Shows which are ready and why any failed; the texts are items.',
    { input: generationsPage, output: record({ articles: T.Array(Article), next_cursor: NextCursor }) },
    { tool: 'growth_list_articles', agent: 'read' },
  ),
  get: op.query(
    'GET /api/v1/growth/articles/:id',
    'Read an article with its drafted item. While it is in flight, poll about every 20 seconds.',
    { input: { id: Id }, output: record({ article: record({ ...fields, item: nullable(Item) }, { title: 'ArticleWithItem' }) }) },
    { errors: ['not_found'] },
  ),
  cancel: op.command(
    'POST /api/v1/growth/articles/:id/cancel',
    'Cancel an article that is queued or generating. It fails as cancelled, and returns to the quota. One that has settled stays as it is.',
    { input: { id: Id }, output: record({ article: Article }) },
    cancels,
  ),
}
