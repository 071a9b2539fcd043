import { describe, expect, test } from 'bun:test'
import { DAILY_CAP, MOST_RULES, newRule, type Rule, type RuleStatus, ruleView, updateRule } from '#domain/growth/rules/rule'
import type { ActionInput } from '#domain/growth/rules/rule-action'
import { comparisons, evaluate, facts, itemFacts } from '#domain/growth/rules/rule-condition'
import { matches, type Occurrence, type Trigger, type TriggerInput } from '#domain/growth/rules/rule-trigger'
import { cronDue, LEAST_GAP_MS } from '#kernel/cron'
import { errorOf } from '#test/domain/errors'
import { at, HOUR } from '#test/domain/records'

const beside = { timeZone: 'Europe/Berlin', now: at() }
const wish = { name: ' Keep drafting ', trigger: { kind: 'item_posted' }, action: { kind: 'draft_batch' } } as const
const rule: Rule = Object.freeze(newRule('rule-1', wish, { ...beside, total: 0 }))
const shown = { held: false, next: at(HOUR), now: at() }

const faultOf = (change: () => unknown) => errorOf(change).details?.[0]?.path

describe('a new rule', () => {
  test('is active, with its name trimmed and defaults filled in', () => {
    expect(rule).toMatchObject({
      name: 'Keep drafting',
      status: 'active',
      conditions: [],
      action: { kind: 'draft_batch', count: 3, focus: '' },
      daily_cap: DAILY_CAP.usual,
    })
  })

  test('is refused beside fifty others', () => {
    expect(newRule('rule-1', wish, { ...beside, total: MOST_RULES - 1 }).id).toBe('rule-1')
    expect(errorOf(() => newRule('rule-1', wish, { ...beside, total: MOST_RULES })).code).toBe('conflict')
  })
})

/** Status before, status that a person sets or none, status after, and status while all automation is paused. */
const states: [before: RuleStatus, said: RuleStatus | undefined, runs: [string, string | null], held: [string, string | null]][] = [
  ['active', undefined, ['active', null], ['paused', 'all']],
  ['active', 'active', ['active', null], ['paused', 'all']],
  ['active', 'paused', ['paused', 'person'], ['paused', 'person']],
  ['paused', undefined, ['paused', 'person'], ['paused', 'person']],
  ['paused', 'active', ['active', null], ['paused', 'all']],
  ['paused', 'paused', ['paused', 'person'], ['paused', 'person']],
]

test.each(states)('a rule that is %s and set to %p is %p, and %p while automation is paused', (before, said, runs, held) => {
  const next = updateRule({ ...rule, status: before }, said ? { status: said } : {}, beside)
  const view = (more: object): [string, string | null] => {
    const { status, paused_by } = ruleView(next, { ...shown, ...more })
    return [status, paused_by]
  }
  expect([view({}), view({ held: true })]).toEqual([runs, held])
})

test('a rule shows its next time only while it may run', () => {
  expect(ruleView(rule, shown).next_run_at).toEqual(at(HOUR))
  expect(ruleView(rule, { ...shown, held: true }).next_run_at).toBeNull()
  expect(ruleView({ ...rule, status: 'paused' }, shown).next_run_at).toBeNull()
})

test('a change leaves fields it does not name', () => {
  const changed = updateRule(rule, { daily_cap: 7 }, { ...beside, now: at(1_000) })
  expect(changed).toEqual({ ...rule, daily_cap: 7, updated_at: at(1_000) })
  const condition = { fact: 'item_hook', op: '=', text: 'number' } as const
  const narrowed = updateRule(rule, { conditions: [condition] }, beside)
  expect(narrowed.conditions).toEqual([condition])
  // Conditions that fit the old trigger do not fit another one.
  expect(faultOf(() => updateRule(narrowed, { trigger: { kind: 'batch_settled' } }, beside))).toBe('conditions.0.fact')
})

