import type { articles } from '#contract/growth/articles'
import { admitArticle } from '#decisions/growth/admission'
import { generationStores } from '#decisions/growth/generations'
import { MOST_POINTS, pointsOf } from '#domain/growth/drafting/article-text'
import { requireActiveChannel } from '#domain/growth/drafting/growth-channel'
import { itemView } from '#domain/growth/drafting/item-view'
import { faultOfArticles } from '#domain/growth/sending/account-fit'
import { fail } from '#kernel/errors'
import { limitsFor } from '#port/network/registry'
import { articleById, listArticles } from '#store/growth/articles'
import { defaultPart } from '#store/growth/connections'
import { channelPart } from '#store/growth/growth-channels'
import { itemById } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { periodOf } from '../engine/time-input.ts'
import { cancelling } from './shared/cancelling.ts'

const requireUsable = (outline: string): void => {
  const points = pointsOf(outline).length
  if (points <= MOST_POINTS) return
  const message = `has ${points} points; the maximum is ${MOST_POINTS}`
  fail('invalid_input', `outline ${message}`, { details: [{ path: 'outline', message }] })
}

export const articleHandlers: Handlers<typeof articles> = {
  create: loading(
    () => ({ channel: channelPart('articles'), account: defaultPart }),
    ({ topic, length = 'medium', outline = '' }, { gate, networks }, { channel, account }) => {
      requireUsable(outline)
      requireActiveChannel(channel)
      const request = { topic: topic.trim(), length, outline: outline.trim() || null }
      const { record: article, effects } = admitArticle({ gate, origin: 'manual' }, request)
      const fault = faultOfArticles({ account, limits: limitsFor(networks, account) })
      const warnings =
        fault === undefined
          ? []
          : [
              {
                code: 'no_articles' as const,
                message: `${fault}; cancel it, or choose another account for it`,
              },
            ]
      return { reply: { article, warnings }, effects, refId: article.id }
    },
  ),

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listArticles({ ...page, ...periodOf(input), status: input.status })),
      page.limit,
    )
    return { articles: rows, next_cursor }
  },

  async get({ id }, { read }) {
    const [article] = await read(articleById(id))
    if (!article) return fail('not_found', 'no such article')
    const [item] = article.item_id ? await read(itemById(article.item_id)) : []
    return { article: { ...article, item: item ? itemView(item) : null } }
  },

  cancel: cancelling('article', generationStores.article, (record) => ({ article: record })),
}
