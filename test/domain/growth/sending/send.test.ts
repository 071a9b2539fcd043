import { describe, expect, test } from 'bun:test'
import type { Item } from '#domain/growth/drafting/item'
import { PROCESS_STOPPED } from '#domain/growth/sending/attempt'
import { post } from '#domain/growth/sending/post'
import { orphaned, type Settled } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { at, attemptWith, HOUR, MINUTE } from '#test/domain/records'
import { after, now, off, outcomes, sent, settled } from './outcomes.ts'

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
    resendMs: 600_000,
    missedToleranceMs: MINUTE,
  })
})

const done = { kind: 'done' } as const
const returnedData = { item_id: 'item-1', batch_id: 'batch-1', reason: 'x_not_connected' }
const postedData = {
  item_id: 'item-1',
  batch_id: 'batch-1',
  external_id: 'post-1',
  url: 'https://example.com/p/1',
  posted_at: now,
}

interface Row {
  record: Partial<Item>
  attempt: Partial<Settled<Item>['attempt']>
  events: Settled<Item>['events']
  next: Settled<Item>['next']
}

/** Outcomes whose answer is the same at every try, and however it was sent. */
const rows: [keyof typeof outcomes, Row][] = [
  [
    'posted',
    {
      record: {
        ...off,
        status: 'posted',
        external_id: 'post-1',
        url: 'https://example.com/p/1',
        posted_at: now,
        last_error: null,
      },
      attempt: { state: 'posted', external_id: 'post-1', ended_at: now },
      events: [{ type: 'growth.item.posted', data: postedData }],
      next: done,
    },
  ],
  [
    'refused',
    {
      record: { ...off, status: 'publish_failed', last_error: 'not allowed here' },
      attempt: { state: 'failed', error: 'not allowed here', ended_at: now },
      events: [
        {
          type: 'growth.item.failed',
          data: { item_id: 'item-1', batch_id: 'batch-1', reason: 'not allowed here' },
        },
      ],
      next: done,
    },
  ],
  [
    'disconnected',
    {
      record: { ...off, status: 'approved', last_error: 'x_not_connected' },
      attempt: { state: 'failed', error: 'x_not_connected', ended_at: now },
      events: [{ type: 'growth.item.returned', data: returnedData }],
      next: done,
    },
  ],
  [
    'unknown',
    {
      record: { status: 'publish_unconfirmed', review: false, last_error: 'timeout' },
      attempt: {
        state: 'doubt',
        doubt_at: now,
        doubt_cause: 'no_answer',
        returns_from: null,
        error: 'timeout',
      },
      events: [],
      next: { kind: 'reconcile', at: after(5_000) },
    },
  ],
]

const everyTry = [0, 1, 2, 3, 4, 5]

describe('the network answers', () => {
  test.each(rows)('%s', (outcome, row) => {
    for (const origin of ['manual', 'automatic'] as const)
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

  test.each([['manual'], ['automatic']] as const)(
    'what was stopped before the send still waits for the same claim, %s',
    (origin) => {
      expect(post.isWaiting(settled(origin, outcomes.unsent).record, origin)).toBe(true)
    },
  )
})

describe('doubt', () => {
  test('of a process that died it is looked into a settling time after its lease has ended', () => {
    const attempt = attemptWith({ origin: 'automatic' })
    const step = orphaned(
      { moves: post, record: sent.automatic, attempt, now, times: sendTimes },
      attempt.lease_until,
    )
    expect(step).toEqual({
      record: {
        ...sent.automatic,
        status: 'publish_unconfirmed',
        review: false,
        last_error: PROCESS_STOPPED,
        updated_at: now,
      },
      attempt: {
        ...attempt,
        state: 'doubt',
        doubt_at: now,
        doubt_cause: 'process_stopped',
        error: PROCESS_STOPPED,
      },
      events: [],
      next: { kind: 'reconcile', at: at(25_000) },
    })
  })
})
