import { describe, expect, test } from 'bun:test'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import { post } from '#domain/growth/sending/post'
import { afterFailedRead, cleanRead, hit, type SeenPost } from '#domain/growth/sending/reconcile'
import { doubt, type Settled } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { at, attemptWith, DAY, HOUR, itemIn } from '#test/domain/records'

const seen = (text: string, changes: Partial<SeenPost> = {}): SeenPost => ({
  externalId: 'post-1',
  text,
  original: text,
  truncated: false,
  createdAt: at(1_000),
  url: null,
  ...changes,
})

const trial = (record: Item, attempt: Attempt, now: Date) => ({
  moves: post,
  record,
  attempt,
  now,
  times: sendTimes,
})

/** An item whose send at `at(0)` was answered by nothing that proves anything. */
const doubtful = () =>
  doubt(trial(itemIn.publishing, attemptWith(), at()), { reason: 'timeout', cause: 'no_answer' })

interface Reads {
  /** Milliseconds after the doubt. */
  at: number[]
  review: number[]
  events: Settled<Item>['events']
  last: Settled<Item>
}

/** Reads whenever one is due, until none is. */
const readAll = (read: (record: Item, attempt: Attempt, now: Date) => Settled<Item>): Reads => {
  const reads: Reads = { at: [], review: [], events: [], last: doubtful() }
  while (reads.last.next.kind === 'reconcile') {
    const now = reads.last.next.at
    reads.at.push(now.getTime() - at().getTime())
    const before = reads.last.record
    reads.last = read(before, reads.last.attempt, now)
    reads.events.push(...reads.last.events)
    if (reads.last.record.review && !before.review)
      reads.review.push(now.getTime() - at().getTime())
    if (reads.at.length > 1_000) throw new Error('the reads do not end')
  }
  return reads
}

const clean = (record: Item, attempt: Attempt, now: Date) => cleanRead(trial(record, attempt, now))
const failing = (retryAfterMs?: number) => (record: Item, attempt: Attempt, now: Date) =>
  afterFailedRead(trial(record, attempt, now), retryAfterMs)

const reviewEvent = {
  type: 'growth.approval.requested',
  data: { kind: 'item_review', item_id: 'item-1' },
}

describe('reads that do not show it', () => {
  test('three over thirty seconds, then a person must look, and one event says so', () => {
    const reads = readAll(clean)
    expect(reads.at.slice(0, 3)).toEqual([5_000, 17_500, 30_000])
    expect(reads.review).toEqual([30_000])
    expect(reads.events).toEqual([reviewEvent])
  })

  test('after that ever more rarely, the last one a day after the doubt', () => {
    const { at: times, last } = readAll(clean)
    const gaps = times.slice(2).map((time, index) => time - times[index + 1]!)
    for (const [index, gap] of gaps.slice(1, -1).entries())
      expect(gap).toBeGreaterThanOrEqual(gaps[index]!)
    expect(times.at(-1)).toBe(DAY)
    expect(times.length).toBeLessThan(30)
    expect(last.record).toMatchObject({ status: 'publish_unconfirmed', review: true })
    expect(last.attempt).toMatchObject({ state: 'review', ended_at: null })
  })

  test('are enough only over the whole time, however many there were before', () => {
    const { record, attempt } = doubtful()
    const third = clean(record, { ...attempt, clean_reads: 2 }, at(29_000))
    expect(third).toMatchObject({
      record: { review: false },
      attempt: { state: 'doubt' },
      events: [],
    })
    expect(third.next).toEqual({ kind: 'reconcile', at: at(41_500) })
  })

  test('the first two leave the item as it is and are counted', () => {
    const { record, attempt } = doubtful()
    const first = clean(record, attempt, at(5_000))
    expect(first).toEqual({
      record,
      attempt: { ...attempt, clean_reads: 1 },
      events: [],
      next: { kind: 'reconcile', at: at(17_500) },
    })
    const third = clean(record, { ...attempt, clean_reads: 2 }, at(30_000))
    expect(third.record).toEqual({ ...record, review: true, updated_at: at(30_000) })
    expect(third.attempt).toEqual({ ...attempt, clean_reads: 3, state: 'review' })
  })

  test('of an item in review change only the count', () => {
    const { record, attempt } = doubtful()
    const inReview = {
      record: { ...record, review: true },
      attempt: { ...attempt, clean_reads: 3, state: 'review' as const },
    }
    const step = clean(inReview.record, inReview.attempt, at(HOUR))
    expect(step.record).toBe(inReview.record)
    expect(step.attempt).toEqual({ ...inReview.attempt, clean_reads: 4 })
    expect(step.events).toEqual([])
  })

  test('that come late, after a day without any, are still three before a person must look', () => {
    const { record, attempt } = doubtful()
    const first = clean(record, attempt, at(2 * DAY))
    expect(first.record.review).toBe(false)
    const second = clean(first.record, first.attempt, at(2 * DAY + 12_500))
    const third = clean(second.record, second.attempt, at(2 * DAY + 25_000))
    expect(third.events).toEqual([reviewEvent])
    expect(third.next).toEqual({ kind: 'done' })
  })
})

