import { describe, expect, test } from 'bun:test'
import type { Item } from '#domain/growth/drafting/item'
import { PROCESS_STOPPED } from '#domain/growth/sending/attempt'
import { post } from '#domain/growth/sending/post'
import { isMissed, orphaned, type SendOutcome, type Settled, settle } from '#domain/growth/sending/send'
import type { Origin, ReturnReason } from '#domain/growth/sending/sendable'
import { sendTimes } from '#domain/growth/sending/times'
import { ACCOUNT, approvedItem, at, attemptWith, HOUR, itemIn, MINUTE, stateNames } from '#test/domain/records'

const due = at()
const now = at(3_000)
const after = (ms: number): Date => new Date(now.getTime() + ms)

/** Claimed and sent: by hand, or because it was due. */
const sent: Record<Origin, Item> = {
  manual: approvedItem({ status: 'publishing', last_error: 'rate_limited' }),
  automatic: approvedItem({ status: 'publishing', post_at: due, on_missed: 'skip', last_error: 'rate_limited' }),
}
const settled = (origin: Origin, outcome: SendOutcome, tries = 0): Settled<Item> =>
  settle({ moves: post, record: sent[origin], attempt: attemptWith({ origin }), tries, now, times: sendTimes }, outcome)

const outcomes = {
  posted: { kind: 'posted', externalId: 'post-1', url: 'https://example.com/p/1' },
  refused: { kind: 'refused', reason: 'not allowed here' },
  rateLimited: { kind: 'not_applied', reason: 'rate_limited', detail: '429' },
  unreachable: { kind: 'not_applied', reason: 'unreachable', detail: 'ECONNREFUSED' },
  disconnected: { kind: 'disconnected', reason: 'token revoked' },
  unknown: { kind: 'unknown', reason: 'timeout' },
  unsent: { kind: 'unsent' },
} satisfies Record<string, SendOutcome>

test('the durations are those of the design', () => {
  expect(sendTimes).toEqual({
    deadlineMs: 10_000,
    leaseMs: 20_000,
    marginMs: 2_000,
    settleMs: 5_000,
    cleanReads: 3,
    windowMs: 30_000,
    lateHitMs: 24 * HOUR,
    backoffMs: [2_000, 8_000, 30_000, 300_000],
    retryWindowMs: HOUR,
    missedMs: HOUR,
    nowMs: 600_000,
    freshMs: 5_000,
    missedToleranceMs: MINUTE,
  })
})

const done = { kind: 'done' } as const
const off = { post_at: null, on_missed: null }
const returnedData = { item_id: 'item-1', batch_id: 'batch-1', reason: 'x_not_connected' }
const postedData = { item_id: 'item-1', batch_id: 'batch-1', external_id: 'post-1', url: 'https://example.com/p/1', posted_at: now }

interface Row {
  record: Partial<Item>
  attempt: Partial<Settled<Item>['attempt']>
  events: Settled<Item>['events']
  next: Settled<Item>['next']
}

/** Outcomes whose answer is the same at every try. */
const rows: [keyof typeof outcomes, Origin, Row][] = (['manual', 'automatic'] as const).flatMap(
  (origin): [keyof typeof outcomes, Origin, Row][] => [
    [
      'posted',
      origin,
      {
        record: { ...off, status: 'posted', external_id: 'post-1', url: 'https://example.com/p/1', posted_at: now, last_error: null },
        attempt: { state: 'posted', external_id: 'post-1', ended_at: now },
        events: [{ type: 'growth.item.posted', data: postedData }],
        next: done,
      },
    ],
    [
      'refused',
      origin,
      {
        record: { ...off, status: 'publish_failed', last_error: 'not allowed here' },
        attempt: { state: 'failed', error: 'not allowed here', ended_at: now },
        events: [{ type: 'growth.item.failed', data: { item_id: 'item-1', batch_id: 'batch-1', reason: 'not allowed here' } }],
        next: done,
      },
    ],
    [
      'disconnected',
      origin,
      {
        record: { ...off, status: 'approved', last_error: 'x_not_connected' },
        attempt: { state: 'failed', error: 'x_not_connected', ended_at: now },
        events: [{ type: 'growth.item.returned', data: returnedData }],
        next: done,
      },
    ],
    [
      'unknown',
      origin,
      {
        record: { status: 'publish_unconfirmed', review: false, last_error: 'timeout' },
        attempt: { state: 'doubt', doubt_at: now, doubt_cause: 'no_answer', returns_from: null, error: 'timeout' },
        events: [],
        next: { kind: 'reconcile', at: after(5_000) },
      },
    ],
  ],
)

