/** By when a tab must show a commit. */
import { expect, test } from 'bun:test'
import { dueOf, spansOf, timesOf } from './bounds.ts'
import type { Commit } from './watch.ts'

const streams = [
  { worker: 'old', session: 's', opened: 0, closed: 10_000 },
  { worker: 'old', session: 's', opened: 13_000, closed: 40_000 },
  { worker: 'new', session: 's', opened: 20_000, closed: undefined },
  { worker: 'old', session: 'another', opened: 0, closed: undefined },
]
const loads = [
  { tab: 'a', began: 500, at: 1_000, worker: 'old' },
  { tab: 'a', began: 24_000, at: 25_000, worker: 'new' },
]
const spans = spansOf(loads, streams, 's')

test('a tab has the streams of its page’s worker, while that page stands', () => {
  expect(spans).toEqual([
    { from: 1_000, to: 10_000 },
    { from: 13_000, to: 24_000 },
    { from: 25_000, to: Number.POSITIVE_INFINITY },
  ])
})

test('a commit is due soon while a stream stands, after its return, and at the latest after 25 s', () => {
  expect(dueOf(spans, 7_000)).toEqual({ rule: 'open', by: 9_000 })
  expect(dueOf(spans, 9_000)).toEqual({ rule: 'returned', by: 18_000 })
  expect(dueOf(spans, 22_500)).toEqual({ rule: 'returned', by: 30_000 })
  expect(dueOf([], 7_000)).toEqual({ rule: 'ever', by: 32_000 })
})

test('what was shown late, or never, is told', () => {
  const commit = (what: string, sent: number, seen: number[]): Commit => ({
    what,
    sent,
    answered: sent,
    isShown: () => true,
    seen: new Map(seen.map((at) => ['a', at])),
  })
  const commits = [
    commit('one', 2_000, [2_300]),
    commit('two', 3_000, [5_100]),
    commit('three', 9_000, []),
  ]
  const { ms, late } = timesOf({ commits, tabs: ['a'], loads, streams, session: 's' })
  expect(ms.open).toEqual([300, 2_100])
  expect(late).toEqual([
    'a showed after 2100 ms that two (open: 2000)',
    'a never showed that three',
  ])
})
