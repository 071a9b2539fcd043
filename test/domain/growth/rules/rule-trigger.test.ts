import { describe, expect, test } from 'bun:test'
import { countNames, reactionNames } from '#contract/records/growth/item'
import type { ruleMetrics } from '#contract/records/growth/rule'
import { newRule } from '#domain/growth/rules/rule'
import {
  matches,
  type Occurrence,
  requireCounted,
  type Trigger,
  type TriggerInput,
} from '#domain/growth/rules/rule-trigger'
import { cronDue, LEAST_GAP_MS } from '#kernel/cron'
import { errorOf, faultOf } from '#test/domain/errors'
import { at, HOUR } from '#test/domain/records'

const beside = { timeZone: 'Europe/Berlin', now: at() }
const wish = {
  name: ' Keep drafting ',
  trigger: { kind: 'item_posted' },
  action: { kind: 'draft_batch' },
} as const

const triggers: Record<Trigger['kind'], TriggerInput> = {
  cron: { kind: 'cron', pattern: '0 9 * * 1' },
  item_posted: { kind: 'item_posted' },
  batch_settled: { kind: 'batch_settled', status: 'ready' },
  metric: { kind: 'metric', metric: 'likes', at_least: 10 },
  signal: { kind: 'signal' },
}
const every: Required<Omit<TriggerInput, 'kind'>> = {
  pattern: '0 9 * * 1',
  time_zone: 'UTC',
  status: 'ready',
  metric: 'likes',
  at_least: 10,
  within_hours: 24,
  min_score: 50,
}

describe('a trigger', () => {
  const make = (trigger: TriggerInput) =>
    newRule('rule-1', { ...wish, trigger }, { ...beside, total: 0 }).trigger

  test("has its own time zone or the profile's", () => {
    expect(make(triggers.cron)).toEqual({
      kind: 'cron',
      pattern: '0 9 * * 1',
      time_zone: 'Europe/Berlin',
    })
    expect(make({ ...triggers.cron, time_zone: 'Asia/Tokyo' })).toMatchObject({
      time_zone: 'Asia/Tokyo',
    })
  })

  const own: Record<Trigger['kind'], string[]> = {
    cron: ['pattern', 'time_zone'],
    item_posted: [],
    batch_settled: ['status'],
    metric: ['metric', 'at_least', 'within_hours'],
    signal: ['min_score'],
  }
  const cells = Object.values(triggers).flatMap((one) =>
    Object.entries(every).map(([name, value]) => [one.kind, name, value] as const),
  )
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
    expect(errorOf(() => make({ kind: 'cron', pattern })).message).toStartWith(
      `trigger.pattern ${reason}`,
    )
  })

  test('with times needs a pattern', () =>
    expect(faultOf(() => make({ kind: 'cron' }))).toBe('trigger.pattern'))

  test.each(['*/15 * * * *', '0,45 * * * *', '7 8-18/2 * * MON-FRI', '0 0 29 2 *'])(
    'with the pattern %s is accepted',
    (pattern) => {
      expect(make({ kind: 'cron', pattern })).toMatchObject({ pattern })
    },
  )
})

describe('a metric that the network does not count', () => {
  const bluesky = { name: 'bluesky', counts: reactionNames }

  test.each(['impressions', 'clicks', 'engagement_rate'] as const)(
    'is refused by name: %s',
    (metric) => {
      const trigger: Trigger = { kind: 'metric', metric, at_least: 1 }
      expect(faultOf(() => requireCounted(trigger, bluesky))).toBe('trigger.metric')
      requireCounted(trigger, { name: 'sandbox', counts: countNames })
    },
  )

  test('is never reached, not even if nothing is asked for', () => {
    const after = { ...counted(10), impressions: null, clicks: null }
    const reached = (metric: (typeof ruleMetrics)[number], at_least: number) =>
      matches(
        { kind: 'metric', metric, at_least },
        { kind: 'metric', ref: 'item-1', before: null, after, ageMs: HOUR },
      )
    for (const metric of ['impressions', 'clicks', 'engagement_rate'] as const)
      expect(reached(metric, 0)).toBeFalse()
    expect([reached('likes', 10), reached('reactions', 10), reached('reactions', 11)]).toEqual([
      true,
      true,
      false,
    ])
    requireCounted({ kind: 'metric', metric: 'reactions', at_least: 1 }, bluesky)
    requireCounted({ kind: 'signal' }, bluesky)
  })
})

const counted = (likes: number) => ({
  impressions: 100,
  likes,
  replies: 0,
  reposts: 0,
  quotes: 0,
  clicks: 0,
})

/**
 * For each trigger the occurrence that it waits for. Times of cron patterns come in another way.
 */
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
  [
    'metric within an hour',
    { kind: 'metric', metric: 'likes', at_least: 10, within_hours: 1 },
    ['first', 'crossing'],
  ],
  [
    'metric engagement_rate',
    { kind: 'metric', metric: 'engagement_rate', at_least: 0.1 },
    ['first', 'crossing', 'late'],
  ],
  ['signal', { kind: 'signal' }, ['dull', 'good']],
  ['signal of some worth', { kind: 'signal', min_score: 50 }, ['good']],
  [
    'metric impressions',
    { kind: 'metric', metric: 'impressions', at_least: 100 },
    ['below', 'first'],
  ],
]
test.each(waits)('%s waits for its own occurrences only', (_, trigger, own) => {
  const found = Object.keys(occurrences).filter((name) => matches(trigger, occurrences[name]!))
  expect(found).toEqual(own)
})

describe('a due time', () => {
  const pattern: Trigger & { kind: 'cron' } = {
    kind: 'cron',
    pattern: '*/15 * * * *',
    time_zone: 'UTC',
  }
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
  ] as const)(
    'looked at %p minutes late runs for, misses and is followed by %p',
    (late, expected) => {
      expect(due(late)).toEqual([...expected])
    },
  )

  test('of a sparse pattern is missed after an hour', () => {
    const daily = { ...pattern, pattern: '0 7 * * *' }
    expect(cronDue(daily, at(), at(HOUR - 1)).run).toEqual(at())
    expect(cronDue(daily, at(), at(HOUR))).toEqual({
      run: undefined,
      missed: at(),
      next: at(24 * HOUR),
    })
  })

  test('that is checked early, because a clock stepped, is followed by a later one', () => {
    expect(cronDue(pattern, at(), at(-HOUR)).next!.getTime()).toBeGreaterThanOrEqual(
      at().getTime() + LEAST_GAP_MS,
    )
  })
})
