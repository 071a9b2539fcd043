import { describe, expect, test } from 'bun:test'
import type { DoubtCause, Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import { post } from '#domain/growth/sending/post'
import { clearRead, lateHit, type Proof, watchNext } from '#domain/growth/sending/returning'
import { doubt, type Settled } from '#domain/growth/sending/send'
import { sendTimes, sendTimes as times } from '#domain/growth/sending/times'
import { ACCOUNT, at, attemptWith, DAY, HOUR, itemIn, MINUTE } from '#test/domain/records'

/** In doubt since `at(0)`, on a promise of so many milliseconds. */
const doubtful = (cause: DoubtCause, appliesWithinMs: number | undefined): Settled<Item> =>
  doubt(
    {
      moves: post,
      record: itemIn.publishing,
      attempt: attemptWith(),
      now: at(),
      times,
      appliesWithinMs,
    },
    { reason: '503', cause },
  )

interface Reads {
  at: number[]
  last: Settled<Item>
}

/** Reads whenever one is due, until the doubt is over or a person must look. */
const readAll = (
  first: Settled<Item>,
  proof: Partial<Proof> & { promise?: number | undefined } = {},
): Reads => {
  const reads: Reads = { at: [], last: first }
  while (
    reads.last.next.kind === 'reconcile' &&
    reads.last.record.status === 'publish_unconfirmed' &&
    !reads.last.record.review
  ) {
    const { record, attempt, next } = reads.last
    const now = (next as { at: Date }).at
    reads.at.push(now.getTime() - at().getTime())
    const appliesWithinMs = 'promise' in proof ? proof.promise : 10_000
    reads.last = clearRead(
      { moves: post, record, attempt, now, times },
      { begunAt: now, isClear: true, ...proof, appliesWithinMs },
    )
    if (reads.at.length > 1_000) throw new Error('the reads do not end')
  }
  return reads
}

const endOf = ({ record, attempt }: Settled<Item>) => [record.status, record.review, attempt.state]

describe('a doubt that a network has promised to end', () => {
  test('ends after three reads that lie behind the promise, and says so', () => {
    const { at: reads, last } = readAll(doubtful('server_error', 10_000))
    expect(reads).toEqual([5_000, 10_000, 22_500, 35_000])
    expect(last.record).toMatchObject({
      status: 'approved',
      review: false,
      post_at: null,
      last_error: 'network_error_not_posted',
    })
    expect(last.attempt).toMatchObject({
      state: 'returned',
      ended_at: at(35_000),
      clean_reads: 4,
      proof_reads: 3,
    })
    const data = { item_id: 'item-1', batch_id: 'batch-1', reason: 'network_error_not_posted' }
    expect(last.events).toEqual([{ type: 'growth.item.returned', data }])
  })

  test('waits between those reads as long as the network may take, all in all', () => {
    const { at: reads, last } = readAll(doubtful('server_error', 10 * MINUTE), {
      promise: 10 * MINUTE,
    })
    const behind = reads.filter((ms) => ms >= 10 * MINUTE)
    expect(behind).toEqual([10 * MINUTE, 15 * MINUTE, 20 * MINUTE])
    expect(reads.slice(0, 2)).toEqual([5_000, 17_500])
    expect(last.attempt.state).toBe('returned')
  })

  test.each<[string, Settled<Item>, Parameters<typeof readAll>[1]]>([
    ['a time-out', doubtful('no_answer', 10_000), {}],
    ['an answer that says nothing', doubtful('unclear_answer', 10_000), {}],
    ['a process that died', doubtful('process_stopped', 10_000), {}],
    ['a network that promises nothing', doubtful('server_error', undefined), {}],
    ['a promise for longer than late hits are looked for', doubtful('server_error', DAY), {}],
    ['a promise that is no longer given', doubtful('server_error', 10_000), { promise: undefined }],
    ['a timeline that may show it', doubtful('server_error', 10_000), { isClear: false }],
  ])('%s is left to a person, as early as ever', (_, first, proof) => {
    const { at: reads, last } = readAll(first, proof)
    expect(endOf(last)).toEqual(['publish_unconfirmed', true, 'review'])
    expect(reads).toEqual([5_000, 17_500, 30_000])
    expect(last.attempt.returns_from).toBeNull()
  })

  test('a read counts by its beginning, and by the longer of the promises then and now', () => {
    const first = doubtful('server_error', 10_000)
    const read = (begunAt: Date, appliesWithinMs: number) =>
      clearRead(
        { moves: post, record: first.record, attempt: first.attempt, now: at(HOUR), times },
        { begunAt, isClear: true, appliesWithinMs },
      ).attempt.proof_reads
    expect([
      read(at(9_999), 10_000),
      read(at(10_000), 10_000),
      read(at(10_000), 1_000),
      read(at(10_000), 60_000),
    ]).toEqual([0, 1, 1, 0])
  })

  test('a clock that has stepped back behind the doubt proves nothing', () => {
    const { record, attempt } = doubtful('server_error', 10_000)
    const early = at(-HOUR)
    const step = clearRead(
      { moves: post, record, attempt, now: early, times },
      { begunAt: early, isClear: true, appliesWithinMs: 10_000 },
    )
    expect(step.attempt).toMatchObject({ proof_reads: 0, returns_from: null })
  })

  test('what a person must look at already does not end by itself', () => {
    const { record, attempt } = doubtful('server_error', 10_000)
    const proof = { begunAt: at(HOUR), isClear: true, appliesWithinMs: 10_000 }
    const step = clearRead(
      {
        moves: post,
        record: { ...record, review: true },
        attempt: { ...attempt, proof_reads: 2 },
        now: at(HOUR),
        times,
      },
      proof,
    )
    expect(endOf(step)).toEqual(['publish_unconfirmed', true, 'review'])
  })
})

describe('after the return', () => {
  const returned: Attempt = attemptWith({ state: 'returned', ended_at: at() })

  test('the timeline is read ever more rarely, for a day', () => {
    const reads: number[] = []
    for (
      let now: Date | undefined = watchNext(returned, at(), times);
      now;
      now = watchNext(returned, now, times)
    )
      reads.push(now.getTime())
    const gaps = reads.slice(1).map((time, index) => time - reads[index]!)
    for (const [index, gap] of gaps.slice(1).entries())
      expect(gap).toBeGreaterThanOrEqual(gaps[index]!)
    expect(reads.at(-1)! - at().getTime()).toBeGreaterThanOrEqual(DAY)
    expect(reads.length).toBeLessThan(30)
  })

  const made = { externalId: 'post-9', url: null }
  const late = (record: Item): Settled<Item> => lateAt(record, ACCOUNT)
  const lateAt = (record: Item, account: string): Settled<Item> =>
    lateHit(
      { moves: post, record, attempt: returned, now: at(HOUR), times: sendTimes },
      made,
      account,
    )

  test('a late post settles an item that waits, and is told of one that went out since', () => {
    for (const item of [itemIn.approved, itemIn.scheduled, itemIn.publish_failed]) {
      const step = late(item)
      expect([
        step.record.status,
        step.record.external_id,
        step.record.post_at,
        step.attempt.state,
      ]).toEqual(['posted', 'post-9', null, 'posted'])
    }
    const step = late(itemIn.posted)
    expect(step.record).toMatchObject({
      status: 'posted',
      external_id: 'post-1',
      last_error: expect.stringContaining('post-9'),
    })
    expect(step.attempt).toMatchObject({ state: 'posted', external_id: 'post-9' })
    expect(step.events).toEqual([
      { type: 'growth.approval.requested', data: { kind: 'item_review', item_id: 'item-1' } },
    ])
  })

  test.each<[string, Partial<Item>, string]>([
    ['text', { body: 'Another text' }, ACCOUNT],
    ['account', {}, 'account-2'],
    ['text and account', { body: 'Another text' }, 'account-2'],
  ])(
    'a late post of an item edited since says that it has the earlier %s',
    (what, change, account) => {
      const { record, events } = lateAt({ ...itemIn.approved, ...change }, account)
      expect(record).toMatchObject({
        status: 'posted',
        external_id: 'post-9',
        account_external_id: account,
      })
      expect(record.last_error).toStartWith(
        `posted_before_edit: the network made the post post-9 of an earlier request after all, with the ${what} of`,
      )
      expect(events.map(({ type }) => type)).toEqual([
        'growth.item.posted',
        'growth.approval.requested',
      ])
    },
  )

  test('says nothing of an edit where nobody knows what was sent, or where the text is as it was', () => {
    const unknown: Attempt = { ...returned, sent_text: null }
    const item = { ...itemIn.approved, body: 'Another text' }
    const step = lateHit(
      { moves: post, record: item, attempt: unknown, now: at(HOUR), times: sendTimes },
      made,
      ACCOUNT,
    )
    expect([step.record.status, step.record.last_error]).toEqual(['posted', null])
    expect(late(itemIn.approved).record.last_error).toBeNull()
  })
})
