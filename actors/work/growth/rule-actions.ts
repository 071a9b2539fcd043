/**
 * The actions of rules, by kind: each makes a generation or a draft. All pass the same admission as
 * a person's request.
 */

import {
  type AdmittedGeneration,
  admitArticle,
  admitAudit,
  admitBatch,
  admitEngagement,
  admitReport,
} from '#decisions/growth/admission'
import { takenOf } from '#decisions/growth/generations'
import { itemInserted } from '#decisions/growth/item-writes'
import type { EngageAction } from '#domain/growth/drafting/engagement'
import type { Generation } from '#domain/growth/drafting/generation'
import { requireActiveChannel } from '#domain/growth/drafting/growth-channel'
import { type Item, newDraftItem } from '#domain/growth/drafting/item'
import { byItem } from '#domain/growth/drafting/source'
import { weekAt } from '#domain/growth/learning/report'
import { engageSignal, requireEngageable } from '#domain/growth/learning/signal'
import type { RuleAction, RuleActionKind } from '#domain/growth/rules/rule-action'
import { type MadeKind, type MadeRecord, skips } from '#domain/growth/rules/rule-run'
import type { Occurrence } from '#domain/growth/rules/rule-trigger'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { othersPost } from '#port/network/others-post'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import { engagementOnSignal } from '#store/growth/engagements'
import { channelNamed, channelPart } from '#store/growth/growth-channels'
import { currentProfile } from '#store/growth/profiles'
import { bestToResurface, type Resurfaceable } from '#store/growth/resurface'
import { saveSignal, signalPart } from '#store/growth/signals'

export interface ActionContext {
  sql: Sql
  gate: Gate
  networks: Networks
  /** The id of the rule. */
  rule: string
  /** The occurrence that started it. */
  occurrence: Pick<Occurrence, 'kind' | 'ref'>
}

export interface ActionResult {
  made: MadeRecord
  effects: Effects
}

type Actions = {
  [K in RuleActionKind]: (
    context: ActionContext,
    action: Extract<RuleAction, { kind: K }>,
  ) => Promise<ActionResult>
}

const automatic = (gate: Gate) => ({ gate, origin: 'automatic' }) as const

/** A generation that was admitted. */
const inFlight = (
  kind: MadeKind,
  { record, effects }: AdmittedGeneration<Generation>,
): ActionResult => {
  const [work] = effects.work ?? []
  return {
    made: { kind, id: record.id, inFlight: true, taken: takenOf(work as unknown as Work) },
    effects,
  }
}

const actions: Actions = {
  async draft_batch({ sql, gate, rule: rule_id }, { count, focus }) {
    requireActiveChannel(await channelNamed(sql, 'posts'))
    return inFlight('batch', admitBatch(automatic(gate), { count, focus, rule_id }))
  },
  async draft_article({ sql, gate, rule: rule_id }, { topic, length, outline = null }) {
    requireActiveChannel(await channelNamed(sql, 'articles'))
    const request = { topic, length, outline, rule_id }
    return inFlight('article', admitArticle(automatic(gate), request))
  },
  request_audit: async ({ gate }, { days }) =>
    inFlight('audit', admitAudit(automatic(gate), { days, given: null })),
  draft_engagement: (context, { action }) => draftAnswer(context, action),
  async request_report({ sql, gate }) {
    const { time_zone } = (await currentProfile(sql)).profile
    return inFlight(
      'report',
      admitReport(automatic(gate), {
        week: weekAt(gate.now, time_zone),
        time_zone,
        origin: 'manual',
      }),
    )
  },
  async resurface(
    { sql, gate: { now }, networks: { uncounted } },
    { min_age_days: minAgeDays, min_engagement: minEngagement, min_reactions },
  ) {
    const minReactions = min_reactions ?? (minEngagement > 0 ? null : 0)
    const wanted = { minAgeDays, minEngagement, minReactions, uncounted, now }
    const best = await bestToResurface(sql, wanted)
    if (!best) return fail('conflict', skips.nothing, { reason: 'missing_prerequisite' })
    const item = resurfacedItem(best, now)
    const event = { type: 'growth.approval.requested', data: { kind: 'item', item_id: item.id } }
    return {
      made: { kind: 'item', id: item.id, inFlight: false },
      effects: { writes: itemInserted(item), events: [event] },
    }
  },
}

/**
 * Answers a signal under the network's rules, like a person: drafters write texts, anything else
 * awaits approval at once.
 */
const draftAnswer = async (
  { sql, gate, networks, rule, occurrence }: ActionContext,
  action: EngageAction,
): Promise<ActionResult> => {
  const signalId = occurrence.ref
  const load = {
    signal: signalPart(signalId),
    other: engagementOnSignal({ signalId, action }),
    channel: channelPart('replies'),
  }
  const { other, channel, ...loaded } = await loadNow(sql, load)
  const signal = found(loaded.signal, 'no such signal')
  requireEngageable(signal, gate.now)
  const network = networks.named(signal.network)
  if (!network)
    return fail('conflict', `the network ${signal.network} is no longer supported`, {
      reason: 'missing_prerequisite',
    })
  const { network: name, post_id, post_url, post_author, post_text, addresses_us } = signal
  const post = { network: name, post_id, post_url, post_author, post_text, addresses_us }
  const { measure, maxLength } = network.limits
  const { record, effects } = admitEngagement(
    { ...automatic(gate), requested: { rule } },
    {
      request: { ...post, action, instruction: null, body: null, signal_id: signal.id },
      rule: { measure, maxLength, channel },
      other,
      preflight: network.preflight(action, othersPost(post)),
    },
  )
  const writes = [saveSignal(engageSignal(signal, record.id, gate.now))]
  return {
    made: { kind: 'engagement', id: record.id, inFlight: record.status !== 'drafted' },
    effects: merge(effects, { writes }),
  }
}

const knownOf = ({ rate, reactions }: Pick<Resurfaceable, 'rate' | 'reactions'>): string => {
  if (reactions !== null) return ` with ${reactions} reactions; its network counts no impressions`
  return rate === null ? '' : ` with ${(rate * 100).toFixed(1)} reactions per 100 impressions`
}

const resurfacedItem = (
  { id, posted_at, rate, reactions, length, ...post }: Resurfaceable,
  now: Date,
): Item => {
  const known = knownOf({ rate, reactions })
  const rationale = `First posted on ${posted_at.toISOString().slice(0, 10)}${known}. By now it may be new to many readers.`
  return {
    ...newDraftItem({ ...post, rationale }, { id: newId(), length, source: byItem(id), now }),
    resurfaced_from: id,
  }
}

/** Throws the `AppError` that refuses the action. */
export const act = <K extends RuleActionKind>(
  context: ActionContext,
  action: Extract<RuleAction, { kind: K }>,
): Promise<ActionResult> => actions[action.kind as K](context, action)
