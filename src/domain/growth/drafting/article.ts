/** An article: one long text, drafted as one item that goes out as one long post. */
import { postOf } from './article-text.ts'
import type { ArticleSet } from './draft.ts'
import { type Ended, type Generation, newGeneration, refund, type Taken } from './generation.ts'
import { ARTICLE_HOOK } from './hooks.ts'
import { type Item, newDraftItem } from './item.ts'

/** What lengths can be asked for, and about how many words each has. */
export const articleLengths = { short: 600, medium: 1_200, long: 2_400 } as const
export type ArticleLength = keyof typeof articleLengths

export interface Article extends Generation {
  topic: string
  length: ArticleLength
  /** The points in their order, a line each. */
  outline: string | null
  /** Null until it is ready; what the article goes out under. */
  title: string | null
  /** The item that holds its text, once it is ready. */
  item_id: string | null
}

interface Asked {
  topic: string
  length: ArticleLength
  outline: string | null
  now: Date
}

export const newArticle = (id: string, { now, ...asked }: Asked): Article => ({
  ...newGeneration(id, now),
  ...asked,
  title: null,
  item_id: null,
})

/** Ready with its item, which waits for approval. Nobody but the workspace is told of articles, so no event says that one has failed. */
export const readyArticle = (
  article: Article,
  { article: { title }, model, usage }: ArticleSet,
  { item, now }: { item: Item; now: Date },
) => {
  const record: Article = { ...article, status: 'ready', title, item_id: item.id, model, usage, updated_at: now }
  const data = { kind: 'article', article_id: article.id, item_id: item.id }
  return { record, events: [{ type: 'growth.approval.requested', data }], refund: [] } satisfies Ended<Article>
}

/** The record ends with a code; the quota goes back. */
export const failedArticle = (article: Article, error: string, { taken, now }: { taken: Taken; now: Date }): Ended<Article> => ({
  record: { ...article, status: 'failed', error, updated_at: now },
  events: [],
  refund: refund(taken, taken.amount),
})

/** The item that a person will approve, retitle or reject. `measure`: by the network's own rule. */
export const articleItem = (
  { article: { title, text, ...about } }: ArticleSet,
  { id, measure, now }: { id: string; measure(text: string): number; now: Date },
): Item => {
  const body = postOf(title, text)
  const draft = { ...about, body, format: 'article', hook: ARTICLE_HOOK }
  return { ...newDraftItem(draft, { id, length: measure(body), now }), kind: 'article', title }
}
