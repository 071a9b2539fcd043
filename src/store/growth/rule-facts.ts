/** Facts that conditions of rules compare, looked up on demand. */
import { budgetsOf } from '#domain/app/plan'
import type { Fact } from '#domain/growth/rules/rule-condition'
import type { Occurrence } from '#domain/growth/rules/rule-trigger'
import { dayAt, hourAt, startOfDay, weekdayAt } from '#kernel/calendar'
import type { Sql } from '../engine/db.ts'
import type { Gate } from '../engine/letter.ts'

interface FactContext {
  sql: Sql
  gate: Gate
  /** The rule's. */
  timeZone: string
  occurrence: Pick<Occurrence, 'kind' | 'ref'>
}

const count = async (rows: Promise<unknown>): Promise<number> => (await (rows as Promise<{ count: number }[]>))[0]!.count

const quotaLeft = ({ plan, counters, now }: Gate, wanted: string): number => {
  const { used, limit } = budgetsOf({ plan, counters, now }).quotas.find(({ key }) => key === wanted)!
  return Math.max(0, limit - used)
}

const ofItem = async ({ sql, occurrence }: FactContext, column: 'hook' | 'format' | 'kind'): Promise<string> => {
  const [row] = (await sql`select hook, format, kind from item where id = ${occurrence.ref}`) as unknown as Record<string, string>[]
  return row?.[column] ?? ''
}

const lookUp: Record<Fact, (context: FactContext) => number | string | Promise<number | string>> = {
  approvals_waiting: ({ sql }) => count(sql`select count(*)::int from item where status = 'drafted'`),
  scheduled_ahead: ({ sql, gate }) => count(sql`select count(*)::int from item where status = 'approved' and post_at > ${gate.now}`),
  posted_today: ({ sql, gate, timeZone }) =>
    count(sql`select count(*)::int from item where status = 'posted' and posted_at >= ${startOfDay(dayAt(gate.now, timeZone), timeZone)}`),
  hour: ({ timeZone, gate }) => hourAt(gate.now, timeZone),
  weekday: ({ timeZone, gate }) => weekdayAt(gate.now, timeZone),
  posts_left: ({ gate }) => quotaLeft(gate, 'posts'),
  articles_left: ({ gate }) => quotaLeft(gate, 'articles'),
  item_hook: (context) => ofItem(context, 'hook'),
  item_format: (context) => ofItem(context, 'format'),
  item_kind: (context) => ofItem(context, 'kind'),
}

/** The current value of each fact. */
export const factsNow = async (facts: Iterable<Fact>, context: FactContext): Promise<Map<Fact, number | string>> => {
  const known = new Map<Fact, number | string>()
  for (const fact of new Set(facts)) known.set(fact, await lookUp[fact](context))
  return known
}
