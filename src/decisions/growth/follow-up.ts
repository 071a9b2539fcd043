/** What follows from the events of a decision: the work of telling of them, and of reading what becomes of posts. */
import { subjectOf, wants } from '#domain/app/webhook'
import { FIRST_READ_MS } from '#domain/growth/learning/metric-sync'
import type { Consequences, Effects, Gate, NewWork } from '#store/engine/letter'
import type { NewEvent } from '#store/engine/outbox'
import { newWork } from '../work.ts'
import { withRuns } from './occurrences.ts'

/**
 * The tenant's one row of delivery work; added again it only hastens what waits. It counts as asked for by a person: pausing
 * all automation does not stop it, for events tell what has happened and do nothing.
 */
export const deliveryWork = ({ tenantId, now }: { tenantId: string; now: Date }): NewWork =>
  newWork('delivery', { refId: tenantId, origin: 'manual', runAt: now })

/** The tenant's one row of reading what networks count: added again it only hastens the next read. The kill switch holds it. */
export const metricsWork = ({ tenantId, runAt }: { tenantId: string; runAt: Date }): NewWork =>
  newWork('metrics', { refId: tenantId, origin: 'automatic', runAt })

/** The tenant's one row of asking for a report every week; there from the first post on. Of weeks that were over then it tells nothing. */
export const weeklyWork = ({ tenantId, now }: { tenantId: string; now: Date }): NewWork =>
  newWork('weekly_report', { refId: tenantId, origin: 'automatic', runAt: now, payload: { since: now.toISOString() } })

/** Of what has become posted, with a name on its network, the numbers are read from then on; and there is something to report. */
const watched = (events: NewEvent[] = [], now: Date, tenantId: string): NewWork[] => {
  const isNamed = ({ type, data }: NewEvent) => type === 'growth.item.posted' && Boolean(data.external_id)
  if (!events.some(isNamed)) return []
  const reading = metricsWork({ tenantId, runAt: new Date(now.getTime() + FIRST_READ_MS) })
  return [reading, weeklyWork({ tenantId, now })]
}

/** Marks those that the endpoint wants, by its allow-list (null: there is no active endpoint); undefined when none is to be sent. */
const dueEvents = (events: NewEvent[] = [], allowed: readonly string[] | null): NewEvent[] | undefined => {
  if (!allowed || events.length === 0) return undefined
  const marked = events.map((event) => (wants(allowed, event.type) ? { ...event, due: true, subject: subjectOf(event.data) } : event))
  return marked.some(({ due }) => due) ? marked : undefined
}

/** The effects, with what follows from their events: those marked that the workspace's endpoint wants, and the work there is to do. */
const announced = (effects: Effects, { webhook, now }: Gate, tenantId: string): Effects => {
  const events = dueEvents(effects.events, webhook)
  const work = [...(events ? [deliveryWork({ tenantId, now })] : []), ...watched(effects.events, now, tenantId)]
  if (work.length === 0) return effects
  return { ...effects, ...(events ? { events } : {}), work: [...(effects.work ?? []), ...work] }
}

/** What follows from a decision, to be written in its commit: the runs of rules that it sets off, and what its events bring. */
export const consequences: Consequences = async (sql, effects, { gate, tenantId }) =>
  announced(await withRuns(sql, effects, gate), gate, tenantId)