const triggers: Record<Trigger['kind'], TriggerInput> = {
  cron: { kind: 'cron', pattern: '0 9 * * 1' },
  item_posted: { kind: 'item_posted' },
  batch_settled: { kind: 'batch_settled', status: 'ready' },
  metric: { kind: 'metric', metric: 'likes', at_least: 10 },
  signal: { kind: 'signal' },
}
const every: Required<Omit<TriggerInput, 'kind'>> = {
  ...{ pattern: '0 9 * * 1', time_zone: 'UTC', status: 'ready', metric: 'likes', at_least: 10, within_hours: 24, min_score: 50 },
}

describe('a trigger', () => {
  const make = (trigger: TriggerInput) => newRule('rule-1', { ...wish, trigger }, { ...beside, total: 0 }).trigger

  test("has its own time zone or the profile's", () => {
    expect(make(triggers.cron)).toEqual({ kind: 'cron', pattern: '0 9 * * 1', time_zone: 'Europe/Berlin' })
    expect(make({ ...triggers.cron, time_zone: 'Asia/Tokyo' })).toMatchObject({ time_zone: 'Asia/Tokyo' })
  })

  const own: Record<Trigger['kind'], string[]> = {
    cron: ['pattern', 'time_zone'],
    item_posted: [],
    batch_settled: ['status'],
    metric: ['metric', 'at_least', 'within_hours'],
    signal: ['min_score'],
  }
  const cells = Object.values(triggers).flatMap((one) => Object.entries(every).map(([name, value]) => [one.kind, name, value] as const))
  test.each(cells)('of kind %s takes %s only if it belongs to the kind', (kind, name, value) => {
    const given = { ...triggers[kind], [name]: value }
    if (own[kind].includes(name)) expect(make(given)).toMatchObject({ [name]: value })
    else expect(faultOf(() => make(given))).toBe(`trigger.${name}`)
  })

  test.each([
    ['* * * * *', 'fires more often'],
    ['*/14 * * * *', 'fires more often'],
    ['0,50 * * * *', 'fires more often'],
    ['0,50 0,23 28,1 * *', 'fires more often'],
    ['55 8 * * *,', 'is not a cron pattern'],
    ['0 9 * * * *', 'is not a cron pattern of five fields: it has 6'],
    ['0 0 30 2 *', 'never fires'],
  ])('with the pattern %s is refused: it %s', (pattern, reason) => {
    expect(errorOf(() => make({ kind: 'cron', pattern })).message).toStartWith(`trigger.pattern ${reason}`)
  })

  test.each(['*/15 * * * *', '0,45 * * * *', '7 8-18/2 * * MON-FRI', '0 0 29 2 *'])('with the pattern %s is accepted', (pattern) => {
    expect(make({ kind: 'cron', pattern })).toMatchObject({ pattern })
  })
})

const counted = (likes: number) => ({ impressions: 100, likes, replies: 0, reposts: 0, quotes: 0, clicks: 0 })

