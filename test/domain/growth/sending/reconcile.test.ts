import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import { post } from '#domain/growth/sending/post'
import { afterFailedRead, cleanRead, findPost, hit, readSince, type SeenPost } from '#domain/growth/sending/reconcile'
import { doubt, type Settled } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { fingerprintText } from '#port/network/text'
import { at, attemptWith, DAY, HOUR, itemIn } from '#test/domain/records'

const SENTENCE = 'Eleven of fourteen delays started at the loading dock, and nobody had counted them.'
const FORTY = SENTENCE.slice(0, 40)

const seen = (text: string, changes: Partial<SeenPost> = {}): SeenPost => ({
  externalId: 'post-1',
  text,
  truncated: false,
  createdAt: at(1_000),
  url: null,
  ...changes,
})
const open = (text: string, id = 'attempt-1') => ({ attempt: attemptWith({ id, intent_at: at() }), text })

const find = (own: string, posts: SeenPost[], { others = [], taken = [] }: { others?: string[]; taken?: string[] } = {}) =>
  findPost(open(own), posts, { others: others.map((text, index) => open(text, `other-${index}`)), taken: new Set(taken) })?.externalId

describe('the whole text', () => {
  test('is found, however short, among others', () => {
    expect(find('Ship it.', [seen('Ship it!', { externalId: 'other' }), seen('Ship it.')])).toBe('post-1')
  })

  test.each([
    ['another text', 'Ship it today.'],
    ['its beginning', 'Ship'],
    ['a text that goes on', 'Ship it. And more.'],
    ['another case', 'ship it.'],
    ['nothing', ''],
  ])('is not %s', (_, text) => {
    expect(find('Ship it.', [seen(text)])).toBeUndefined()
  })

  test('is compared as normalised: links, composition and white space do not count', () => {
    const sentText = 'Cafe\u0301 opens at dawn.\n\nhttps://example.com/a/long/path'
    const shown = 'Caf\u00e9 opens  at dawn. https://t.co/aB3dE'
    expect(find(fingerprintText(sentText), [seen(fingerprintText(shown))])).toBe('post-1')
  })

  test('of links alone leaves nothing to compare and is never found', () => {
    const own = fingerprintText('https://example.com/a https://example.org')
    expect(find(own, [seen(own), seen('', { truncated: true })])).toBeUndefined()
  })

  test('several times: the oldest is the one the attempt made', () => {
    const posts = [
      seen('Ship it.', { externalId: 'late', createdAt: at(9_000) }),
      seen('Ship it.', { externalId: 'early', createdAt: at(2_000) }),
    ]
    expect(find('Ship it.', posts)).toBe('early')
    expect(find('Ship it.', posts.toReversed())).toBe('early')
  })

  test('is left to an item with the same text that a person settled: the older post is that one', () => {
    const posts = [seen('Ship it.', { externalId: 'early', createdAt: at(2_000) })]
    expect(find('Ship it.', posts, { others: ['Ship it.'] })).toBeUndefined()
    expect(find('Ship it.', [...posts, seen('Ship it.', { externalId: 'late', createdAt: at(9_000) })], { others: ['Ship it.'] })).toBe(
      'late',
    )
  })

  test('cut short by the network is no whole text, even where it equals one', () => {
    expect(find('Ship it.', [seen('Ship it.', { truncated: true })])).toBeUndefined()
    expect(find(SENTENCE, [seen(SENTENCE, { truncated: true })], { others: [`${SENTENCE} Then we did.`] })).toBeUndefined()
  })
})

