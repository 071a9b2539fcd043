/** What conditions of rules compare, looked up as they are asked for. */
import { budgetsOf } from '#domain/app/plan'
import type { Fact } from '#domain/growth/rules/rule-condition'
import type { Occurrence } from '#domain/growth/rules/rule-trigger'
import { nextTime } from '#kernel/cron'
import type { Sql } from '../engine/db.ts'
import type { Gate } from '../engine/letter.ts'

interface Asking {
  sql: Sql
  gate: Gate
  /** Of the rule. */
  timeZone: string
  occurrence: Pick<Occurrence, 'kind' | 'ref'>
}

const count = async (rows: Promise<unknown>): Promise<number> => (await (rows as Promise<{ count: number }[]>))[0]!.count

/** Longer than any day. */
const A_DAY_MS = 25 * 3_600_000

/** The last time that the clocks of a zone showed midnight, or passed over it. */
const midnightBefore = (timeZone: string, now: Date): Date => {
  let last = new Date(now.getTime() - A_DAY_MS)
  for (let next = nextTime('0 0 * * *', timeZone, last); next && next <= now; next = nextTime('0 0 * * *', timeZone, next)) last = next
  return last
}

const onTheClock = (timeZone: string, now: Date, part: 'hour' | 'weekday'): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, [part]: part === 'hour' ? '2-digit' : 'short', hourCycle: 'h23' }).format(now)

const WEEK = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const quotaLeft = ({ plan, counters, now }: Gate, wanted: string): number => {
  const { used, limit } = budgetsOf({ plan, counters, now }).quotas.find(({ key }) => key === wanted)!
  return Math.max(0, limit - used)
}

const ofItem = async ({ sql, occurrence }: Asking, column: 'hook' | 'format' | 'kind'): Promise<string> => {
  const [row] = (await sql`select hook, format, kind from item where id = ${occurrence.ref}`) as unknown as Record<string, string>[]
  return row?.[column] ?? ''
}

const lookUp: Record<Fact, (asking: Asking) => number | string | Promise<number | string>> = {
  approvals_waiting: ({ sql }) => count(sql`select count(*)::int from item where status = 'drafted'`),
  scheduled_ahead: ({ sql, gate }) => count(sql`select count(*)::int from item where status = 'approved' and post_at > ${gate.now}`),
  posted_today: ({ sql, gate, timeZone }) =>
    count(sql`select count(*)::int from item where status = 'posted' and posted_at >= ${midnightBefore(timeZone, gate.now)}`),
  hour: ({ timeZone, gate }) => Number(onTheClock(timeZone, gate.now, 'hour')),
  weekday: ({ timeZone, gate }) => WEEK.indexOf(onTheClock(timeZone, gate.now, 'weekday')) + 1,
  posts_left: ({ gate }) => quotaLeft(gate, 'posts'),
  articles_left: ({ gate }) => quotaLeft(gate, 'articles'),
  item_hook: (asking) => ofItem(asking, 'hook'),
  item_format: (asking) => ofItem(asking, 'format'),
  item_kind: (asking) => ofItem(asking, 'kind'),
}

/** Each fact once, as it is now. */
export const factsNow = async (facts: Iterable<Fact>, asking: Asking): Promise<Map<Fact, number | string>> => {
  const known = new Map<Fact, number | string>()
  for (const fact of new Set(facts)) known.set(fact, await lookUp[fact](asking))
  return known
}