/** For each trigger the occurrence that it waits for. Times of cron patterns come in another way. */
const occurrences: Record<string, Occurrence> = {
  time: { kind: 'cron', ref: at().toISOString() },
  posted: { kind: 'item_posted', ref: 'item-1' },
  ready: { kind: 'batch_settled', ref: 'batch-1', status: 'ready' },
  failed: { kind: 'batch_settled', ref: 'batch-1', status: 'failed' },
  below: { kind: 'metric', ref: 'item-1', before: null, after: counted(9), ageMs: HOUR },
  first: { kind: 'metric', ref: 'item-1', before: null, after: counted(10), ageMs: HOUR },
  crossing: { kind: 'metric', ref: 'item-1', before: counted(9), after: counted(30), ageMs: HOUR },
  late: { kind: 'metric', ref: 'item-1', before: counted(9), after: counted(30), ageMs: HOUR + 1 },
  already: { kind: 'metric', ref: 'item-1', before: counted(10), after: counted(30), ageMs: HOUR },
  dull: { kind: 'signal', ref: 'signal-1', score: 49 },
  good: { kind: 'signal', ref: 'signal-2', score: 50 },
}
const waits: [string, Trigger, string[]][] = [
  ['cron', { kind: 'cron', pattern: '0 9 * * 1', time_zone: 'UTC' }, []],
  ['item_posted', { kind: 'item_posted' }, ['posted']],
  ['batch_settled', { kind: 'batch_settled' }, ['ready', 'failed']],
  ['batch_settled ready', { kind: 'batch_settled', status: 'ready' }, ['ready']],
  ['batch_settled failed', { kind: 'batch_settled', status: 'failed' }, ['failed']],
  ['metric', { kind: 'metric', metric: 'likes', at_least: 10 }, ['first', 'crossing', 'late']],
  ['metric within an hour', { kind: 'metric', metric: 'likes', at_least: 10, within_hours: 1 }, ['first', 'crossing']],
  ['metric engagement_rate', { kind: 'metric', metric: 'engagement_rate', at_least: 0.1 }, ['first', 'crossing', 'late']],
  ['signal', { kind: 'signal' }, ['dull', 'good']],
  ['signal of some worth', { kind: 'signal', min_score: 50 }, ['good']],
  ['metric impressions', { kind: 'metric', metric: 'impressions', at_least: 100 }, ['below', 'first']],
]
test.each(waits)('%s waits for its own occurrences only', (_, trigger, own) => {
  const found = Object.keys(occurrences).filter((name) => matches(trigger, occurrences[name]!))
  expect(found).toEqual(own)
})

describe('an action', () => {
  const make = (action: ActionInput) => {
    const kind = action.kind === 'draft_engagement' ? 'signal' : 'item_posted'
    return newRule('rule-1', { ...wish, trigger: { kind }, action }, { ...beside, total: 0 }).action
  }
  const every: Required<Omit<ActionInput, 'kind'>> = {
    ...{
      count: 2,
      focus: 'docks',
      topic: 'Docks',
      length: 'short',
      outline: 'One',
      action: 'reply',
      days: 14,
      min_age_days: 30,
      min_engagement: 0.1,
    },
  }
  const own: Record<ActionInput['kind'], (keyof typeof every)[]> = {
    draft_batch: ['count', 'focus'],
    draft_article: ['topic', 'length', 'outline'],
    draft_engagement: ['action'],
    request_audit: ['days'],
    request_report: [],
    resurface: ['min_age_days', 'min_engagement'],
  }

  test.each(Object.keys(own) as ActionInput['kind'][])('%s takes its own fields and no others', (kind) => {
    const mine = Object.fromEntries(own[kind].map((name) => [name, every[name]]))
    expect(make({ kind, ...mine })).toEqual({ kind, ...mine } as never)
    for (const name of Object.keys(every) as (keyof typeof every)[])
      if (!own[kind].includes(name)) expect(faultOf(() => make({ kind, ...mine, [name]: every[name] }))).toBe(`action.${name}`)
  })

  test('that answers is for signals only', () => {
    const action = { kind: 'draft_engagement', action: 'like' } as const
    expect(faultOf(() => newRule('rule-1', { ...wish, action }, { ...beside, total: 0 }))).toBe('action.kind')
  })

  test('needs a topic for an article, and takes no more points than an article may have', () => {
    expect(faultOf(() => make({ kind: 'draft_article' }))).toBe('action.topic')
    expect(faultOf(() => make({ kind: 'draft_article', topic: 'x', outline: 'a\n'.repeat(13) }))).toBe('action.outline')
  })
})

