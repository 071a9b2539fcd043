/** The states of a report, its week, and its contents. */
import { describe, expect, test } from 'bun:test'
import { startGeneration, type TakenQuota } from '#domain/growth/drafting/generation'
import {
  type Figures,
  failedReport,
  newReport,
  type ReportBrief,
  readyReport,
  reportData,
  skippedReport,
  weekAt,
  weekBounds,
  weekly,
} from '#domain/growth/learning/report'
import { reportMarkdown } from '#domain/growth/learning/report-text'
import { at } from '#test/domain/records'

const taken: TakenQuota = { key: 'reports', period: '2026-11', amount: 1 }
const now = at(60_000)
const queued = newReport('report-1', {
  origin: 'manual',
  week: '2026-11-16',
  time_zone: 'UTC',
  now: at(),
})

const day = (changes: Partial<Figures> = {}): Figures => ({
  posts: 0,
  impressions: 0,
  reactions: 0,
  clicks: 0,
  ...changes,
})
const week = (changes: Partial<Figures> = {}): Figures[] => [
  day(changes),
  ...Array.from({ length: 6 }, () => day()),
]
const item = (item_id: string, engagement_rate: number | null) => ({
  item_id,
  text: 'A post',
  url: null,
  impressions: 100,
  engagement_rate,
})
const brief = (changes: Partial<ReportBrief> = {}): ReportBrief => ({
  report: queued,
  now,
  basis: 'impressions',
  others: 0,
  days: [...week(), ...week()],
  ranked: [],
  waiting: { approvals: 0, scheduled: 0, unconfirmed: 0 },
  quotas: [],
  reads: { tier: 'free', limit: 5_000, used: 7, reserved: 500 },
  next: [],
  ...changes,
})

describe('every end', () => {
  test.each([
    ['queued', queued],
    ['generating', startGeneration(queued, at(1))],
  ])(
    'from %s: ready keeps its charge, failed gives it back, and neither has an event',
    (_, report) => {
      const data = reportData(brief())
      expect(readyReport(report, { data, markdown: 'x', now })).toEqual({
        record: { ...report, status: 'ready', data, markdown: 'x', updated_at: now },
        events: [],
        refund: [],
      })
      for (const error of ['generation_failed: ask again later', 'cancelled', 'enqueue_failed'])
        expect(failedReport(report, error, { taken, now })).toMatchObject({
          record: { status: 'failed', error },
          events: [],
          refund: [{ ...taken, amount: -1 }],
        })
    },
  )

  test('a report that the plan refuses fails before it begins, with the reason', () => {
    expect(skippedReport(queued, 'plan_quota_exceeded:reports')).toEqual({
      ...queued,
      status: 'failed',
      error: 'plan_quota_exceeded:reports',
    })
  })
})

describe('a week', () => {
  test('follows the time zone', () => {
    const sunday = new Date('2026-11-15T23:30:00Z')
    expect([weekAt(sunday, 'UTC'), weekAt(sunday, 'Asia/Tokyo')]).toEqual([
      '2026-11-09',
      '2026-11-16',
    ])
  })

  test.each([
    ['2026-03-23', 23],
    ['2026-10-19', 25],
    ['2026-11-16', 24],
  ])('has whole days when clocks change: that of %p ends with one of %p hours', (monday, hours) => {
    const bounds = weekBounds(monday, 'Europe/Berlin')
    expect(bounds).toHaveLength(15)
    expect((+bounds[14]! - +bounds[13]!) / 3_600_000).toBe(hours)
  })
})

describe('the weekly report', () => {
  const long = new Date('2026-01-01T00:00:00Z')
  const told = (time: string, { timeZone = 'UTC', since = long } = {}) => {
    const { next, ...rest } = weekly(new Date(time), { timeZone, since })
    return { ...rest, next: next.toISOString() }
  }

  test.each<[string, string, object]>([
    [
      'waits for Monday at seven',
      '2026-11-16T06:59:59Z',
      { kind: 'wait', next: '2026-11-16T07:00:00.000Z' },
    ],
    [
      'then tells of the week before',
      '2026-11-16T07:00:00Z',
      { kind: 'report', week: '2026-11-09', next: '2026-11-23T07:00:00.000Z' },
    ],
    [
      'late, where the morning was slept through',
      '2026-11-19T20:00:00Z',
      { kind: 'report', week: '2026-11-09', next: '2026-11-23T07:00:00.000Z' },
    ],
  ])('%s', (_, time, expected) => {
    expect(told(time)).toEqual(expected as never)
  })

  test('follows the time zone through changes of its clocks', () => {
    expect(told('2026-11-15T22:00:00Z', { timeZone: 'Asia/Tokyo' })).toMatchObject({
      kind: 'report',
      week: '2026-11-09',
    })
    expect(told('2026-11-15T21:59:59Z', { timeZone: 'Asia/Tokyo' })).toMatchObject({ kind: 'wait' })
    expect(told('2026-03-25T12:00:00Z', { timeZone: 'Europe/Berlin' }).next).toBe(
      '2026-03-30T05:00:00.000Z',
    )
    expect(told('2026-10-21T12:00:00Z', { timeZone: 'Europe/Berlin' }).next).toBe(
      '2026-10-26T06:00:00.000Z',
    )
  })

  test('does not cover weeks before the first post', () => {
    const since = new Date('2026-11-18T12:00:00Z')
    expect(told('2026-11-18T12:00:00Z', { since })).toEqual({
      kind: 'wait',
      next: '2026-11-23T07:00:00.000Z',
    })
    expect(told('2026-11-23T07:00:00Z', { since })).toMatchObject({
      kind: 'report',
      week: '2026-11-16',
    })
  })
})

