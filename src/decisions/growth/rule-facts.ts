/** Facts that conditions of rules compare, looked up on demand. */
import { budgetsOf } from '#domain/app/plan'
import type { Fact } from '#domain/growth/rules/rule-condition'
import type { Occurrence } from '#domain/growth/rules/rule-trigger'
import { dayAt, hourAt, startOfDay, weekdayAt } from '#kernel/calendar'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import {
  countDrafted,
  countPosted,
  countScheduled,
  fieldsOfItem,
  type ItemFields,
} from '#store/growth/rule-facts'

interface FactContext {
  sql: Sql
  gate: Gate
  /** The time zone of the rule. */
  timeZone: string
  occurrence: Pick<Occurrence, 'kind' | 'ref'>
}

const quotaLeft = ({ plan, counters, now }: Gate, quota: string): number => {
  const { used, limit } = budgetsOf({ plan, counters, now }).quotas.find(
    ({ key }) => key === quota,
  )!
  return Math.max(0, limit - used)
}

const itemField = async (
  { sql, occurrence }: FactContext,
  field: keyof ItemFields,
): Promise<string> => (await fieldsOfItem(sql, occurrence.ref))?.[field] ?? ''

const lookUp: Record<Fact, (context: FactContext) => number | string | Promise<number | string>> = {
  approvals_waiting: ({ sql }) => countDrafted(sql),
  scheduled_ahead: ({ sql, gate }) => countScheduled(sql, gate.now),
  posted_today: ({ sql, gate, timeZone }) =>
    countPosted(sql, startOfDay(dayAt(gate.now, timeZone), timeZone)),
  hour: ({ timeZone, gate }) => hourAt(gate.now, timeZone),
  weekday: ({ timeZone, gate }) => weekdayAt(gate.now, timeZone),
  posts_left: ({ gate }) => quotaLeft(gate, 'posts'),
  articles_left: ({ gate }) => quotaLeft(gate, 'articles'),
  item_hook: (context) => itemField(context, 'hook'),
  item_format: (context) => itemField(context, 'format'),
  item_kind: (context) => itemField(context, 'kind'),
}

/** The current value of each fact. */
export const factsNow = async (
  facts: Iterable<Fact>,
  context: FactContext,
): Promise<Map<Fact, number | string>> => {
  const values = new Map<Fact, number | string>()
  for (const fact of new Set(facts)) values.set(fact, await lookUp[fact](context))
  return values
}