const everyTry = [0, 1, 2, 3, 4, 5]

describe('the network answers', () => {
  test.each(rows)('%s, %s', (outcome, origin, row) => {
    for (const tries of everyTry)
      expect(settled(origin, outcomes[outcome], tries)).toEqual({
        record: { ...sent[origin], ...row.record, updated_at: now },
        attempt: { ...attemptWith({ origin }), ...row.attempt },
        events: row.events,
        next: row.next,
      })
  })

  test.each([
    ['manual', 'publishing'],
    ['automatic', 'approved'],
  ] as const)('unsent, %s: it waits as before, and the try does not count', (origin, status) => {
    for (const tries of everyTry)
      expect(settled(origin, outcomes.unsent, tries)).toEqual({
        record: { ...sent[origin], status, updated_at: now },
        attempt: { ...attemptWith({ origin }), state: 'unsent', ended_at: now },
        events: [],
        next: { kind: 'again', at: now, tries },
      })
  })

  test.each([['manual'], ['automatic']] as const)('what was stopped before the send still waits for the same claim, %s', (origin) => {
    expect(post.isWaiting(settled(origin, outcomes.unsent).record, origin)).toBe(true)
  })
})

describe('provably not applied', () => {
  const cases = (['rateLimited', 'unreachable'] as const).map((outcome) => [outcome, outcomes[outcome].reason] as const)

  test.each(cases)('%s, manual: approved again with the reason, never tried by the machine', (outcome, reason) => {
    for (const tries of everyTry)
      expect(settled('manual', outcomes[outcome], tries)).toEqual({
        record: { ...sent.manual, status: 'approved', last_error: reason, updated_at: now },
        attempt: { ...attemptWith(), state: 'failed', error: reason, ended_at: now },
        events: [],
        next: done,
      })
  })

  const waits = cases.flatMap(([outcome, reason]) =>
    [2_000, 8_000, 30_000, 300_000].map((wait, tries) => [outcome, tries, wait, reason] as const),
  )
  test.each(waits)('%s, scheduled, after %i failed tries: again in %i ms', (outcome, tries, wait, reason) => {
    expect(settled('automatic', outcomes[outcome], tries)).toEqual({
      record: { ...sent.automatic, status: 'approved', last_error: reason, updated_at: now },
      attempt: { ...attemptWith({ origin: 'automatic' }), state: 'failed', error: reason, ended_at: now },
      events: [],
      next: { kind: 'again', at: after(wait), tries: tries + 1 },
    })
  })

  test.each(cases.flatMap(([outcome, reason]) => [4, 5].map((tries) => [outcome, tries, reason] as const)))(
    '%s, scheduled, after %i failed tries: given up, with an event',
    (outcome, tries, reason) => {
      expect(settled('automatic', outcomes[outcome], tries)).toEqual({
        record: { ...sent.automatic, ...off, status: 'publish_failed', last_error: reason, updated_at: now },
        attempt: { ...attemptWith({ origin: 'automatic' }), state: 'failed', error: reason, ended_at: now },
        events: [{ type: 'growth.item.failed', data: { item_id: 'item-1', batch_id: 'batch-1', reason } }],
        next: done,
      })
    },
  )

  test.each([
    ['longer than the back-off holds', 60_000, 60_000],
    ['shorter than the back-off gives way to it', 1_000, 2_000],
  ])('a Retry-After %s', (_, retryAfterMs, wait) => {
    expect(settled('automatic', { ...outcomes.rateLimited, retryAfterMs }).next).toEqual({ kind: 'again', at: after(wait), tries: 1 })
  })

  test('the last moment for another try is an hour after it was due', () => {
    const left = due.getTime() + HOUR - now.getTime()
    const next = settled('automatic', { ...outcomes.rateLimited, retryAfterMs: left }).next
    expect(next).toEqual({ kind: 'again', at: new Date(due.getTime() + HOUR), tries: 1 })
    expect(settled('automatic', { ...outcomes.rateLimited, retryAfterMs: left + 1 }).record.status).toBe('publish_failed')
  })

  /** The times of the sends, in seconds after the due time, until it is given up. */
  const sends = (retryAfterMs?: number): number[] => {
    const times: number[] = []
    let item: Item = { ...sent.automatic, status: 'approved' }
    for (let [when, tries] = [due, 0]; ; ) {
      times.push((when.getTime() - due.getTime()) / 1_000)
      const outcome = { ...outcomes.rateLimited, retryAfterMs }
      const step = settle(
        { moves: post, record: { ...item, status: 'publishing' as const }, attempt: attemptWith(), tries, now: when, times: sendTimes },
        outcome,
      )
      item = step.record
      if (step.next.kind !== 'again') return times
      when = step.next.at
      tries = step.next.tries
    }
  }

  test('a network that never takes it is asked five times within an hour', () => {
    expect(sends()).toEqual([0, 2, 10, 40, 340])
    expect(sends(14 * MINUTE)).toEqual([0, 840, 1_680, 2_520, 3_360])
    expect(sends(25 * MINUTE)).toEqual([0, 1_500, 3_000])
  })
})

