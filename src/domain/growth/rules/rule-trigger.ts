/** What sets a rule off, and whether something that has happened does. */
import { cronFault, nextTime } from '#kernel/cron'
import { fail } from '#kernel/errors'
import { engagementRate, type Metrics } from '../metrics.ts'

const triggerKinds = ['cron', 'item_posted', 'batch_settled', 'metric', 'signal'] as const
export type TriggerKind = (typeof triggerKinds)[number]

type RuleMetric = 'impressions' | 'likes' | 'replies' | 'reposts' | 'quotes' | 'clicks' | 'engagement_rate'

export type Trigger =
  /** Five fields, on the clocks of an IANA time zone. */
  | { kind: 'cron'; pattern: string; time_zone: string }
  | { kind: 'item_posted' }
  /** Of any status where none is given. */
  | { kind: 'batch_settled'; status?: 'ready' | 'failed' }
  /** Once for each item, when a count of it gets there; within so many hours of its posting, where that is given. */
  | { kind: 'metric'; metric: RuleMetric; at_least: number; within_hours?: number }
  /** A post of somebody watched that is worth answering, 0 to 100. */
  | { kind: 'signal'; min_score?: number }

/** As it is asked for: one shape for all kinds, most of which have no use for most of it. */
export interface TriggerWish {
  kind: TriggerKind
  pattern?: string
  time_zone?: string
  status?: 'ready' | 'failed'
  metric?: RuleMetric
  at_least?: number
  within_hours?: number
  min_score?: number
}

/** Something that has happened. `ref`: the id of what it happened to; of a cron time that time, in ISO 8601. */
export type Occurrence =
  | { kind: 'cron'; ref: string }
  | { kind: 'item_posted'; ref: string }
  | { kind: 'batch_settled'; ref: string; status: 'ready' | 'failed' }
  /** What was counted of an item, and what had been before; it was so old then. */
  | { kind: 'metric'; ref: string; before: Metrics | null; after: Metrics; ageMs: number }
  | { kind: 'signal'; ref: string; score: number }

/** Which fields a kind takes, those that it needs first. */
const fieldsOf: Record<TriggerKind, { needs: (keyof TriggerWish)[]; takes: (keyof TriggerWish)[] }> = {
  cron: { needs: ['pattern'], takes: ['pattern', 'time_zone'] },
  item_posted: { needs: [], takes: [] },
  batch_settled: { needs: [], takes: ['status'] },
  metric: { needs: ['metric', 'at_least'], takes: ['metric', 'at_least', 'within_hours'] },
  signal: { needs: [], takes: ['min_score'] },
}

/** Throws `invalid_input` that names the field. */
export const refuseField = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

interface Shape {
  /** Where it stands in the input. */
  path: string
  kind: string
  needs: readonly string[]
  takes: readonly string[]
}

/** Each kind takes its own fields and no others. */
export const requireShape = (wish: object, { path, kind, needs, takes }: Shape): void => {
  const given = Object.keys(wish).filter((name) => name !== 'kind')
  const strange = given.find((name) => !takes.includes(name))
  if (strange) refuseField(`${path}.${strange}`, `is not for ${kind}`)
  const missing = needs.find((name) => !given.includes(name))
  if (missing) refuseField(`${path}.${missing}`, `is required for ${kind}`)
}

/** No rule runs more often than this. */
export const LEAST_GAP_MS = 15 * 60_000
/** Further than this a pattern is not looked through: days on which two of its times are nearest come again by then. */
const TIMES_LOOKED_AT = 200

const requireUsablePattern = (pattern: string, timeZone: string, now: Date): void => {
  const fault = cronFault(pattern)
  if (fault) refuseField('trigger.pattern', `is no cron pattern of five fields: ${fault}`)
  let before = nextTime(pattern, timeZone, now)
  if (!before) refuseField('trigger.pattern', 'never fires')
  for (let looked = 1; before && looked < TIMES_LOOKED_AT; looked++) {
    const next = nextTime(pattern, timeZone, before)
    if (next && next.getTime() - before.getTime() < LEAST_GAP_MS)
      refuseField('trigger.pattern', 'fires more often than every 15 minutes, which is the most a rule may')
    before = next
  }
}

/** A trigger that can be kept. `timeZone`: the profile's, for a pattern that names none; it is kept, so that the rule says when it fires. */
export const triggerOf = (wish: TriggerWish, { timeZone, now }: { timeZone: string; now: Date }): Trigger => {
  requireShape(wish, { path: 'trigger', kind: wish.kind, ...fieldsOf[wish.kind] })
  if (wish.kind !== 'cron') return wish as Trigger
  const trigger = { kind: wish.kind, pattern: wish.pattern!.trim(), time_zone: wish.time_zone ?? timeZone }
  requireUsablePattern(trigger.pattern, trigger.time_zone, now)
  return trigger
}

const countOf = (metric: RuleMetric, counted: Metrics): number =>
  metric === 'engagement_rate' ? (engagementRate(counted) ?? 0) : counted[metric]

type Of<K extends TriggerKind> = Extract<Trigger, { kind: K }>

/** It is there now and was not before: what had got there before anybody waited for it is nothing new. */
const crosses = ({ metric, at_least, within_hours }: Of<'metric'>, counted: Extract<Occurrence, { kind: 'metric' }>): boolean => {
  if (within_hours !== undefined && counted.ageMs > within_hours * 3_600_000) return false
  const isBelow = counted.before === null || countOf(metric, counted.before) < at_least
  return isBelow && countOf(metric, counted.after) >= at_least
}

/** Whether the occurrence is one that the trigger waits for. Times of a pattern are made for one rule, not looked for. */
export const matches = (trigger: Trigger, occurrence: Occurrence): boolean => {
  if (trigger.kind === 'cron' || trigger.kind !== occurrence.kind) return false
  if (trigger.kind === 'signal' && occurrence.kind === 'signal') return occurrence.score >= (trigger.min_score ?? 0)
  if (trigger.kind === 'metric' && occurrence.kind === 'metric') return crosses(trigger, occurrence)
  if (trigger.kind === 'batch_settled' && occurrence.kind === 'batch_settled')
    return trigger.status === undefined || trigger.status === occurrence.status
  return true
}

/** A time that was missed is caught up with while it is less than this ago. */
const CATCH_UP_MS = 3_600_000

/** What a due time of a pattern comes to. */
export interface CronDue {
  /** The time to run for, if it is not too late: of several that were missed the last one. */
  run: Date | undefined
  /** The first of those that nothing runs for. */
  missed: Date | undefined
  /** When the pattern fires next; undefined: never again. */
  next: Date | undefined
}

export const cronDue = ({ pattern, time_zone }: Of<'cron'>, due: Date, now: Date): CronDue => {
  const earliest = now.getTime() - CATCH_UP_MS
  let run = due.getTime() > earliest ? due : undefined
  let next = nextTime(pattern, time_zone, new Date(Math.max(due.getTime(), earliest)))
  for (; next && next <= now; next = nextTime(pattern, time_zone, next)) run = next
  return { run, missed: run?.getTime() === due.getTime() ? undefined : due, next }
}
