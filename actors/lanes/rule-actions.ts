/** What each action of a rule makes, by kind: a record to come, or a draft. All of it goes through admission, as anybody's wish does. */
import type { Generation } from '#domain/generation'
import { requireActive } from '#domain/growth-channel'
import { drafted, type Item } from '#domain/item'
import { weekAt } from '#domain/report'
import type { Action, ActionKind } from '#domain/rule-action'
import { type Made, type MadeKind, skips } from '#domain/rule-run'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type Admitted, admitArticle, admitAudit, admitBatch, admitReport } from '#store/admission'
import type { Sql } from '#store/db'
import { takenOf } from '#store/generations'
import { channelNamed } from '#store/growth-channels'
import { insertItem } from '#store/items'
import type { Effects, Gate } from '#store/letter'
import { currentProfile } from '#store/profiles'
import { bestToResurface, type Resurfaceable } from '#store/resurface'
import type { Work } from '#store/work'

export interface Acting {
  sql: Sql
  gate: Gate
}

export interface Acted {
  made: Made
  effects: Effects
}

type Acts = { [K in ActionKind]: (acting: Acting, action: Extract<Action, { kind: K }>) => Promise<Acted> }

const asked = (gate: Gate) => ({ gate, origin: 'automatic' }) as const

/** A generation that has been taken in. */
const inFlight = (kind: MadeKind, { record, effects }: Admitted<Generation>): Acted => {
  const [work] = effects.work ?? []
  return { made: { kind, id: record.id, taken: takenOf(work as unknown as Work) }, effects }
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
  async request_report({ sql, gate }) {
    const { time_zone } = (await currentProfile(sql)).profile
    return inFlight('report', admitReport(asked(gate), { week: weekAt(gate.now, time_zone), time_zone, origin: 'manual' }))
  },
  async resurface({ sql, gate: { now } }, { min_age_days: minAgeDays, min_engagement: minEngagement }) {
    const found = await bestToResurface(sql, { minAgeDays, minEngagement, now })
    if (!found) return fail('conflict', skips.nothing)
    const item = takenUp(found, now)
    const event = { type: 'growth.approval.requested', data: { kind: 'item', item_id: item.id } }
    return { made: { kind: 'item', id: item.id }, effects: { writes: [insertItem(item)], events: [event] } }
  },
}

const takenUp = ({ id, posted_at, rate, length, ...post }: Resurfaceable, now: Date): Item => {
  const known = rate === null ? '' : ` with ${(rate * 100).toFixed(1)} reactions per 100 impressions`
  const rationale = `It went out on ${posted_at.toISOString().slice(0, 10)}${known}, and may be news to many by now.`
  return { ...drafted({ ...post, rationale }, { id: newId(), length, now }), resurfaced_from: id }
}

/** Throws the `AppError` of whatever forbids it. */
export const act = <K extends ActionKind>(acting: Acting, action: Extract<Action, { kind: K }>): Promise<Acted> =>
  actions[action.kind as K](acting, action)