describe('reads that fail', () => {
  test('decide nothing until a day after the doubt, then a person must look, and one event says so', () => {
    const reads = readAll(failing())
    expect(reads.at[0]).toBe(5_000)
    expect(reads.at.at(-1)).toBe(DAY)
    expect(reads.at.length).toBeLessThan(200)
    expect(reads.review).toEqual([DAY])
    expect(reads.events).toEqual([reviewEvent])
    expect(reads.last.attempt).toMatchObject({ state: 'review', clean_reads: 0 })
  })

  test('change neither item nor attempt', () => {
    const { record, attempt } = doubtful()
    const step = failing()(record, attempt, at(5_000))
    expect(step).toEqual({
      record,
      attempt,
      events: [],
      next: { kind: 'reconcile', at: at(10_000) },
    })
  })

  test('are tried again no sooner than the network asks, but not after the last moment of a late hit', () => {
    const { record, attempt } = doubtful()
    expect(failing(15 * 60_000)(record, attempt, at(5_000)).next).toEqual({
      kind: 'reconcile',
      at: at(905_000),
    })
    expect(failing(7 * DAY)(record, attempt, at(5_000)).next).toEqual({
      kind: 'reconcile',
      at: at(DAY),
    })
  })

  test('of an item in review say nothing more when they end', () => {
    const { record, attempt } = doubtful()
    const step = failing()({ ...record, review: true }, { ...attempt, state: 'review' }, at(DAY))
    expect([step.events, step.next]).toEqual([[], { kind: 'done' }])
  })

  test('do not count as clean between those that are', () => {
    let turn = 0
    const reads = readAll((record, attempt, now) =>
      turn++ % 2 === 0 ? failing()(record, attempt, now) : clean(record, attempt, now),
    )
    expect(reads.review).toEqual([reads.at[5]!])
    expect(reads.events).toEqual([reviewEvent])
  })
})

describe('a read that shows it', () => {
  const made = seen('Ship it.', { url: 'https://example.com/p/1' })

  test.each([
    ['at the first read', false, 5_000],
    ['in review', true, 31_000],
    ['a day later', true, DAY],
  ])('settles it %s', (_, review, ms) => {
    const { record, attempt } = doubtful()
    const state = review ? ('review' as const) : attempt.state
    const step = hit(
      trial({ ...record, review }, { ...attempt, clean_reads: 2, state }, at(ms)),
      made,
    )
    const { external_id, url } = { external_id: 'post-1', url: 'https://example.com/p/1' }
    const change = {
      status: 'posted' as const,
      review: false,
      external_id,
      url,
      posted_at: at(ms),
      last_error: null,
      updated_at: at(ms),
    }
    expect(step.record).toEqual({ ...record, ...change })
    expect(step.attempt).toMatchObject({ state: 'posted', external_id: 'post-1', ended_at: at(ms) })
    expect(step.events).toEqual([
      {
        type: 'growth.item.posted',
        data: { item_id: 'item-1', batch_id: 'batch-1', external_id, url, posted_at: at(ms) },
      },
    ])
    expect(step.next).toEqual({ kind: 'done' })
  })
})
