/** The kinds of generations, each for a lane of its own. */
import { type Article, articleItem, articleLengths, readyArticle } from '#domain/article'
import { pointsOf, postOf } from '#domain/article-text'
import { type Batch, itemOf, ready } from '#domain/batch'
import type { ArticleBrief, ArticleSet, BriefLearning, RecentPost } from '#domain/draft'
import { MOST_ACTIVE_LEARNINGS } from '#domain/learning'
import { type Product, productsForBrief } from '#domain/product'
import { newId } from '#kernel/ids'
import { mentionsArchived } from '#port/model/check-draft'
import type { Capabilities } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { currentDefault } from '#store/connections'
import type { Sql } from '#store/db'
import { endedEffects, failedEffects, generations } from '#store/generations'
import { insertItem, recentItems } from '#store/items'
import { activeLearnings } from '#store/learnings'
import { allProducts } from '#store/products'
import { currentProfile } from '#store/profiles'
import { type BatchBrief, type BatchSet, draftArms, sharesOf } from './arms.ts'
import { growthAudit } from './audited.ts'
import { type GenerationDeps, type GenerationKind, generationLane } from './generation.ts'

/** How many earlier posts a new batch is held against. */
const RECENT_POSTS = 100

/** Of the network that things go out to now. */
const capabilitiesNow = async (sql: Sql, networks: Networks): Promise<Capabilities> => {
  const connection = await currentDefault(sql)
  return ((connection && networks.named(connection.network)) ?? networks.first).capabilities
}

const productsNow = async (sql: Sql) => productsForBrief((await allProducts(sql)) as unknown as Product[])

/** What the workspace brings to everything that is drafted for it. */
const workspaceBrief = async (sql: Sql) => ({
  profile: (await currentProfile(sql)).profile,
  learnings: (await activeLearnings(MOST_ACTIVE_LEARNINGS)(sql)) as unknown as BriefLearning[],
  ...(await productsNow(sql)),
})

const batch: GenerationKind<Batch, BatchBrief, BatchSet> = {
  kind: 'batch',
  kept: generations.batch,
  async brief(sql, networks, { id, requested, focus, experiment_id }) {
    const { maxLength, measure } = await capabilitiesNow(sql, networks)
    const recent = (await recentItems(RECENT_POSTS)(sql)) as unknown as RecentPost[]
    const shares = await sharesOf(sql, { id, experiment_id, requested })
    return { ...(await workspaceBrief(sql)), ...shares, count: requested, focus, recent, maxLength, measure, seed: id }
  },
  write: draftArms,
  tooLate: 'ask for fewer posts',
  async delivered(record, written, { sql, brief, taken, now, work }) {
    // A product may have been archived while the model wrote.
    const offered = await productsNow(sql)
    const set = { ...written, drafts: written.drafts.filter(({ body }) => !mentionsArchived(body, offered)) }
    const done = ready(record, set, { taken, now })
    const items = set.drafts
      .slice(0, record.requested)
      .map((one) =>
        itemOf(one, { id: newId(), batchId: record.id, experimentId: record.experiment_id, length: brief.measure(one.body), now }),
      )
    const effects = endedEffects(generations.batch.save, done, work)
    return { ...effects, writes: [...(effects.writes ?? []), ...items.map(insertItem)] }
  },
}

const ARCHIVED_MEANWHILE = 'generation_failed: a product that it mentions was archived meanwhile; ask again'

const article: GenerationKind<Article, ArticleBrief, ArticleSet> = {
  kind: 'article',
  kept: generations.article,
  async brief(sql, networks, { id, topic, length, outline }) {
    const { maxLongLength, measure } = await capabilitiesNow(sql, networks)
    const points = pointsOf(outline ?? '')
    return { ...(await workspaceBrief(sql)), topic, points, words: articleLengths[length], maxLength: maxLongLength, measure, seed: id }
  },
  write: (drafter, brief, signal) => drafter.article(brief, signal),
  tooLate: 'ask for a shorter article',
  async delivered(record, set, { sql, brief, now, work }) {
    const { title, text } = set.article
    if (mentionsArchived(postOf(title, text), await productsNow(sql)))
      return failedEffects(generations.article, record, { error: ARCHIVED_MEANWHILE, now, work })
    const item = articleItem(set, { id: newId(), measure: brief.measure, now })
    const effects = endedEffects(generations.article.save, readyArticle(record, set, { item, now }), work)
    return { ...effects, writes: [insertItem(item), ...(effects.writes ?? [])] }
  },
}

/** A lane for each kind. */
export const generationLanes = (deps: GenerationDeps) => [
  generationLane(deps, batch),
  generationLane(deps, article),
  generationLane(deps, growthAudit),
]
