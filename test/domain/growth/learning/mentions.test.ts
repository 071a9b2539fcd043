import { describe, expect, test } from 'bun:test'
import { type ReadBudget, takeReads } from '#domain/app/read-budget'
import {
  type MentionReads,
  MOST_OF_AUTHOR,
  mentionReadsIn,
  mentionsAllowed,
  mentionsCost,
  mentionsRead,
  mentionsSince,
  mentionsUnread,
  withinShare,
} from '#domain/growth/learning/mentions'
import { SIGNAL_MS } from '#domain/growth/learning/signal'
import { at, HOUR } from '#test/domain/records'

const now = at()
const MINUTE = HOUR / 60
const never = mentionReadsIn({})
const minutesTo = ({ next }: { next: Date }): number => (next.getTime() - now.getTime()) / MINUTE

describe('the next read', () => {
  test('is soon after one that found something, and within the hour however long nothing comes', () => {
    let reads: MentionReads = never
    const waits: number[] = []
    for (const found of [3, 0, 0, 0, 0, 0, 1, 0]) {
      const after = mentionsRead(reads, { found, cost: 1 }, now)
      waits.push(minutesTo(after))
      reads = after.reads
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60, 5, 10])
    expect(minutesTo(mentionsRead({ ...never, quiet: 1e9 }, { found: 0, cost: 1 }, now))).toBe(60)
  })

  test('after failures is later and later, never before the network wants it, and within a day', () => {
    let reads: MentionReads = { ...never, quiet: 3 }
    const waits: number[] = []
    for (let nth = 0; nth < 8; nth++) {
      const after = mentionsUnread(reads, now)
      waits.push(minutesTo(after))
      reads = after.reads
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(minutesTo(mentionsUnread(never, now, 90 * MINUTE))).toBe(90)
    expect(minutesTo(mentionsUnread(never, now, 1e12))).toBe(24 * 60)
    expect(mentionsRead(reads, { found: 0, cost: 1 }, now).reads).toMatchObject({
      readAt: +now,
      quiet: 4,
      failures: 0,
    })
  })

  test('asks from a little before the last one on, and for nothing that is too old to be answered', () => {
    expect(mentionsSince(never, now)).toEqual(at(-SIGNAL_MS))
    expect(mentionsSince({ ...never, readAt: +at(-HOUR) }, now)).toEqual(at(-HOUR - 5 * MINUTE))
    expect(mentionsSince({ ...never, readAt: +at(-99 * HOUR) }, now)).toEqual(at(-SIGNAL_MS))
    expect(mentionsSince({ ...never, readAt: +at(HOUR) }, now)).toEqual(at(-5 * MINUTE))
  })
})

test('what a row remembers is read with care', () => {
  const odd = { readAt: 'x', quiet: -1, failures: 0.5, day: 7, spent: null }
  expect(mentionReadsIn(odd)).toEqual(never)
  const known = { readAt: 7, quiet: 2, failures: 1, day: '2026-11-21', spent: 3 }
  expect(mentionReadsIn(known)).toEqual(known)
})

describe.each(['free', 'payg'] as const)('a read on tier %s', (tier) => {
  const one = mentionsCost(tier, 1)
  const budgetOf = (limit: number, left: number): ReadBudget => {
    const reserved = limit / 10
    return {
      tier,
      limit: limit * one,
      used: (limit - reserved - left) * one,
      reserved: reserved * one,
    }
  }

  test('fits into what is left of the day', () => {
    for (const left of [0, 1, 7, 20, 900]) {
      const budget = budgetOf(1_000, left)
      const posts = mentionsAllowed(budget, never, now)
      expect(posts).toBe(Math.min(20, left))
      if (posts > 0) takeReads(budget, mentionsCost(tier, posts), now)
    }
    expect(mentionsCost(tier, 0)).toBe(one)
  })

  test('however many strangers write, takes a third of the day, and goes on the next', () => {
    let reads = never
    let spent = 0
    for (let nth = 0; nth < 100; nth++) {
      const posts = mentionsAllowed(budgetOf(1_000, 900 - spent), reads, now)
      if (posts === 0) break
      const cost = mentionsCost(tier, posts)
      spent += posts
      reads = mentionsRead(reads, { found: posts, cost }, now).reads
    }
    expect(spent).toBe(333)
    expect(mentionsAllowed(budgetOf(1_000, 900), reads, at(24 * HOUR))).toBe(20)
  })
})

test('one author has a part of the open signals, the newest, and leaves the others theirs', () => {
  const of = (handle: string, count: number) =>
    Array.from({ length: count }, (_, nth) => ({ author: { handle }, nth }))
  const flood = of('flood.test', 50)
  const kept = withinShare([...flood, ...of('friend.test', 2)], new Map([['flood.test', 3]]))
  expect(kept).toEqual([...flood.slice(0, MOST_OF_AUTHOR - 3), ...of('friend.test', 2)])
  expect(withinShare(flood, new Map([['flood.test', 99]]))).toEqual([])
})
