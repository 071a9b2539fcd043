/** What each action of a rule makes, by kind: a record to come, or a draft. All of it goes through admission, as anybody's wish does. */

import { type AdmittedGeneration, admitArticle, admitAudit, admitBatch, admitEngagement, admitReport } from '#decisions/growth/admission'
import { takenOf } from '#decisions/growth/generations'
import type { EngageAction } from '#domain/growth/drafting/engagement'
import type { Generation } from '#domain/growth/drafting/generation'
import { requireActive } from '#domain/growth/drafting/growth-channel'
import { type Item, newDraftItem } from '#domain/growth/drafting/item'
import { weekAt } from '#domain/growth/learning/report'
import { engageSignal, requireEngageable } from '#domain/growth/learning/signal'
import type { RuleAction, RuleActionKind } from '#domain/growth/rules/rule-action'
import { type MadeKind, type MadeRecord, skips } from '#domain/growth/rules/rule-run'
import type { Occurrence } from '#domain/growth/rules/rule-trigger'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { othersPost } from '#port/network/others-post'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { channelNamed } from '#store/growth/growth-channels'
import { insertItem } from '#store/growth/items'
import { currentProfile } from '#store/growth/profiles'
import { bestToResurface, type Resurfaceable } from '#store/growth/resurface'
import { lockSignal, saveSignal } from '#store/growth/signals'

export interface Acting {
  sql: Sql
  gate: Gate
  networks: Networks
  /** What set the rule off. */
  occurrence: Pick<Occurrence, 'kind' | 'ref'>
}

export interface Acted {
  made: MadeRecord
  effects: Effects
}

type Acts = { [K in RuleActionKind]: (acting: Acting, action: Extract<RuleAction, { kind: K }>) => Promise<Acted> }

const asked = (gate: Gate) => ({ gate, origin: 'automatic' }) as const

/** A generation that has been taken in. */
const inFlight = (kind: MadeKind, { record, effects }: AdmittedGeneration<Generation>): Acted => {
  const [work] = effects.work ?? []
  return { made: { kind, id: record.id, inFlight: true, taken: takenOf(work as unknown as Work) }, effects }
}

const actions: Acts = {
  async draft_batch({ sql, gate }, { count, focus }) {
    requireActive(await channelNamed(sql, 'posts'))
    return inFlight('batch', admitBatch(asked(gate), { count, focus }))
  },
  async draft_article({ sql, gate }, { topic, length, outline = null }) {
    requireActive(await channelNamed(sql, 'articles'))
    return inFlight('article', admitArticle(asked(gate), { topic, length, outline }))
  },
  request_audit: async ({ gate }, { days }) => inFlight('audit', admitAudit(asked(gate), { days, given: null })),
  draft_engagement: (acting, { action }) => answered(acting, action),
  async request_report({ sql, gate }) {
    const { time_zone } = (await currentProfile(sql)).profile
    return inFlight('report', admitReport(asked(gate), { week: weekAt(gate.now, time_zone), time_zone, origin: 'manual' }))
  },
  async resurface({ sql, gate: { now } }, { min_age_days: minAgeDays, min_engagement: minEngagement }) {
    const found = await bestToResurface(sql, { minAgeDays, minEngagement, now })
    if (!found) return fail('conflict', skips.nothing)
    const item = takenUp(found, now)
    const event = { type: 'growth.approval.requested', data: { kind: 'item', item_id: item.id } }
    return { made: { kind: 'item', id: item.id, inFlight: false }, effects: { writes: [insertItem(item)], events: [event] } }
  },
}

/** As a person who answers a signal does, by the network's rules: words are left to the drafter, the rest waits for approval at once. */
const answered = async ({ sql, gate, networks, occurrence }: Acting, action: EngageAction): Promise<Acted> => {
  const signal = await lockSignal(sql, occurrence.ref)
  requireEngageable(signal, gate.now)
  const network = networks.named(signal.network)
  if (!network) return fail('conflict', `the network ${signal.network} is no longer supported`)
  const { network: name, post_id, post_url, post_author, post_text, addresses_us } = signal
  const post = { network: name, post_id, post_url, post_author, post_text, addresses_us }
  const { measure, maxLength } = network.limits
  const { record, effects } = await admitEngagement(sql, asked(gate), {
    wish: { ...post, action, instruction: null, body: null, signal_id: signal.id },
    rule: { measure, maxLength, channel: await channelNamed(sql, 'replies') },
    preflight: network.preflight(action, othersPost(post)),
  })
  const writes = [saveSignal(engageSignal(signal, record.id, gate.now))]
  return {
    made: { kind: 'engagement', id: record.id, inFlight: record.status !== 'drafted' },
    effects: merge(effects, { writes }),
  }
}

const takenUp = ({ id, posted_at, rate, length, ...post }: Resurfaceable, now: Date): Item => {
  const known = rate === null ? '' : ` with ${(rate * 100).toFixed(1)} reactions per 100 impressions`
  const rationale = `It went out on ${posted_at.toISOString().slice(0, 10)}${known}, and may be news to many by now.`
  return { ...newDraftItem({ ...post, rationale }, { id: newId(), length, now }), resurfaced_from: id }
}

/** Throws the `AppError` of whatever forbids it. */
export const act = <K extends RuleActionKind>(acting: Acting, action: Extract<RuleAction, { kind: K }>): Promise<Acted> =>
  actions[action.kind as K](acting, action)
