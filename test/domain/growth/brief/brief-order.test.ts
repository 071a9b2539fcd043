/** When an action stays away, how many drafts and slots it counts, and the order of several. */
import { describe, expect, test } from 'bun:test'
import { type BriefFacts, rankAdvice, urgencies } from '#domain/growth/brief/brief'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import { at, DAY } from '#test/domain/records'
import { calm, first, found, kindsOf, nothing, withItems } from './workspaces.ts'

const noQuota = { ...calm.quota, limit: 0 }

test('a workspace in order gets no actions', () => expect(actionsOf(calm)).toEqual([]))

describe('no action comes', () => {
  test.each<[string, Partial<BriefFacts>]>([
    ['of a profile that is younger than 60 days', { profileUpdatedAt: at(-60 * DAY + 1) }],
    ['of a quota of which a fifth is left', { quota: { ...calm.quota, used: 79 } }],
    ['of a quota that is nothing', { quota: { ...calm.quota, used: 0, limit: 0 } }],
    ['of a read budget of which a fifth is left', { reads: { ...calm.reads, used: 719 } }],
    [
      'of automation that holds nothing',
      { ...withItems({ scheduled: nothing }), paused: true, drafting: 1 },
    ],
    ['of numbers of fifteen posts', { activeLearnings: 0, measured: 15 }],
    [
      'of an audit within a week of the last one',
      { activeLearnings: 0, auditedAt: at(-7 * DAY + 1) },
    ],
    [
      'of signals where the plan has no engagement',
      { ...withItems({ signals: found(3), engaging: found(1) }), mayEngage: false },
    ],
    ['of an audit that the plan has not', { activeLearnings: 0, mayAudit: false }],
    ['of free slots while a batch is drafted for them', { slots: [at(DAY)], drafting: 1 }],
    [
      'of an empty queue while posts are switched off',
      { ...withItems({ scheduled: nothing }), isInactive: true, slots: null },
    ],
    [
      'of an empty queue that the quota of the month cannot fill',
      { ...withItems({ scheduled: nothing }), quota: noQuota },
    ],
    ['of free slots that the quota of the month cannot fill', { slots: [at(DAY)], quota: noQuota }],
    [
      'of an empty queue while a batch is drafted',
      { ...withItems({ scheduled: nothing }), drafting: 1 },
    ],
  ])('%s', (_, changes) => expect(kindsOf(changes)).toEqual([]))
})

test('a suggestion names a time and an action only if they are known', () => {
  const unknown: Partial<BriefFacts> = {
    cadences: { posts: false, articles: true },
    engageBy: null,
    slots: null,
  }
  const items = withItems({ approved: found(1), approved_articles: found(1), signals: found(1) })
  expect(
    actionsOf({ ...calm, ...items, ...unknown }).map((one) => [
      one.kind,
      one.operation,
      one.arguments,
    ]),
  ).toEqual([
    ['schedule_posts', 'growth.items.schedule', { id: 'id-0' }],
    ['schedule_articles', 'growth.items.schedule', { id: 'id-0', post_at: 'next_slot' }],
    ['answer_signals', 'growth.signals.list', {}],
  ])
})

test('without an account no engagement is suggested for execution', () => {
  const items = withItems({ engaging: found(1), scheduled: nothing, drafts: found(1) })
  expect(kindsOf({ ...items, accounts: { connected: 0, known: 1, lost: [] } })).toEqual([
    'approve_posts',
    'connect_first_account',
  ])
})

describe('free slots', () => {
  test("ask for no more drafts than the month's quota has left", () => {
    const slots = [at(DAY), at(2 * DAY), at(3 * DAY)]
    expect(first({ slots, quota: { ...calm.quota, used: 98 } })).toMatchObject({
      kind: 'fill_slots',
      count: 3,
      arguments: { count: 2 },
    })
  })

  test('take approved items first', () => {
    const one = first({
      ...withItems({ approved: found(2) }),
      slots: [at(DAY), at(2 * DAY), at(3 * DAY)],
    })
    expect(one).toMatchObject({
      kind: 'fill_slots',
      operation: 'growth.items.schedule',
      arguments: { id: 'id-0', post_at: 'next_slot' },
      count: 3,
    })
    expect(one.rows.map(({ type }) => type)).toEqual(['slot', 'slot', 'slot'])
  })

  test('ask only for the drafts still missing, at most twenty at once', () => {
    const slots = Array.from({ length: 30 }, (_, day) => at((day + 1) * DAY))
    const fill = (drafts: number) =>
      actionsOf({ ...calm, ...withItems({ drafts: found(drafts) }), slots }).find(
        ({ kind }) => kind === 'fill_slots',
      )
    expect([fill(1)?.arguments, fill(28)?.arguments, fill(30)]).toEqual([
      { count: 20 },
      { count: 2 },
      undefined,
    ])
    expect(fill(0)!.rows[0]).toEqual({
      id: null,
      type: 'slot',
      title: 'Free on 2026-11-22 at 07:00 UTC',
      status: 'free',
      at: at(DAY),
    })
  })
})

describe('the order', () => {
  const everything: Partial<BriefFacts> = {
    ...withItems({
      review: found(1),
      failed: found(1),
      drafts: found(9),
      articles: found(1),
      unconfirmed: found(1),
    }),
    billing: 'plan_expired',
    paused: true,
    missing: ['voice'],
    slots: Array.from({ length: 20 }, (_, day) => at((day + 1) * DAY)),
    quota: { ...calm.quota, used: 99 },
    ready: found(1),
    activeLearnings: 0,
    reads: { ...calm.reads, used: 900 },
  }

  test('is by urgency, first what only a person can settle', () => {
    expect(kindsOf(everything)).toEqual([
      ...[
        'settle_posts',
        'fix_billing',
        'retry_failed_posts',
        'resume_automation',
        'approve_posts',
        'approve_articles',
        'fill_slots',
      ],
      ...[
        'raise_quota',
        'conclude_experiment',
        'complete_profile',
        'run_audit',
        'spare_reads',
        'watch_posts',
      ],
    ] as never)
  })

  test('depends a little on how many wait, but never enough for distant kinds to change places', () => {
    const score = (count: number) => first(withItems({ drafts: found(count) })).score
    expect([1, 2, 3, 4, 8, 16, 5_000].map(score)).toEqual([65, 66, 66, 67, 68, 69, 69])
    expect(kindsOf(withItems({ drafts: found(5_000), review: found(1) }))).toEqual([
      'settle_posts',
      'approve_posts',
    ])
  })

  test('does not depend on the order of the rules, and each kind comes once', () => {
    const actions = actionsOf({ ...calm, ...everything })
    expect(rankAdvice(actions.toReversed())).toEqual(actions)
    expect(new Set(actions.map(({ kind }) => kind)).size).toBe(actions.length)
    expect(Object.values(urgencies).every((urgency) => urgency >= 0 && urgency <= 100)).toBeTrue()
  })
})
