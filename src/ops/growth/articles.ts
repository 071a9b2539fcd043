import type { articles } from '#contract/growth/articles'
import { type Article, newArticle } from '#domain/article'
import { MOST_POINTS, pointsOf } from '#domain/article-text'
import { type Item, itemView } from '#domain/item'
import { takeCap, takeQuota } from '#domain/plan'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { articleById, insertArticle, listArticles } from '#store/articles'
import { itemById } from '#store/items'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const requireUsable = (outline: string): void => {
  const points = pointsOf(outline).length
  if (points <= MOST_POINTS) return
  const message = `has ${points} points; at most ${MOST_POINTS}`
  fail('invalid_input', `outline ${message}`, { details: [{ path: 'outline', message }] })
}

export const articleHandlers: Handlers<typeof articles> = {
  async create({ topic, length = 'medium', outline = '' }, { gate }) {
    requireUsable(outline)
    const taken = takeQuota(gate, 'articles', 1)
    const capped = takeCap(gate, 'create_article')
    const article = newArticle(newId(), { topic: topic.trim(), length, outline: outline.trim() || null, now: gate.now })
    const work = {
      id: newId(),
      lane: 'generation',
      kind: 'article',
      refId: article.id,
      origin: 'manual',
      runAt: gate.now,
      payload: { taken },
    } as const
    return { reply: { article }, effects: { writes: [insertArticle(article)], work: [work], spend: [taken, capped] }, refId: article.id }
  },

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Article>(listArticles(page)), page.limit)
    return { articles: rows, next_cursor }
  },

  async get({ id }, { read }) {
    const [article] = await read<Article>(articleById(id))
    if (!article) return fail('not_found', 'no such article')
    const [item] = article.item_id ? await read<Item>(itemById(article.item_id)) : []
    return { article: { ...article, item: item ? itemView(item) : null } }
  },
}
