/**
 * Rewrites a draft: the new text becomes the item's next revision, if the item is still as it was.
 */
import { failEffects, finishEffects, generationStores } from '#decisions/growth/generations'
import { itemSaved } from '#decisions/growth/item-writes'
import { articleWords } from '#domain/growth/drafting/article'
import { pointsOf, postOf } from '#domain/growth/drafting/article-text'
import type { ArticleBrief, DraftBrief, ModelUsage } from '#domain/growth/drafting/draft'
import { hookChances } from '#domain/growth/drafting/hook-choice'
import { ARTICLE_HOOK } from '#domain/growth/drafting/hooks'
import type { Item } from '#domain/growth/drafting/item'
import {
  isUnmoved,
  MOVED,
  type Redraft,
  type Redrafted,
  readyRedraft,
  redraftedItem,
} from '#domain/growth/drafting/redraft'
import { countWords } from '#port/model/checks/article'
import { mentionsArchived } from '#port/model/checks/draft'
import type { Drafter } from '#port/model/drafter'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { articleOfItem, retitleArticle } from '#store/growth/articles'
import { hookResults } from '#store/growth/hooks'
import { itemById, recentItems } from '#store/growth/items'
import {
  ARCHIVED_MEANWHILE,
  formOf,
  productsNow,
  RECENT_POSTS,
  workspaceBrief,
} from './brief-parts.ts'
import type { GenerationWork } from './generation.ts'

/** Undefined if the item has changed, so that there is nothing left to write. */
type RedraftBrief =
  | { kind: 'post'; post: DraftBrief }
  | { kind: 'article'; article: ArticleBrief }
  | undefined

interface Written {
  /** Absent if there was nothing to write. */
  made?: { text: Redrafted; model: string; usage: ModelUsage }
}

const postBrief = async (
  sql: Sql,
  networks: Networks,
  { item, redraft }: { item: Item; redraft: Redraft },
): Promise<DraftBrief> => ({
  ...(await workspaceBrief(sql)),
  count: 1,
  focus: '',
  recent: await recentItems(RECENT_POSTS, item.id)(sql),
  ...(await formOf(sql, networks, 'post')),
  hooks: hookChances(await hookResults(sql), redraft.id),
  seed: redraft.id,
  revise: { body: item.body, hook: item.hook, hint: redraft.hint },
})

/** The shortest article that a drafter is asked for, in words. */
const LEAST_WORDS = 100

/** An article that a person wrote has no outline, so its title is its topic. */
const articleBrief = async (
  sql: Sql,
  networks: Networks,
  { item, redraft }: { item: Item; redraft: Redraft },
): Promise<ArticleBrief> => {
  const made = await articleOfItem(sql, item.id)
  const words = made
    ? articleWords[made.length]
    : Math.min(articleWords.long, Math.max(LEAST_WORDS, countWords(item.body)))
  return {
    ...(await workspaceBrief(sql)),
    topic: made?.topic ?? item.title ?? redraft.hint,
    points: pointsOf(made?.outline ?? ''),
    words,
    ...(await formOf(sql, networks, 'article')),
    seed: redraft.id,
    revise: { body: item.body, hook: item.hook, hint: redraft.hint },
  }
}

const write = async (
  drafter: Drafter,
  brief: RedraftBrief,
  signal: AbortSignal,
): Promise<Written> => {
  if (!brief) return {}
  if (brief.kind === 'post') {
    const { drafts, ...by } = await drafter.draft(brief.post, signal)
    return { made: { text: { ...drafts[0]!, title: null }, ...by } }
  }
  const { article, ...by } = await drafter.article(brief.article, signal)
  const { title, text, ...about } = article
  return {
    made: {
      text: { ...about, title, body: postOf(title, text), format: 'article', hook: ARTICLE_HOOK },
      ...by,
    },
  }
}

const measureOf = (brief: NonNullable<RedraftBrief>) =>
  (brief.kind === 'post' ? brief.post : brief.article).measure

const store = generationStores.redraft

export const redraft: GenerationWork<Redraft, RedraftBrief, Written> = {
  kind: 'redraft',
  store,
  async brief(sql, networks, record) {
    const [item] = await itemById(record.item_id)(sql)
    if (!item || !isUnmoved(record, item)) return undefined
    const of = { item, redraft: record }
    return item.kind === 'post'
      ? { kind: 'post', post: await postBrief(sql, networks, of) }
      : { kind: 'article', article: await articleBrief(sql, networks, of) }
  },
  write,
  tooLate: 'ask for less, or edit the text',
  async delivered(record, { made }, { sql, brief, now, work }) {
    const [item] = await itemById(record.item_id)(sql)
    if (!item || !isUnmoved(record, item) || !made || !brief)
      return failEffects(store, record, { error: MOVED, now, work })
    const { text, ...by } = made
    if (mentionsArchived(text.body, await productsNow(sql)))
      return failEffects(store, record, { error: ARCHIVED_MEANWHILE, now, work })
    const next = redraftedItem(item, text, { length: measureOf(brief)(text.body), now })
    const effects: Effects = finishEffects(store.save, readyRedraft(record, { ...by, now }), work)
    const retitled = next.title === item.title ? [] : [retitleArticle(next)]
    return {
      ...effects,
      writes: [...(effects.writes ?? []), ...itemSaved(item, next), ...retitled],
    }
  },
}
