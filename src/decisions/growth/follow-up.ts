/**
 * Work that follows from a decision's events: webhook deliveries, reads of metrics, weekly reports.
 */
import { subjectOf, wants } from '#domain/app/webhook'
import { FIRST_READ_MS } from '#domain/growth/learning/metric-sync'
import type { Consequences, Effects, Gate, NewWork } from '#store/engine/letter'
import type { NewEvent } from '#store/engine/outbox'
import { deliveryWork } from '../app/delivery.ts'
import { newWork } from '../work.ts'
import { withMarkWork } from './marks-work.ts'
import { withRuns } from './occurrences.ts'

/**
 * The tenant's one row of metrics work; a second one only hastens the next read. The kill switch
 * holds it.
 */
export const metricsWork = ({ tenantId, runAt }: { tenantId: string; runAt: Date }): NewWork =>
  newWork('metrics', { refId: tenantId, origin: 'automatic', runAt })

/** Reads what addresses an account, again and again while it is connected. */
export const mentionsWork = ({ id }: { id: string }, runAt: Date): NewWork =>
  newWork('mentions', { refId: id, origin: 'automatic', runAt })

/**
 * A week that ends after now is reported on at seven in the morning, and a night may be an hour
 * shorter.
 */
const NO_WEEK_ENDS_MS = 6 * 3_600_000

/**
 * The tenant's one row of weekly-report work, added with the first post. It reports no weeks that
 * had ended by then.
 */
export const weeklyWork = ({ tenantId, now }: { tenantId: string; now: Date }): NewWork =>
  newWork('weekly_report', {
    refId: tenantId,
    origin: 'automatic',
    runAt: new Date(now.getTime() + NO_WEEK_ENDS_MS),
    payload: { since: now.toISOString() },
  })

/** A post with an id on its network has metrics to read, and a week to report on. */
const metricsFollowUp = (events: NewEvent[] = [], now: Date, tenantId: string): NewWork[] => {
  const isNamed = ({ type, data }: NewEvent) =>
    type === 'growth.item.posted' && Boolean(data.external_id)
  if (!events.some(isNamed)) return []
  const reading = metricsWork({ tenantId, runAt: new Date(now.getTime() + FIRST_READ_MS) })
  return [reading, weeklyWork({ tenantId, now })]
}

/**
 * Marks the events that the endpoint subscribes to, by its allow-list (null: no active endpoint).
 * Undefined if none is to be sent.
 */
const dueEvents = (
  events: NewEvent[] = [],
  allowed: readonly string[] | null,
): NewEvent[] | undefined => {
  if (!allowed || events.length === 0) return undefined
  const marked = events.map((event) =>
    wants(allowed, event.type) ? { ...event, due: true, subject: subjectOf(event.data) } : event,
  )
  return marked.some(({ due }) => due) ? marked : undefined
}

/** Whether the tenant already has a row of this kind that the new one would leave unchanged. */
const changesNothing = ({ kind, second, runAt }: NewWork, { standing = {} }: Effects): boolean => {
  const due = standing[kind]
  return due ? second === 'keeps' || (second === 'hastens' && due <= runAt) : false
}

/** The effects with their due events marked, and with the work that follows from them. */
const withEventWork = (effects: Effects, { webhook, now }: Gate, tenantId: string): Effects => {
  const events = dueEvents(effects.events, webhook)
  const followUp = metricsFollowUp(effects.events, now, tenantId).filter(
    (work) => !changesNothing(work, effects),
  )
  const work = [...(events ? [deliveryWork({ tenantId, now })] : []), ...followUp]
  if (work.length === 0) return effects
  return { ...effects, ...(events ? { events } : {}), work: [...(effects.work ?? []), ...work] }
}

/**
 * The consequences of a decision, written in its commit: runs of rules, and work that follows from
 * events.
 */
export const consequences: Consequences = async (sql, effects, { gate, tenantId }) =>
  withEventWork(await withRuns(sql, effects, gate), gate, tenantId)

/** The same, where the posts of some networks have marks. */
export const consequencesOn =
  (marking: readonly string[]): Consequences =>
  async (sql, effects, letter) =>
    consequences(sql, withMarkWork(effects, letter.gate, marking), letter)