describe('when and whose', () => {
  test('a timeline is read from five seconds before the intent, for clocks differ', () => {
    expect(readSince(attemptWith({ intent_at: at() }))).toEqual(at(-5_000))
  })

  test.each([
    ['just within the skew', -5_000, 'post-1'],
    ['before it', -5_001, undefined],
    ['the day before', -DAY, undefined],
  ])('a post made %s', (_, ms, found) => {
    expect(find('Ship it.', [seen('Ship it.', { createdAt: at(ms) })])).toBe(found)
    expect(find(SENTENCE, [seen(`${FORTY}…`, { createdAt: at(ms) })])).toBe(found)
  })

  test('a post that another item owns is left out, and the next one is found', () => {
    const posts = [seen('Ship it.'), seen('Ship it.', { externalId: 'post-2', createdAt: at(2_000) })]
    expect(find('Ship it.', posts, { taken: ['post-1'] })).toBe('post-2')
    expect(find('Ship it.', posts, { taken: ['post-1', 'post-2'] })).toBeUndefined()
    expect(find(SENTENCE, [seen(`${FORTY}…`)], { taken: ['post-1'] })).toBeUndefined()
  })
})

describe('the beginning of a text', () => {
  test.each([
    ['ends in an ellipsis', `${FORTY}…`, false, 'post-1'],
    ['ends in three dots', `${FORTY}...`, false, 'post-1'],
    ['has a space before the ellipsis', `${FORTY} …`, false, 'post-1'],
    ['is said to be truncated', FORTY, true, 'post-1'],
    ['is said to be truncated and ends in an ellipsis', `${FORTY}…`, true, 'post-1'],
    ['ends like a whole text', FORTY, false, undefined],
    ['is a character too short', `${SENTENCE.slice(0, 39)}…`, true, undefined],
    ['is the beginning of something else', `${FORTY}X…`, true, undefined],
    ['is a middle part', `${SENTENCE.slice(1, 60)}…`, true, undefined],
  ])('that %s', (_, text, truncated, found) => {
    expect(find(SENTENCE, [seen(text, { truncated })])).toBe(found)
  })

  test('is measured in characters: an emoji is one', () => {
    const emoji = '🚀'.repeat(39)
    expect(find(`${emoji}🎉 and more`, [seen(`${emoji}…`)])).toBeUndefined()
    expect(find(`${emoji}🎉 and more`, [seen(`${emoji}🎉…`)])).toBe('post-1')
  })

  test('that fits two open attempts decides nothing for either', () => {
    const [one, other] = [`${FORTY} one`, `${FORTY} other`]
    const posts = [seen(`${FORTY} o…`)]
    expect(find(one, posts, { others: [other] })).toBeUndefined()
    expect(find(other, posts, { others: [one] })).toBeUndefined()
  })

  test('that tells two open attempts apart is found', () => {
    expect(find(`${FORTY} one`, [seen(`${FORTY} on…`)], { others: [`${FORTY} other`] })).toBe('post-1')
  })

  test('gives way to the whole text', () => {
    const posts = [seen(`${FORTY}…`, { externalId: 'cut' }), seen(SENTENCE, { externalId: 'whole', createdAt: at(3_000) })]
    expect(find(SENTENCE, posts)).toBe('whole')
  })

  test('several times: the oldest', () => {
    const posts = [seen(`${FORTY}…`, { externalId: 'late', createdAt: at(9_000) }), seen(`${FORTY}…`, { externalId: 'early' })]
    expect(find(SENTENCE, posts)).toBe('early')
  })

  test('property: a cut text is taken exactly when it is long enough, a beginning of its own text, and of no other open one', () => {
    const alphabet = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 })
    const stem = 'x'.repeat(38)
    fc.assert(
      fc.property(alphabet, alphabet, alphabet, (own, other, shown) => {
        const fits = `${stem}${shown}`.length >= 40 && own.startsWith(shown) && !other.startsWith(shown)
        const found = find(`${stem}${own}`, [seen(`${stem}${shown}`, { truncated: true })], { others: [`${stem}${other}`] })
        expect(found).toBe(fits ? 'post-1' : undefined)
      }),
    )
  })
})

const trial = (record: Item, attempt: Attempt, now: Date) => ({ moves: post, record, attempt, now, times: sendTimes })

/** An item whose send at `at(0)` was answered by nothing that proves anything. */
const doubtful = () => doubt(trial(itemIn.publishing, attemptWith(), at()), { reason: 'timeout', cause: 'no_answer' })

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
    if (reads.last.record.review && !before.review) reads.review.push(now.getTime() - at().getTime())
    if (reads.at.length > 1_000) throw new Error('the reads do not end')
  }
  return reads
}

