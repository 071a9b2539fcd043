import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { signalStatuses } from '#contract/records/growth/signal'
import { emptyProfile } from '#domain/growth/drafting/profile'
import {
  dismissSignal,
  engageSignal,
  newSignal,
  overflow,
  requireEngageable,
  SIGNAL_MS,
  type Signal,
  type SignalStatus,
  scoreOf,
  signalState,
  topicsOf,
  type WatchedPost,
} from '#domain/growth/learning/signal'
import { errorOf } from '#test/domain/errors'
import { at, HOUR } from '#test/domain/records'

const now = at()
const none = { impressions: 0, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: 0 }
const post = (changes: Partial<WatchedPost> = {}): WatchedPost => ({
  text: 'A plain remark.',
  createdAt: now,
  metrics: none,
  addressesUs: false,
  ...changes,
})
const terms = new Set(['delivery', 'late', 'customers', 'lorries'])
const weighing = { terms, priority: 3, now }
const score = (changes: Partial<WatchedPost>, more: Partial<typeof weighing> = {}) =>
  scoreOf(post(changes), { ...weighing, ...more })
const engaged = {
  network: 'sandbox',
  post_id: '42',
  post_url: null,
  post_author: 'lena',
  post_text: 'Well?',
  addresses_us: false,
}
const found = (changes: Partial<WatchedPost> = {}) =>
  newSignal('signal-1', { post: post(changes), engaged, targetId: 'target-1' }, weighing)

describe('the state table', () => {
  const open = found()!
  const expired = { ...open, expires_at: now }
  const states: Record<string, Signal> = {
    ...Object.fromEntries(signalStatuses.map((status) => [status, { ...open, status }])),
    'open, its time over': expired,
  }
  const commands = {
    dismiss: (signal: Signal) => dismissSignal(signal, now),
    engage: (signal: Signal) => engageSignal(signal, 'engagement-1', now),
  }
  const cells = Object.keys(states).flatMap((state) =>
    Object.keys(commands).map((command) => [state, command as keyof typeof commands] as const),
  )

  test.each(cells)('%s, %s', (state, command) => {
    const signal = states[state]!
    if (state === 'open') {
      const next = commands[command](signal)
      expect([next.status, next.engagement_id]).toEqual(
        command === 'dismiss' ? ['dismissed', null] : ['engaged', 'engagement-1'],
      )
      return
    }
    if (state === 'dismissed' && command === 'dismiss') {
      expect(commands.dismiss(signal)).toBe(signal)
      return
    }
    const error = errorOf(() => commands[command](signal))
    const shown: SignalStatus =
      state === 'open, its time over' ? 'expired' : (state as SignalStatus)
    expect([error.code, error.message, signalState(signal, now)]).toEqual([
      'conflict',
      `cannot ${command}: the signal is ${shown}`,
      shown,
    ])
    expect(errorOf(() => requireEngageable(signal, now)).code).toBe('conflict')
  })
})

describe('the score', () => {
  test('of a new plain post comes from its freshness alone', () => {
    expect(score({})).toEqual({ score: 25, reasons: ['less than an hour old'] })
  })

  test.each([
    ['younger', { createdAt: now }, { createdAt: at(-5 * HOUR) }],
    [
      'seen by more',
      { metrics: { ...none, impressions: 9_000 } },
      { metrics: { ...none, impressions: 90 } },
    ],
    [
      'answered by more',
      { metrics: { ...none, replies: 90 } },
      { metrics: { ...none, replies: 9 } },
    ],
    [
      'about our subject',
      { text: 'The late delivery again.' },
      { text: 'The green kettle again.' },
    ],
    [
      'more about our subject',
      { text: 'The late delivery again.' },
      { text: 'The late kettle again.' },
    ],
    ['a question', { text: 'A plain remark?' }, {}],
    ['for us', { addressesUs: true }, {}],
  ])('of what is %s is higher', (_, more, less) => {
    expect(score(more).score).toBeGreaterThan(score(less).score)
  })

  test('rises with the priority of the target', () => {
    expect([3, 2, 1].map((priority) => score({}, { priority }).score)).toEqual([25, 30, 35])
  })

  test('comes with reasons', () => {
    const { reasons } = score(
      {
        text: 'Late delivery: what do you tell customers?',
        metrics: { ...none, impressions: 1_200, likes: 4 },
        addressesUs: true,
      },
      { priority: 1 },
    )
    expect(reasons).toEqual([
      'less than an hour old',
      '1200 impressions, 4 reactions',
      'about late, delivery, customers',
      'asks something',
      'target of priority 1',
      'addresses your account',
    ])
  })

  test('speaks of reactions alone where nobody counts impressions', () => {
    const metrics = { ...none, impressions: null, clicks: null, likes: 400 }
    const { score: uncounted, reasons } = score({ metrics })
    expect(reasons).toContain('400 reactions')
    expect(uncounted).toBe(score({ metrics: { ...metrics, impressions: 0 } }).score)
  })

  test('is a whole number from 0 to 100 for any post', () => {
    const count = fc.nat({ max: 2_000_000_000 })
    const sighted = fc.record({
      text: fc.string({ unit: 'binary' }),
      createdAt: fc.date({ noInvalidDate: true }),
      metrics: fc.record({
        impressions: count,
        likes: count,
        replies: count,
        reposts: count,
        quotes: count,
        clicks: count,
      }),
      addressesUs: fc.boolean(),
    })
    fc.assert(
      fc.property(sighted, fc.integer({ min: 1, max: 3 }), (one, priority) => {
        const { score: points } = scoreOf(one, { terms, priority, now })
        expect(Number.isInteger(points) && points >= 0 && points <= 100).toBeTrue()
      }),
    )
  })

  test('recognises the subject by profile and products, ignoring common words', () => {
    const profile = {
      ...emptyProfile,
      goal: 'More customers with deliveries',
      audience: 'Dispatchers',
    }
    const topics = topicsOf(profile, [
      { name: 'Dockline', one_liner: 'about docks that were late' },
    ])
    expect([...topics]).toEqual([
      'customers',
      'deliveries',
      'dispatchers',
      'dockline',
      'docks',
      'late',
    ])
  })
})

test('a signal is open until two days after its post; older posts make none', () => {
  expect(found()).toMatchObject({ status: 'open', expires_at: at(SIGNAL_MS), engagement_id: null })
  expect(found({ createdAt: at(-SIGNAL_MS + 1) })).toMatchObject({ expires_at: at(1) })
  expect(found({ createdAt: at(-SIGNAL_MS) })).toBeUndefined()
})

test('of too many signals the lowest are dropped, of equal ones the oldest', () => {
  const open = [
    { id: 'a', score: 5 },
    { id: 'b', score: 3 },
    { id: 'd', score: 3 },
    { id: 'c', score: 3 },
  ]
  expect([...overflow(open, 4)]).toEqual([])
  expect([...overflow(open, 2)]).toEqual(['b', 'c'])
  expect([...overflow(open, 0)]).toEqual(['b', 'c', 'd', 'a'])
})

test('a post that claims to be of the future is from now, and expires as soon as others', () => {
  const signal = found({ createdAt: at(24 * 365 * HOUR) })!
  expect([signal.posted_at, signal.expires_at]).toEqual([now, at(SIGNAL_MS)])
})

test('a post that came by no target gets no points for one', () => {
  const { score: points, reasons } = scoreOf(post({ addressesUs: true }), {
    ...weighing,
    priority: null,
  })
  expect([points, reasons]).toEqual([
    score({ addressesUs: true }).score,
    ['less than an hour old', 'addresses your account'],
  ])
})
