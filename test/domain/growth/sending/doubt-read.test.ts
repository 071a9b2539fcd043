/** What is kept of a timeline that was read while a send was in doubt. */
import { expect, test } from 'bun:test'
import { withRead } from '#domain/growth/sending/attempt'
import { shownTimeline } from '#domain/growth/sending/doubt-read'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import { at, attemptWith } from '#test/domain/records'

const attempt = attemptWith({ intent_at: at(60_000) })

const post = (seconds: number, original = `${seconds}`): SeenPost => ({
  externalId: `at ${seconds}`,
  text: original,
  original,
  truncated: false,
  createdAt: at(seconds * 1_000),
  url: null,
})
const idsOf = (posts: SeenPost[], candidates: SeenPost[] = []) =>
  shownTimeline(posts, candidates, attempt).map(({ external_id }) => external_id)

test('ten posts are kept, those nearest to the attempt, newest first', () => {
  const seconds = [58, 59, 61, 62, 63, 64, 65, 66, 67, 68, 69, 400]
  const kept = seconds.filter((one) => one !== 400 && one !== 69).toReversed()
  expect(idsOf(seconds.toReversed().map((one) => post(one)))).toEqual(
    kept.map((one) => `at ${one}`),
  )
  expect(idsOf([])).toEqual([])
})

test('a post that may be the one sent is kept, however late it was made', () => {
  const posts = Array.from({ length: 30 }, (_, index) => post(60 + index)).toReversed()
  const late = post(3_600)
  expect(idsOf([late, ...posts], [late])[0]).toBe('at 3600')
  expect(idsOf([late, ...posts], [late])).toHaveLength(10)
})

test.each([
  ['a short text', 'Late again.', 'Late again.', false],
  ['exactly as much as is kept', 'x'.repeat(500), 'x'.repeat(500), false],
  ['more', 'x'.repeat(501), 'x'.repeat(500), true],
  ['characters of two units', '🚚'.repeat(501), '🚚'.repeat(500), true],
  ['one unit, then two each', `x${'🚚'.repeat(499)}`, `x${'🚚'.repeat(499)}`, false],
  ['what Postgres cannot store', 'a\0b\ud800c', 'ab\ufffdc', false],
  ['nothing but that, at length', '\0'.repeat(5_000), '', true],
])('of a text, %s', (_, original, text, is_cut) => {
  expect(shownTimeline([post(61, original)], [], attempt)).toMatchObject([{ text, is_cut }])
})

test('a text that the network shortened is told as cut', () => {
  const posts = [{ ...post(61), truncated: true }]
  expect(shownTimeline(posts, [], attempt)).toMatchObject([{ text: '61', is_cut: true }])
})

test('of reads that saw the same, the last one keeps its timeline', () => {
  const timeline = shownTimeline([post(61)], [], attempt)
  const read = (saw: 'nothing' | 'unclear' | 'unreadable', second: number) => ({
    at: at(second * 1_000),
    saw,
    posts: saw === 'unreadable' ? null : 1,
    candidates: [],
    timeline: saw === 'unreadable' ? null : timeline,
  })
  const seen = [
    read('nothing', 70),
    read('unclear', 71),
    read('nothing', 72),
    read('unreadable', 73),
  ]
  const { reads } = seen.reduce(withRead, attempt)
  expect(reads).toEqual([{ ...seen[0]!, timeline: null }, ...seen.slice(1)])
  const many = Array.from({ length: 50 }, (_, index) => read('nothing', 80 + index))
  const kept = many.reduce(withRead, attempt).reads
  expect(kept).toHaveLength(20)
  expect(kept.filter((one) => one.timeline).map((one) => one.at)).toEqual([many.at(-1)!.at])
})