const clean = (record: Item, attempt: Attempt, now: Date) => cleanRead(trial(record, attempt, now))
const failing = (retryAfterMs?: number) => (record: Item, attempt: Attempt, now: Date) =>
  afterFailedRead(trial(record, attempt, now), retryAfterMs)

const reviewEvent = { type: 'growth.approval.requested', data: { kind: 'item_review', item_id: 'item-1' } }

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
    for (const [index, gap] of gaps.slice(1, -1).entries()) expect(gap).toBeGreaterThanOrEqual(gaps[index]!)
    expect(times.at(-1)).toBe(DAY)
    expect(times.length).toBeLessThan(30)
    expect(last.record).toMatchObject({ status: 'publish_unconfirmed', review: true })
    expect(last.attempt).toMatchObject({ state: 'review', ended_at: null })
  })

  test('are enough only over the whole time, however many there were before', () => {
    const { record, attempt } = doubtful()
    const third = clean(record, { ...attempt, clean_reads: 2 }, at(29_000))
    expect(third).toMatchObject({ record: { review: false }, attempt: { state: 'doubt' }, events: [] })
    expect(third.next).toEqual({ kind: 'reconcile', at: at(41_500) })
  })

  test('the first two leave the item as it is and are counted', () => {
    const { record, attempt } = doubtful()
    const first = clean(record, attempt, at(5_000))
    expect(first).toEqual({ record, attempt: { ...attempt, clean_reads: 1 }, events: [], next: { kind: 'reconcile', at: at(17_500) } })
    const third = clean(record, { ...attempt, clean_reads: 2 }, at(30_000))
    expect(third.record).toEqual({ ...record, review: true, updated_at: at(30_000) })
    expect(third.attempt).toEqual({ ...attempt, clean_reads: 3, state: 'review' })
  })

  test('of an item in review change only the count', () => {
    const { record, attempt } = doubtful()
    const inReview = { record: { ...record, review: true }, attempt: { ...attempt, clean_reads: 3, state: 'review' as const } }
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
    expect(step).toEqual({ record, attempt, events: [], next: { kind: 'reconcile', at: at(10_000) } })
  })

  test('are tried again no sooner than the network asks, but not after the last moment of a late hit', () => {
    const { record, attempt } = doubtful()
    expect(failing(15 * 60_000)(record, attempt, at(5_000)).next).toEqual({ kind: 'reconcile', at: at(905_000) })
    expect(failing(7 * DAY)(record, attempt, at(5_000)).next).toEqual({ kind: 'reconcile', at: at(DAY) })
  })

  test('of an item in review say nothing more when they end', () => {
    const { record, attempt } = doubtful()
    const step = failing()({ ...record, review: true }, { ...attempt, state: 'review' }, at(DAY))
    expect([step.events, step.next]).toEqual([[], { kind: 'done' }])
  })

  test('do not count as clean between those that are', () => {
    let turn = 0
    const reads = readAll((record, attempt, now) => (turn++ % 2 === 0 ? failing()(record, attempt, now) : clean(record, attempt, now)))
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
    const step = hit(trial({ ...record, review }, { ...attempt, clean_reads: 2, state }, at(ms)), made)
    const { external_id, url } = { external_id: 'post-1', url: 'https://example.com/p/1' }
    const change = { status: 'posted' as const, review: false, external_id, url, posted_at: at(ms), last_error: null, updated_at: at(ms) }
    expect(step.record).toEqual({ ...record, ...change })
    expect(step.attempt).toMatchObject({ state: 'posted', external_id: 'post-1', ended_at: at(ms) })
    expect(step.events).toEqual([
      { type: 'growth.item.posted', data: { item_id: 'item-1', batch_id: 'batch-1', external_id, url, posted_at: at(ms) } },
    ])
    expect(step.next).toEqual({ kind: 'done' })
  })
})
