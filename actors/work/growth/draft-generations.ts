/** The kinds of generations, with a lane for each. */

import { failEffects, finishEffects, generationStores } from '#decisions/growth/generations'
import { itemInserted } from '#decisions/growth/item-writes'
import {
  type Article,
  articleItem,
  articleWords,
  readyArticle,
} from '#domain/growth/drafting/article'
import { pointsOf, postOf } from '#domain/growth/drafting/article-text'
import { type Batch, batchItem, grownBatch, readyBatch } from '#domain/growth/drafting/batch'
import type { ArticleBrief, ArticleSet, ReplyBrief, ReplySet } from '#domain/growth/drafting/draft'
import { type Engagement, writtenEngagement } from '#domain/growth/drafting/engagement'
import { noRules } from '#domain/growth/drafting/format-rules'
import { hookChances } from '#domain/growth/drafting/hook-choice'
import { newId } from '#kernel/ids'
import { mentionsArchived } from '#port/model/checks/draft'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { channelNamed } from '#store/growth/growth-channels'
import { hookResults } from '#store/growth/hooks'
import { recentItems } from '#store/growth/items'
import { type BatchBrief, type BatchSet, draftNext, sharesOf } from './arms.ts'
import { growthAudit } from './audit-generation.ts'
import {
  ARCHIVED_MEANWHILE,
  formOf,
  productsNow,
  RECENT_POSTS,
  workspaceBrief,
} from './brief-parts.ts'
import { type GenerationDeps, type GenerationWork, generationLane, runAgain } from './generation.ts'
import { redraft } from './redraft-generation.ts'
import { report } from './report-generation.ts'

/** How many posts earlier runs of a batch asked for, whether or not they got them. */
const askedOf = (work: Work): number => Number(work.payload.asked ?? 0)

const batch: GenerationWork<Batch, BatchBrief, BatchSet> = {
  kind: 'batch',
  store: generationStores.batch,
  async brief(sql, networks, { id, requested, focus, experiment_id }, work) {
    const asked = askedOf(work)
    const form = await formOf(sql, networks, 'post')
    const recent = await recentItems(RECENT_POSTS)(sql)
    const hooks = hookChances(await hookResults(sql), id)
    const shares = await sharesOf(sql, { id, experiment_id, requested }, asked)
    return {
      ...(await workspaceBrief(sql)),
      ...shares,
      count: requested - asked,
      focus,
      recent,
      ...form,
      hooks,
      seed: asked === 0 ? id : `${id} ${asked}`,
    }
  },
  write: draftNext,
  tooLate: 'ask for fewer posts',
  async delivered(record, written, { sql, brief, taken, now, work }) {
    // A product may have been archived while the model was writing.
    const offered = await productsNow(sql)
    const set = {
      ...written,
      drafts: written.drafts.filter(({ body }) => !mentionsArchived(body, offered)),
    }
    const items = set.drafts.slice(0, record.requested - record.delivered).map((one) =>
      batchItem(one, {
        id: newId(),
        batch: record,
        length: brief.measure(one.body),
        now,
      }),
    )
    const { save } = generationStores.batch
    const asked = askedOf(work) + set.asked
    const effects: Effects =
      asked < record.requested
        ? { writes: [save(grownBatch(record, set, now))], ...runAgain(work, { asked }, now) }
        : finishEffects(save, readyBatch(record, set, { taken, now }), work)
    return { ...effects, writes: [...(effects.writes ?? []), ...items.flatMap(itemInserted)] }
  },
}

const article: GenerationWork<Article, ArticleBrief, ArticleSet> = {
  kind: 'article',
  store: generationStores.article,
  async brief(sql, networks, { id, topic, length, outline }) {
    const form = await formOf(sql, networks, 'article')
    const points = pointsOf(outline ?? '')
    return {
      ...(await workspaceBrief(sql)),
      topic,
      points,
      words: articleWords[length],
      ...form,
      seed: id,
    }
  },
  write: (drafter, brief, signal) => drafter.article(brief, signal),
  tooLate: 'ask for a shorter article',
  async delivered(record, set, { sql, brief, now, work }) {
    const { title, text } = set.article
    if (mentionsArchived(postOf(title, text), await productsNow(sql)))
      return failEffects(generationStores.article, record, { error: ARCHIVED_MEANWHILE, now, work })
    const item = articleItem(set, {
      id: newId(),
      article: record,
      measure: brief.measure,
      now,
    })
    const effects = finishEffects(
      generationStores.article.save,
      readyArticle(record, set, { item, now }),
      work,
    )
    return { ...effects, writes: [...itemInserted(item), ...(effects.writes ?? [])] }
  },
}

/** Only for replies and quotes; other actions have nothing to write. */
const engagement: GenerationWork<Engagement, ReplyBrief, ReplySet> = {
  kind: 'engagement',
  store: generationStores.engagement,
  async brief(sql, networks, { id, action, instruction, network, post_author, post_text }) {
    const { maxLength: most, measure } = (networks.named(network) ?? networks.first).limits
    const rules = (await channelNamed(sql, 'replies'))?.format_rules ?? noRules
    const form = { maxLength: Math.min(most, rules.max_length ?? most), measure, rules }
    const post =
      post_author === null || post_text === null ? null : { author: post_author, text: post_text }
    const about = {
      action: action === 'quote' ? action : 'reply',
      post,
      instruction: instruction ?? '',
    } as const
    return { ...(await workspaceBrief(sql)), ...about, ...form, seed: id }
  },
  write: (drafter, brief, signal) => drafter.reply(brief, signal),
  tooLate: 'ask again, or give the body',
  async delivered(record, { reply, model, usage }, { sql, now, work }) {
    if (mentionsArchived(reply.body, await productsNow(sql)))
      return failEffects(generationStores.engagement, record, {
        error: ARCHIVED_MEANWHILE,
        now,
        work,
      })
    return finishEffects(
      generationStores.engagement.save,
      writtenEngagement(record, reply, { model, usage, now }),
      work,
    )
  },
}

export const generationLanes = (deps: GenerationDeps) => ({
  batch: generationLane(deps, batch),
  article: generationLane(deps, article),
  growth_audit: generationLane(deps, growthAudit),
  report: generationLane(deps, report),
  engagement: generationLane(deps, engagement),
  redraft: generationLane(deps, redraft),
})