describe('conditions', () => {
  const holds: Record<(typeof comparisons)[number], [less: boolean, same: boolean, more: boolean]> = {
    '<': [true, false, false],
    '<=': [true, true, false],
    '=': [false, true, false],
    '!=': [true, false, true],
    '>=': [false, true, true],
    '>': [false, false, true],
  }
  test.each([...comparisons])('compare by %s', (op) => {
    const results = [9, 10, 11].map((actual) => evaluate([{ fact: 'hour', op, value: 10 }], new Map([['hour', actual]]))[0]!.holds)
    expect(results).toEqual(holds[op])
  })

  const isWord = (fact: string) => (itemFacts as readonly string[]).includes(fact)
  test.each([...facts])('of %s need a value of their kind', (fact) => {
    const make = (condition: object) => updateRule(rule, { conditions: [{ fact, op: '=', ...condition }] }, beside)
    const [right, wrong] = isWord(fact) ? [{ text: 'x' }, { value: 1 }] : [{ value: 1 }, { text: 'x' }]
    expect(make(right).conditions).toHaveLength(1)
    expect(faultOf(() => make(wrong))).toBe(`conditions.0.${Object.keys(right)[0]}`)
    expect(faultOf(() => make({ ...right, ...wrong }))).toBe(`conditions.0.${Object.keys(wrong)[0]}`)
    if (isWord(fact)) expect(faultOf(() => make({ ...right, op: '<' }))).toBe('conditions.0.op')
  })
})

describe('a due time', () => {
  const pattern: Trigger & { kind: 'cron' } = { kind: 'cron', pattern: '*/15 * * * *', time_zone: 'UTC' }
  const due = (minutes: number) => {
    const { run, missed, next } = cronDue(pattern, at(), at(minutes * 60_000))
    return [run, missed, next].map((time) => time && (time.getTime() - at().getTime()) / 60_000)
  }

  test.each([
    [0, [0, undefined, 15]],
    [14, [0, undefined, 15]],
    [15, [15, 0, 30]],
    [59, [45, 0, 60]],
    [60, [60, 0, 75]],
    [600, [600, 0, 615]],
    [605, [600, 0, 615]],
  ] as const)('looked at %p minutes late runs for, misses and is followed by %p', (late, expected) => {
    expect(due(late)).toEqual([...expected])
  })

  test('of a sparse pattern is missed after an hour', () => {
    const daily = { ...pattern, pattern: '0 7 * * *' }
    expect(cronDue(daily, at(), at(HOUR - 1)).run).toEqual(at())
    expect(cronDue(daily, at(), at(HOUR))).toEqual({ run: undefined, missed: at(), next: at(24 * HOUR) })
  })

  test('that is checked early, because a clock stepped, is followed by a later one', () => {
    expect(cronDue(pattern, at(), at(-HOUR)).next!.getTime()).toBeGreaterThanOrEqual(at().getTime() + LEAST_GAP_MS)
  })
})

describe('the value of a condition', () => {
  const wishOf = (fact: 'hour' | 'weekday' | 'approvals_waiting', value: number) => ({
    ...{ name: 'Bounds', trigger: { kind: 'item_posted' }, action: { kind: 'draft_batch' } },
    conditions: [{ fact, op: '=', value }],
  })
  const make = (fact: 'hour' | 'weekday' | 'approvals_waiting', value: number) =>
    newRule('id', wishOf(fact, value) as never, { total: 0, timeZone: 'UTC', now: at() })

  test.each([
    ['hour', 0, 23, 'must be 0 to 23 for hour'],
    ['weekday', 1, 7, 'must be 1 to 7 for weekday'],
  ] as const)('of %s lies where the clock and the calendar can be', (fact, least, most, message) => {
    for (const value of [least, most]) expect(make(fact, value).conditions).toEqual([{ fact, op: '=', value }])
    for (const value of [least - 1, most + 1])
      expect(errorOf(() => make(fact, value)).details).toEqual([{ path: 'conditions.0.value', message }])
  })

  test('of a count is never below zero', () => {
    expect(make('approvals_waiting', 0).conditions).toHaveLength(1)
    expect(errorOf(() => make('approvals_waiting', -1)).message).toContain('must be at least 0 for approvals_waiting')
  })
})
