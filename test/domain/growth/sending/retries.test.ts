/** What is tried again after a network has provably done nothing, when, and until when. */
import { describe, expect, test } from 'bun:test'
import type { Item } from '#domain/growth/drafting/item'
import { post } from '#domain/growth/sending/post'
import { settle } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { attemptWith, HOUR, MINUTE } from '#test/domain/records'
import { after, due, now, off, outcomes, sent, settled } from './outcomes.ts'

const done = { kind: 'done' } as const

const everyTry = [0, 1, 2, 3, 4, 5]

describe('provably not applied', () => {
  const cases = (['rateLimited', 'unreachable'] as const).map(
    (outcome) => [outcome, outcomes[outcome].reason] as const,
  )

  test.each(cases)(
    '%s, manual: approved again with the reason, never tried by the machine',
    (outcome, reason) => {
      for (const tries of everyTry)
        expect(settled('manual', outcomes[outcome], tries)).toEqual({
          record: { ...sent.manual, status: 'approved', last_error: reason, updated_at: now },
          attempt: { ...attemptWith(), state: 'failed', error: reason, ended_at: now },
          events: [],
          next: done,
        })
    },
  )

  const waits = cases.flatMap(([outcome, reason]) =>
    [2_000, 8_000, 30_000, 300_000].map((wait, tries) => [outcome, tries, wait, reason] as const),
  )
  test.each(waits)(
    '%s, scheduled, after %i failed tries: again in %i ms',
    (outcome, tries, wait, reason) => {
      expect(settled('automatic', outcomes[outcome], tries)).toEqual({
        record: { ...sent.automatic, status: 'approved', last_error: reason, updated_at: now },
        attempt: {
          ...attemptWith({ origin: 'automatic' }),
          state: 'failed',
          error: reason,
          ended_at: now,
        },
        events: [],
        next: { kind: 'again', at: after(wait), tries: tries + 1 },
      })
    },
  )

  test.each(
    cases.flatMap(([outcome, reason]) => [4, 5].map((tries) => [outcome, tries, reason] as const)),
  )('%s, scheduled, after %i failed tries: given up, with an event', (outcome, tries, reason) => {
    expect(settled('automatic', outcomes[outcome], tries)).toEqual({
      record: {
        ...sent.automatic,
        ...off,
        status: 'publish_failed',
        last_error: reason,
        updated_at: now,
      },
      attempt: {
        ...attemptWith({ origin: 'automatic' }),
        state: 'failed',
        error: reason,
        ended_at: now,
      },
      events: [
        { type: 'growth.item.failed', data: { item_id: 'item-1', batch_id: 'batch-1', reason } },
      ],
      next: done,
    })
  })

  test.each([
    ['longer than the back-off holds', 60_000, 60_000],
    ['shorter than the back-off gives way to it', 1_000, 2_000],
  ])('a Retry-After %s', (_, retryAfterMs, wait) => {
    expect(settled('automatic', { ...outcomes.rateLimited, retryAfterMs }).next).toEqual({
      kind: 'again',
      at: after(wait),
      tries: 1,
    })
  })

  test('the last moment for another try is an hour after it was due', () => {
    const left = due.getTime() + HOUR - now.getTime()
    const next = settled('automatic', { ...outcomes.rateLimited, retryAfterMs: left }).next
    expect(next).toEqual({ kind: 'again', at: new Date(due.getTime() + HOUR), tries: 1 })
    expect(
      settled('automatic', { ...outcomes.rateLimited, retryAfterMs: left + 1 }).record.status,
    ).toBe('publish_failed')
  })

  /** The times of the sends, in seconds after the due time, until it is given up. */
  const sends = (retryAfterMs?: number): number[] => {
    const times: number[] = []
    let item: Item = { ...sent.automatic, status: 'approved' }
    for (let [when, tries] = [due, 0]; ; ) {
      times.push((when.getTime() - due.getTime()) / 1_000)
      const outcome = { ...outcomes.rateLimited, retryAfterMs }
      const step = settle(
        {
          moves: post,
          record: { ...item, status: 'publishing' as const },
          attempt: attemptWith(),
          tries,
          now: when,
          times: sendTimes,
        },
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
