import { describe, expect, test } from 'bun:test'
import { requestAgain } from '#domain/growth/drafting/item-moves'
import { post } from '#domain/growth/sending/post'
import { isStale, readableFrom, settleAgain, supersede } from '#domain/growth/sending/post-again'
import type { SendOutcome } from '#domain/growth/sending/send'
import { sendTimes as times } from '#domain/growth/sending/times'
import { errorOf } from '#test/domain/errors'
import { at, attemptWith, HOUR, itemIn } from '#test/domain/records'

describe('who may', () => {
  test.each(['key', 'system'] as const)('a %s may not, and is told who may', (by) => {
    const error = errorOf(() => requestAgain(itemIn['in review'], { by, now: at() }))
    expect([error.code, error.status]).toEqual(['conflict', 409])
    expect(error.message).toBe(
      'cannot post again: the item is publish_unconfirmed (in review) and may already be on the network; ' +
        'only a signed-in person can confirm, not an API key',
    )
  })
})

describe('when the timeline may be read, and for how long that counts', () => {
  const doubtful = attemptWith({ state: 'doubt', doubt_at: at(10_000), lease_until: at(20_000) })

  test('a settling time after the lease has ended', () => {
    expect(readableFrom(doubtful, times)).toEqual(at(25_000))
  })

  test('a lease in the far future, since the clock has stepped back, counts from the doubt', () => {
    expect(readableFrom({ ...doubtful, lease_until: at(2 * HOUR) }, times)).toEqual(at(35_000))
  })

  test.each([
    ['just read', 0, false],
    ['read five seconds ago', 5_000, false],
    ['read longer ago', 5_001, true],
    ['read later than now, for the clock has stepped back', -1, true],
  ])('what was %s', (_, age, stale) => {
    expect(isStale({ readAt: at(), attemptId: 'attempt-1', review: true }, at(age), times)).toBe(
      stale,
    )
  })
})

describe('the answer to the new send', () => {
  const old = {
    ...attemptWith({ state: 'review', doubt_at: at(10_000), clean_reads: 3, error: 'timeout' }),
  }
  const closed = supersede(old, at(60_000))
  const attempt = attemptWith({
    id: 'attempt-2',
    number: 2,
    intent_at: at(60_000),
    lease_until: at(80_000),
  })
  const sent = { moves: post, record: itemIn.publishing, attempt, tries: 0, now: at(61_000), times }
  const settle = (outcome: SendOutcome, review = true) =>
    settleAgain(sent, { old: closed, review }, outcome)

  test('posted, and doubt, are those of any send', () => {
    expect(settle({ kind: 'posted', externalId: 'post-2', url: null })).toMatchObject({
      record: { status: 'posted' },
      next: { kind: 'done' },
    })
    const doubt = settle({ kind: 'unknown', reason: 'timeout' })
    expect(doubt).toMatchObject({
      record: { status: 'publish_unconfirmed', review: false },
      attempt: { id: 'attempt-2', state: 'doubt' },
    })
    expect(doubt.reopened).toBeUndefined()
  })

  test.each<[SendOutcome, string]>([
    [{ kind: 'refused', reason: 'too long' }, 'too long'],
    [{ kind: 'not_applied', reason: 'rate_limited', detail: '429' }, 'rate_limited'],
    [{ kind: 'disconnected', reason: 'revoked' }, 'x_not_connected'],
  ])('%j brings the old doubt back, and says why', (outcome, error) => {
    const settled = settle(outcome)
    expect(settled.record).toMatchObject({
      status: 'publish_unconfirmed',
      review: true,
      last_error: error,
    })
    expect(settled.attempt).toMatchObject({
      id: 'attempt-2',
      state: 'failed',
      error,
      ended_at: at(61_000),
    })
    expect(settled.reopened).toEqual(old)
    expect([settled.events, settled.next.kind]).toEqual([[], 'reconcile'])
    expect(settle(outcome, false)).toMatchObject({
      record: { review: false },
      reopened: { state: 'doubt' },
    })
  })

  test('nothing sent: the timeline is read again, for the person’s word still holds', () => {
    expect(settle({ kind: 'unsent' })).toMatchObject({
      record: { status: 'publish_unconfirmed', review: true },
      attempt: { state: 'unsent' },
      reopened: old,
      next: { kind: 'reread' },
    })
  })
})
