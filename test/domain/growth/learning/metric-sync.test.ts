/** When metrics are read again, what a read may cost, and which snapshots are kept. */
import { describe, expect, test } from 'bun:test'
import { readBudgetOf } from '#domain/app/read-budget'
import {
  changes,
  nextMetricsRead,
  reserveReads,
  unusedReads,
  waitAfter,
} from '#domain/growth/learning/metric-sync'
import type { MetricSnapshot } from '#domain/growth/metrics'
import { at, DAY, HOUR, MINUTE } from '#test/domain/records'

describe('a post is read again', () => {
  test.each([
    ['every hour in its first day', 10 * MINUTE, HOUR],
    ['every hour to the end of it', DAY - 1, HOUR],
    ['every six hours in its first week', DAY, 6 * HOUR],
    ['every six hours to the end of it', 7 * DAY - 1, 6 * HOUR],
    ['every day in its first month', 7 * DAY, DAY],
    ['every day, for the last time as that ends', 29 * DAY, DAY],
  ])('%s', (_, age, every) => {
    expect(nextMetricsRead(at(), at(age))).toEqual(at(age + every))
  })

  test.each([
    ['whose next time would come after that', 29 * DAY + 1],
    ['that is older', 31 * DAY],
  ])('no more if it is %s', (_, age) => {
    expect(nextMetricsRead(at(), at(age))).toBeNull()
  })
})

describe('after a failed read an account is left alone', () => {
  test('twice as long with each failure, up to six hours', () => {
    let wait = waitAfter(undefined, at())
    const minutes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]
    for (const expected of minutes) {
      expect(wait.until).toEqual(at(expected * MINUTE))
      wait = waitAfter(wait, at())
    }
  })

  test('as long as the network asks for, up to a day', () => {
    expect(waitAfter(undefined, at(), 5 * MINUTE).until).toEqual(at(5 * MINUTE))
    expect(waitAfter(undefined, at(), 99 * DAY).until).toEqual(at(DAY))
  })
})

describe('the daily budget', () => {
  const plan = { plan: 'team', billing: 'ok', overrides: {} } as const
  const payg = (used: number) =>
    readBudgetOf({ plan, counters: { 'reads_payg@2026-11-21': used }, now: at() }, 'payg')
  const ask = (
    used: number,
    wanted: number,
    before?: { key: string; period: string; amount: number },
  ) => reserveReads(payg(used), { wanted, before, now: at() })
  const spent = (amount: number, period = '2026-11-21') => ({ key: 'reads_payg', period, amount })

  test('covers all posts, some, or none', () => {
    expect(ask(0, 100)).toEqual({ posts: 100, reserved: spent(100_000), spend: spent(100_000) })
    expect(ask(897_500, 100)).toEqual({ posts: 2, reserved: spent(2_000), spend: spent(2_000) })
    expect(ask(899_001, 1)).toBeNull()
  })

  test('is charged once for a read that is claimed again, unless another day has begun', () => {
    expect(ask(100_000, 100, spent(100_000))).toEqual({
      posts: 100,
      reserved: spent(100_000),
      spend: spent(0),
    })
    expect(ask(900_000, 100, spent(100_000))?.posts).toBe(100)
    expect(ask(100_000, 40, spent(100_000))?.spend).toEqual(spent(-60_000))
    expect(ask(0, 100, spent(100_000, '2026-11-20'))?.spend).toEqual(spent(100_000))
  })

  test('gets back the part that was not used', () => {
    expect(unusedReads({ tier: 'payg' }, spent(100_000), 40)).toEqual([spent(-60_000)])
    expect(unusedReads({ tier: 'payg' }, spent(100_000), 100)).toEqual([])
  })
})

test('a snapshot is kept only if it differs', () => {
  const snapshot = (item_id: string, impressions: number): MetricSnapshot => ({
    item_id,
    at: at(),
    impressions,
    likes: 0,
    replies: 0,
    reposts: 0,
    quotes: 0,
    clicks: 0,
  })
  const read = [snapshot('same', 5), snapshot('more', 6), snapshot('less', 4), snapshot('new', 0)]
  const latest = [
    snapshot('same', 5),
    snapshot('more', 5),
    snapshot('less', 5),
    snapshot('other', 1),
  ]
  expect(changes(read, latest).map(({ item_id }) => item_id)).toEqual(['more', 'less', 'new'])
})