describe('the numbers', () => {
  test('are summed and compared with the week before, and no rate comes from nothing', () => {
    const days = [
      ...week({ posts: 2, impressions: 1_000, reactions: 20 }),
      ...week({ posts: 3, impressions: 1_500, reactions: 45, clicks: 4 }),
    ]
    const { totals, before, change, days: shown } = reportData(brief({ days }))
    expect(totals).toEqual({
      posts: 3,
      impressions: 1_500,
      reactions: 45,
      clicks: 4,
      engagement_rate: 0.03,
    })
    expect(before.engagement_rate).toBe(0.02)
    expect(change).toEqual({
      posts: 0.5,
      impressions: 0.5,
      reactions: 1.25,
      clicks: null,
      engagement_rate: 0.5,
    })
    expect(shown.map((one) => one.day)).toEqual(
      ['16', '17', '18', '19', '20', '21', '22'].map((date) => `2026-11-${date}`),
    )
  })

  test('compare reactions per post where nobody counts impressions, and name what is left out', () => {
    const uncounted = { impressions: null, clicks: null }
    const seven = (changes: Partial<Figures>) =>
      week(changes).map((one) => ({ ...one, ...uncounted }))
    const days = [...seven({ posts: 2, reactions: 20 }), ...seven({ posts: 3, reactions: 45 })]
    const data = reportData(brief({ basis: 'posts', others: 2, days }))
    expect(data.totals).toEqual({
      posts: 3,
      reactions: 45,
      engagement_rate: null,
      reactions_per_post: 15,
      ...uncounted,
    })
    expect(data.change).toEqual({
      posts: 0.5,
      reactions: 1.25,
      engagement_rate: null,
      reactions_per_post: 0.5,
      ...uncounted,
    })
    expect(data.note).toBe(
      'Compared by reactions per post, since the network counts no impressions. 2 posts are left out, since their network counts impressions: what is counted differently is not summed.',
    )
    expect(reportData(brief({ others: 1 })).note).toStartWith('1 post is left out, since its net')
    expect(reportData(brief())).not.toContainKey('note')
  })

  test.each<[number, string | null, string | null]>([
    [0, null, null],
    [1, '0', null],
    [2, '0', '1'],
    [5, '0', '4'],
  ])('of %p posts name the best and the worst', (count, best, worst) => {
    const ranked = Array.from({ length: count }, (_, index) => item(`${index}`, 0.1 - index / 100))
    const data = reportData(brief({ ranked }))
    expect([data.best?.item_id ?? null, data.worst?.item_id ?? null]).toEqual([best, worst])
  })

  test('show whether the week is over', () => {
    expect(reportData(brief()).complete).toBeFalse()
    expect(reportData(brief({ now: new Date('2026-11-23T00:00:00Z') })).complete).toBeTrue()
  })
})

describe('the text', () => {
  const text = (changes: Partial<ReportBrief> = {}) =>
    reportMarkdown(queued, reportData(brief(changes)))

  test('says that a week is empty', () => {
    expect(text()).toContain('A quiet week so far: no posts, and no impressions.')
    expect(text({ now: new Date('2026-11-23T00:00:00Z') })).toContain('A quiet week: no posts')
    expect(text()).toContain('| Impressions | 0 | 0 | – |')
    expect(text()).toContain('Nothing to do.')
  })

  test('says what was posted, what it gained and what comes next', () => {
    const said = text({
      days: [
        ...week({ impressions: 1_000, posts: 1 }),
        ...week({ posts: 1, impressions: 1_500, reactions: 30 }),
      ],
      ranked: [item('1', 0.02)],
      next: [{ title: 'Approve 3 posts', why: 'They wait.', operation: 'growth.items.approve' }],
    })
    expect(said).toContain('# Week of 2026-11-16 to 2026-11-22')
    expect(said).toContain(
      '1 post went out so far. All posts, old and new, gained 1,500 impressions and 30 reactions.',
    )
    expect(said).toContain('| Impressions | 1,500 | 1,000 | +50% |')
    expect(said).toContain('| 2026-11-16 | 1 | 1,500 | 30 | 0 |')
    expect(said).toContain('- **Best**: “A post” (100 impressions, engagement 2.0%)')
    expect(said).toContain('- **Approve 3 posts**: They wait.')
  })

  test('has no 0 for what nobody counts', () => {
    const uncounted = { impressions: null, clicks: null }
    const days = [...week(), ...week({ posts: 1, reactions: 30 })].map((one) => ({
      ...one,
      ...uncounted,
    }))
    const ranked = [{ ...item('1', null), impressions: null, reactions: 30 }]
    const said = text({ basis: 'posts', days, ranked })
    expect(said).toContain('All posts, old and new, gained 30 reactions.')
    expect(said).toContain('reactions per post, since the network counts no impressions')
    expect(said).toContain('| Impressions | – | – | – |')
    expect(said).toContain('| Reactions per post | 30.0 | – | – |')
    expect(said).toContain('| 2026-11-16 | 1 | – | 30 | – |')
    expect(said).toContain('- **Best**: “A post” (30 reactions)')
    expect(
      text({
        basis: 'posts',
        days: [...week(), ...week()].map((one) => ({ ...one, ...uncounted })),
      }),
    ).toContain('no posts, and no reactions')
  })

  test('escapes marks in the text of posts', () => {
    const ranked = [{ ...item('1', 0.02), text: '# Big\n[link](https://example.com) | <b>*bold*' }]
    expect(text({ ranked })).toContain(
      '“\\# Big \\[link\\](https://example.com) \\| \\<b\\>\\*bold\\*”',
    )
  })
})
