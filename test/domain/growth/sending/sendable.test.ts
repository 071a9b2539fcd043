/** What of the queue is sent, is too late, or is given back unsent. */
import { describe, expect, test } from 'bun:test'
import { isMissed } from '#domain/growth/sending/missed'
import { post } from '#domain/growth/sending/post'
import type { Origin, ReturnReason } from '#domain/growth/sending/sendable'
import { sendTimes } from '#domain/growth/sending/times'
import { ACCOUNT, at, HOUR, itemIn, MINUTE, stateNames } from '#test/domain/records'
import { now } from './outcomes.ts'

describe('what a claim may take', () => {
  const takes = (origin: Origin) =>
    stateNames.filter((state) => post.isWaiting(itemIn[state], origin))
  test('work that a person asked for waits as publishing, work of the schedule as scheduled', () => {
    expect(takes('manual')).toEqual(['publishing'])
    expect(takes('automatic')).toEqual(['scheduled'])
  })
})

describe('a due item that is late', () => {
  const missed = (policy: 'post' | 'skip', late: number, tries = 0): boolean =>
    isMissed(post.scheduleOf(itemIn.scheduled), {
      now: new Date(at(HOUR).getTime() + late),
      tries,
      times: sendTimes,
      policy,
    })

  test.each([
    ['post', 'early', -1, false],
    ['post', 'on time', 0, false],
    ['post', 'just under an hour late', HOUR - 1, false],
    ['post', 'an hour late', HOUR, true],
    ['post', 'a day late', 24 * HOUR, true],
    ['skip', 'early', -1, false],
    ['skip', 'on time', 0, false],
    ['skip', 'a minute late', MINUTE, false],
    ['skip', 'over a minute late', MINUTE + 1, true],
    ['skip', 'an hour late', HOUR, true],
  ] as const)('%s, %s', (policy, _, late, answer) => {
    expect(missed(policy, late)).toBe(answer)
  })

  test.each([['post'], ['skip']] as const)(
    '%s: one that was tried in time is not missed within its hour of tries, but after it',
    (policy) => {
      expect(missed(policy, MINUTE + 1, 1)).toBe(false)
      expect(missed(policy, HOUR, 4)).toBe(false)
      expect(missed(policy, HOUR + MINUTE, 4)).toBe(false)
      expect(missed(policy, HOUR + MINUTE + 1, 4)).toBe(true)
      expect(missed(policy, 24 * HOUR, 1)).toBe(true)
    },
  )

  test('what is not on the schedule cannot be missed', () => {
    expect(
      isMissed(post.scheduleOf(itemIn.publishing), {
        now: at(24 * HOUR),
        tries: 0,
        times: sendTimes,
        policy: 'skip',
      }),
    ).toBe(false)
  })
})

describe('given back unsent', () => {
  const reasons: ReturnReason[] = [
    'x_not_connected',
    'missed',
    'same_text_unconfirmed',
    'plan_invalid:trial_expired',
    'plan_invalid:plan_expired',
  ]
  const event = (reason: ReturnReason) => ({
    type: 'growth.item.returned',
    data: { item_id: 'item-1', batch_id: 'batch-1', reason },
  })

  test.each(
    reasons.flatMap((reason) => [[reason, 'scheduled'] as const, [reason, 'publishing'] as const]),
  )('%s, %s', (reason, state) => {
    const item = {
      ...itemIn.approved,
      account_external_id: ACCOUNT,
      last_error: reason,
      updated_at: now,
    }
    expect(post.returned(itemIn[state], reason, now)).toEqual({
      record: item,
      events: [event(reason)],
    })
  })

  test.each([['scheduled'], ['publishing']] as const)(
    'approval_stale, %s: a draft again, bound to nothing',
    (state) => {
      const { record, events } = post.returned(itemIn[state], 'approval_stale', now)
      expect(record).toEqual({ ...itemIn.drafted, last_error: 'approval_stale', updated_at: now })
      expect(events).toEqual([event('approval_stale')])
    },
  )
})
