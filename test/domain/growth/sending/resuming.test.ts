import { expect, test } from 'bun:test'
import { isMissed } from '#domain/growth/sending/missed'
import { lostAfterMs, type Overdue, onResuming } from '#domain/growth/sending/resuming'
import { sendTimes as times } from '#domain/growth/sending/times'
import { HOUR, MINUTE } from '#test/domain/records'

const now = new Date('2026-11-27T12:00:00Z')
const late = (ms: number, more: Partial<Overdue> = {}): Overdue => ({
  at: new Date(now.getTime() - ms),
  policy: 'post',
  tries: 0,
  network: 'sandbox',
  posts: 1,
  ...more,
})

const by = { now, times, isForbidden: false, serves: (network: string) => network === 'sandbox' }

test('posts go out by the rule that a claim uses, in groups', () => {
  const overdue = [
    late(HOUR - 1, { posts: 5 }),
    late(HOUR, { posts: 7 }),
    late(MINUTE, { policy: 'skip', posts: 11 }),
    late(MINUTE + 1, { policy: 'skip', posts: 13 }),
    late(HOUR, { policy: 'skip', tries: 2, posts: 17 }),
  ]
  expect(onResuming(overdue, 100, by)).toEqual({ sent: 5 + 11 + 17, skipped: 120 })
  expect(onResuming([], 0, by)).toEqual({ sent: 0, skipped: 0 })
})

test('nothing goes out without an account on a network that is served, or against the plan', () => {
  const overdue = [late(1, { network: null }), late(1, { network: 'x', posts: 2 }), late(1)]
  expect(onResuming(overdue, 4, by)).toEqual({ sent: 1, skipped: 7 })
  expect(onResuming(overdue, 4, { ...by, isForbidden: true })).toEqual({ sent: 0, skipped: 8 })
})

test('without a rule, a post follows that of a profile that says none', () => {
  expect(onResuming([late(30 * MINUTE, { policy: null })], 0, by).sent).toBe(1)
})

test('what is only counted is missed by every rule', () => {
  const at = new Date(now.getTime() - lostAfterMs(times) - 1)
  for (const policy of ['post', 'skip'] as const)
    for (const tries of [0, 1, 9])
      expect(isMissed({ at }, { now, tries, times, policy })).toBe(true)
})
