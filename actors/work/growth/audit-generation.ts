/**
 * Analytics audits: code finds claims, a drafter words them, and those that drafting can follow
 * become learnings.
 */

import { finishEffects, generationStores } from '#decisions/growth/generations'
import { noUsage } from '#domain/growth/drafting/draft'
import { admitLearnings, learningsFrom } from '#domain/growth/learning/audit-learnings'
import {
  type AuditBrief,
  auditLimits,
  type CountedPost,
  type Findings,
  findingsOf,
  type GrowthAudit,
  MATURE_MS,
  readyAudit,
  type SuppliedMetrics,
} from '#domain/growth/learning/growth-audit'
import { MOST_ACTIVE_LEARNINGS, newLearning } from '#domain/growth/learning/learning'
import { cuesOf } from '#domain/growth/reading/cues'
import { newId } from '#kernel/ids'
import type { Drafter } from '#port/model/drafter'
import type { Sql } from '#store/engine/db'
import { countedPosts, itemsForAudit, learningNotes } from '#store/growth/growth-audits'
import { activeLearnings, insertLearning } from '#store/growth/learnings'
import { allProducts } from '#store/growth/products'
import { currentProfile } from '#store/growth/profiles'
import type { GenerationWork } from './generation.ts'

interface Written {
  findings: Findings
  model: string
  usage: GrowthAudit['usage']
}

const DAY_MS = 86_400_000

const suppliedPosts = async (sql: Sql, given: SuppliedMetrics[]): Promise<CountedPost[]> => {
  const items = new Map(
    (
      await itemsForAudit(
        sql,
        given.flatMap(({ item_id }) => item_id ?? []),
      )
    ).map((item) => [item.item_id, item]),
  )
  return given.map(({ item_id, text, posted_at, ...metrics }) => {
    const item = item_id ? items.get(item_id) : undefined
    const at = posted_at ? new Date(posted_at) : (item?.posted_at ?? null)
    return {
      hook: '',
      format: '',
      learnings: [],
      ...item,
      item_id,
      text: text ?? item?.text ?? '',
      posted_at: at,
      metrics,
    }
  })
}

const postsOf = async (
  sql: Sql,
  { given, created_at, days }: GrowthAudit,
): Promise<Pick<AuditBrief, 'posts' | 'tooYoung'>> => {
  if (given) return { posts: await suppliedPosts(sql, given), tooYoung: 0 }
  const since = new Date(created_at.getTime() - days * DAY_MS)
  const all = await countedPosts(sql, { since, limit: auditLimits.posts })
  const posts = all.filter(
    ({ posted_at }) => posted_at!.getTime() <= created_at.getTime() - MATURE_MS,
  )
  return { posts, tooYoung: all.length - posts.length }
}

/** Whether the composer understands which kind of post a note is about. */
const steers = (note: string): boolean => cuesOf(note).some(({ negated }) => !negated)

const write = async (
  drafter: Drafter,
  brief: AuditBrief,
  signal: AbortSignal,
): Promise<Written> => {
  const findings = findingsOf(brief)
  const claims = [...findings.worked, ...findings.flopped, ...findings.hypotheses]
  if (claims.length === 0) return { findings, model: 'composer', usage: noUsage }
  const { sentences, model, usage } = await drafter.reword(
    claims.map(({ wording }) => wording),
    signal,
  )
  const sentenceOf = new Map(
    claims.map((claim, index) => [claim, sentences[index] ?? claim.wording]),
  )
  const worded = (all: Findings['worked']) =>
    all.map((claim) => ({ ...claim, wording: sentenceOf.get(claim)! }))
  const { worked, flopped, hypotheses } = findings
  return {
    findings: {
      ...findings,
      worked: worded(worked),
      flopped: worded(flopped),
      hypotheses: worded(hypotheses),
    },
    model,
    usage,
  }
}

export const growthAudit: GenerationWork<GrowthAudit, AuditBrief, Written> = {
  kind: 'growth_audit',
  store: generationStores.growth_audit,
  async brief(sql, _networks, audit) {
    const products = await allProducts(sql)
    const { profile } = await currentProfile(sql)
    const setting = {
      timeZone: profile.time_zone,
      products: products.map(({ name }) => name),
      learnings: await learningNotes(sql),
    }
    return { ...(await postsOf(sql, audit)), ...setting }
  },
  write,
  tooLate: 'ask for fewer days',
  async delivered(record, { findings, model, usage }, { sql, brief, now, work }) {
    const active = await activeLearnings(MOST_ACTIVE_LEARNINGS)(sql)
    const { added, refused } = admitLearnings(learningsFrom(findings, brief.learnings, steers), {
      active,
      most: MOST_ACTIVE_LEARNINGS,
    })
    const learnings = added.map(({ kind, note, evidence }, index) => ({
      ...newLearning(newId(), { kind, note, active: active.length + index, now }),
      audit_id: record.id,
      evidence,
    }))
    const result = {
      ...findings,
      learnings: learnings.map(({ id, kind, note }) => ({ id, kind, note })),
      not_added: refused,
    }
    const effects = finishEffects(
      generationStores.growth_audit.save,
      readyAudit(record, { result, model, usage: usage ?? noUsage, now }),
      work,
    )
    return {
      ...effects,
      writes: [...(effects.writes ?? []), ...learnings.map((learning) => insertLearning(learning))],
    }
  },
}