describe('doubt', () => {
  test('of a process that died it is looked into a settling time after its lease has ended', () => {
    const attempt = attemptWith({ origin: 'automatic' })
    const step = orphaned({ moves: post, record: sent.automatic, attempt, now, times: sendTimes }, attempt.lease_until)
    expect(step).toEqual({
      record: { ...sent.automatic, status: 'publish_unconfirmed', review: false, last_error: PROCESS_STOPPED, updated_at: now },
      attempt: { ...attempt, state: 'doubt', doubt_at: now, doubt_cause: 'process_stopped', error: PROCESS_STOPPED },
      events: [],
      next: { kind: 'reconcile', at: at(25_000) },
    })
  })
})

describe('what a claim may take', () => {
  const takes = (origin: Origin) => stateNames.filter((state) => post.isWaiting(itemIn[state], origin))
  test('work that a person asked for waits as publishing, work of the schedule as scheduled', () => {
    expect(takes('manual')).toEqual(['publishing'])
    expect(takes('automatic')).toEqual(['scheduled'])
  })
})

describe('a due item that is late', () => {
  const missed = (policy: 'post' | 'skip', late: number, tries = 0): boolean =>
    isMissed(post.scheduleOf(itemIn.scheduled), { now: new Date(at(HOUR).getTime() + late), tries, times: sendTimes, policy })

  test.each([
    ['post', 'early', -1, false],
    ['post', 'on time', 0, false],
    ['post', 'just under an hour late', HOUR - 1, false],
    ['post', 'an hour late', HOUR, true],
    ['post', 'a day late', 24 * HOUR, true],
    ['skip', 'early', -1, false],
    ['skip', 'on time', 0, false],
    ['skip', 'a minute late', MINUTE, false],
    ['skip', 'over a minute late', MINUTE + 1, true],
    ['skip', 'an hour late', HOUR, true],
  ] as const)('%s, %s', (policy, _, late, answer) => {
    expect(missed(policy, late)).toBe(answer)
  })

  test.each([['post'], ['skip']] as const)(
    '%s: one that was tried in time is not missed within its hour of tries, but after it',
    (policy) => {
      expect(missed(policy, MINUTE + 1, 1)).toBe(false)
      expect(missed(policy, HOUR, 4)).toBe(false)
      expect(missed(policy, HOUR + MINUTE, 4)).toBe(false)
      expect(missed(policy, HOUR + MINUTE + 1, 4)).toBe(true)
      expect(missed(policy, 24 * HOUR, 1)).toBe(true)
    },
  )

  test('what is not on the schedule cannot be missed', () => {
    expect(isMissed(post.scheduleOf(itemIn.publishing), { now: at(24 * HOUR), tries: 0, times: sendTimes, policy: 'skip' })).toBe(false)
  })
})

describe('given back unsent', () => {
  const reasons: ReturnReason[] = [
    'x_not_connected',
    'missed',
    'same_text_unconfirmed',
    'plan_invalid:trial_expired',
    'plan_invalid:plan_expired',
  ]
  const event = (reason: ReturnReason) => ({ type: 'growth.item.returned', data: { item_id: 'item-1', batch_id: 'batch-1', reason } })

  test.each(reasons.flatMap((reason) => [[reason, 'scheduled'] as const, [reason, 'publishing'] as const]))('%s, %s', (reason, state) => {
    const item = { ...itemIn.approved, account_external_id: ACCOUNT, last_error: reason, updated_at: now }
    expect(post.returned(itemIn[state], reason, now)).toEqual({ record: item, events: [event(reason)] })
  })

  test.each([['scheduled'], ['publishing']] as const)('approval_stale, %s: a draft again, bound to nothing', (state) => {
    const { record, events } = post.returned(itemIn[state], 'approval_stale', now)
    expect(record).toEqual({ ...itemIn.drafted, last_error: 'approval_stale', updated_at: now })
    expect(events).toEqual([event('approval_stale')])
  })
})
