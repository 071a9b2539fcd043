import { describe, expect, test } from 'bun:test'
import type { PlanState } from '#contract/limits'
import {
  newTarget,
  nextReadAt,
  nextTargetRead,
  normalHandle,
  readTarget,
  type TargetStatus,
  targetLimits,
  unreadTarget,
  updateTarget,
  type Watching,
} from '#domain/growth/learning/target'
import { errorOf } from '#test/domain/errors'
import { at, DAY, HOUR, MINUTE } from '#test/domain/records'

const asked = {
  handle: '@Ships_On.Tuesday ',
  category: null,
  priority: 2,
  others: { total: 0, taken: false },
  now: at(),
}
const target = newTarget('target-1', asked)
const since = (date: Date): number => date.getTime() - at().getTime()

test.each([
  ['@Lena', 'lena'],
  [' lena ', 'lena'],
  ['LENA.b-c_9', 'lena.b-c_9'],
])('the handle %p becomes %p', (text, handle) => {
  expect(normalHandle(text)).toBe(handle)
})

test.each([[''], ['@'], ['@@lena'], ['le na'], ['x'.repeat(51)], ['https://x.com/lena']])(
  '%p is not a handle',
  (text) => {
    expect(errorOf(() => normalHandle(text)).code).toBe('invalid_input')
  },
)

test('a new target is active and read at once', () => {
  expect(target).toMatchObject({
    handle: 'ships_on.tuesday',
    status: 'active',
    last_read_at: null,
    reads: 0,
    reads_micros: 0,
  })
  expect(nextTargetRead(target)).toEqual(at())
})

test('an account is a target once, and the number of targets is limited', () => {
  expect(
    errorOf(() => newTarget('t', { ...asked, others: { total: 1, taken: true } })).message,
  ).toBe('ships_on.tuesday is already a target')
  expect(
    newTarget('t', { ...asked, others: { total: targetLimits.targets - 1, taken: false } }).status,
  ).toBe('active')
  expect(
    errorOf(() =>
      newTarget('t', { ...asked, others: { total: targetLimits.targets, taken: false } }),
    ).code,
  ).toBe('conflict')
})

describe('any status may follow any other', () => {
  const statuses: TargetStatus[] = ['active', 'paused']
  test.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))(
    '%s, set to %s',
    (from, to) => {
      const before = { ...target, status: from, failures: 3, last_error: 'unreachable' }
      const next = updateTarget(before, { status: to }, at(1))
      expect([next.status, next.updated_at]).toEqual([to, at(1)])
      // A target that is active again starts without its earlier failures.
      const isAnew = from === 'paused' && to === 'active'
      expect([next.failures, next.last_error]).toEqual(isAnew ? [0, null] : [3, 'unreachable'])
    },
  )

  test('a change leaves fields it does not name', () => {
    expect(updateTarget({ ...target, category: 'peers' }, { priority: 1 }, at(1))).toMatchObject({
      category: 'peers',
      priority: 1,
      status: 'active',
    })
    expect(
      updateTarget({ ...target, category: 'peers' }, { category: null }, at(1)).category,
    ).toBeNull()
  })
})

describe('the next read', () => {
  const read = { found: true, reads: 3, micros: 25_000, now: at() }

  test.each([
    [1, HOUR],
    [2, 4 * HOUR],
    [3, DAY],
  ])('of priority %i is after %i ms', (priority, wait) => {
    expect(since(nextTargetRead(readTarget({ ...target, priority }, read)))).toBe(wait)
  })

  test('comes later after each failure, up to a day', () => {
    let failing = target
    const waits = Array.from({ length: 12 }, () => {
      failing = unreadTarget(failing, 'unreachable', at())
      return since(nextTargetRead(failing))
    })
    expect(waits.slice(0, 4)).toEqual([5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 40 * MINUTE])
    expect(waits.at(-1)).toBe(DAY)
    expect(failing).toMatchObject({ failures: 12, last_error: 'unreachable' })
    expect(since(nextTargetRead(readTarget({ ...failing, priority: 1 }, read)))).toBe(HOUR)
  })

  test('of a handle that does not exist is a day later, whatever the priority', () => {
    const unknown = readTarget({ ...target, priority: 1 }, { ...read, found: false })
    expect(unknown.last_error).toBe('unknown_handle')
    expect(since(nextTargetRead(unknown))).toBe(DAY)
  })

  test('counts its reads', () => {
    expect(readTarget(readTarget(target, read), read)).toMatchObject({
      reads: 6,
      reads_micros: 50_000,
      last_read_at: at(),
      last_error: null,
    })
  })
})

describe('the next read as people see it', () => {
  const plan = (more: Partial<PlanState> = {}): PlanState => ({
    plan: 'team',
    billing: 'ok',
    overrides: {},
    ...more,
  })
  const usual: Watching = { plan: plan(), counters: {}, now: at(), paused: false, tier: 'free' }
  const spent = { counters: { 'reads_free@2026-11-21': 1_000_000 } }
  const midnight = new Date('2026-11-22T00:00:00Z')

  test.each<[string, Date | null, Partial<Watching>, Date | null]>([
    ['due later', at(HOUR), {}, at(HOUR)],
    ['overdue', at(-HOUR), {}, at()],
    ['without a row of work', null, {}, null],
    ['without an account', at(HOUR), { tier: null }, null],
    ['while paused', at(HOUR), { paused: true }, null],
    ['unpaid', at(HOUR), { plan: plan({ billing: 'trial_expired' }) }, null],
    [
      'on a plan without it',
      at(HOUR),
      { plan: plan({ overrides: { features: { engagement: false } } }) },
      null,
    ],
    ['when the day is spent', at(), spent, midnight],
    ['when the day is spent, and due after it', at(2 * DAY), spent, at(2 * DAY)],
    ['when no day has enough', at(), { plan: plan({ overrides: { reads_free: 20 } }) }, null],
  ])('%s', (_, dueAt, more, expected) => {
    expect(nextReadAt('active', dueAt, { ...usual, ...more })).toEqual(expected)
    expect(nextReadAt('paused', dueAt, { ...usual, ...more })).toBeNull()
  })
})
