import { Type as T } from '@sinclair/typebox'
import { cancels, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { articleLengths, articleRecord } from '../records/growth/article.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, record } from '../shapes.ts'

const Article = articleRecord.schema

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
        length: T.Optional(
          oneOf(articleLengths, {
            default: 'medium',
            description: 'About 600, 1,200 or 2,400 words. Default medium.',
          }),
        ),
        outline: T.Optional(
          T.String({
            maxLength: 4_000,
            description:
              'The points to make, in order, one per line; each becomes a heading. At most 12.',
          }),
        ),
      },
      output: record({
        article: Article,
        warnings: T.Array(record({ code: oneOf(['no_articles']), message: T.String() }), {
          description: 'no_articles: the default account could not post it.',
        }),
      }),
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
    {
      input: generationsPage,
      output: record({ articles: T.Array(Article), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_articles', agent: 'read' },
  ),
  get: op.query(
    'GET /api/v1/growth/articles/:id',
    'Read an article with its drafted item. While it is in flight, poll about every 20 seconds.',
    {
      input: { id: Id },
      output: record({
        article: record(
          { ...Article.properties, item: nullable(ItemSchema) },
          { title: 'ArticleWithItem' },
        ),
      }),
    },
    { errors: ['not_found'] },
  ),
  cancel: op.command(
    'POST /api/v1/growth/articles/:id/cancel',
    'Cancel an article that is queued or generating. It fails as cancelled, and returns to the quota. One that has settled stays as it is.',
    { input: { id: Id }, output: record({ article: Article }) },
    cancels,
  ),
}
