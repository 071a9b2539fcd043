/** An article: a long text, held by one item and posted as one long post. */
import type { articleRecord } from '#contract/records/growth/article'
import type { RowOf } from '#contract/records/record'
import { postOf } from './article-text.ts'
import type { ArticleSet } from './draft.ts'
import { type FinishedGeneration, newGeneration, refund, type TakenQuota } from './generation.ts'
import { ARTICLE_HOOK } from './hooks.ts'
import { type Item, newDraftItem } from './item.ts'
import { byArticle } from './source.ts'

/** The lengths on offer, in words, approximately. */
export const articleWords = { short: 600, medium: 1_200, long: 2_400 } as const
export type ArticleLength = keyof typeof articleWords

export type Article = RowOf<typeof articleRecord>

interface ArticleRequest {
  topic: string
  length: ArticleLength
  outline: string | null
  /** The rule that requests it. */
  rule_id?: string | null
}

export const newArticle = (
  id: string,
  { now, rule_id = null, ...request }: ArticleRequest & { now: Date },
): Article => ({
  ...newGeneration(id, now),
  ...request,
  rule_id,
  title: null,
  item_id: null,
})

/**
 * Completes the article with its item, which waits for approval. A failed article has no event:
 * only the workspace itself is interested.
 */
export const readyArticle = (
  article: Article,
  { article: { title }, model, usage }: ArticleSet,
  { item, now }: { item: Item; now: Date },
) => {
  const record: Article = {
    ...article,
    status: 'ready',
    title,
    item_id: item.id,
    model,
    usage,
    updated_at: now,
  }
  const data = { kind: 'article', article_id: article.id, item_id: item.id }
  return {
    record,
    events: [{ type: 'growth.approval.requested', data }],
    refund: [],
  } satisfies FinishedGeneration<Article>
}

/** Fails the article and refunds its quota. */
export const failedArticle = (
  article: Article,
  error: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Article> => ({
  record: { ...article, status: 'failed', error, updated_at: now },
  events: [],
  refund: refund(taken, taken.amount),
})

interface NewArticleItem {
  id: string
  article: Pick<Article, 'id' | 'rule_id'>
  measure(text: string): number
  now: Date
}

/** The item of a written article. `measure` is the network's own count. */
export const articleItem = (
  { article: { title, text, ...about } }: ArticleSet,
  { id, article, measure, now }: NewArticleItem,
): Item => {
  const body = postOf(title, text)
  const draft = { ...about, body, format: 'article', hook: ARTICLE_HOOK }
  const source = byArticle(article)
  return {
    ...newDraftItem(draft, { id, length: measure(body), source, now }),
    kind: 'article',
    title,
  }
}
