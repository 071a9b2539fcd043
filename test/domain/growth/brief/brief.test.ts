/** The brief's actions for each state of a workspace, and their order. */

import { describe, expect, test } from 'bun:test'
import { brief } from '#contract/growth/brief'
import { operations } from '#contract/index'
import { nearLimits } from '#domain/app/nearing'
import {
  type BriefActionKind,
  type BriefFacts,
  type BriefRow,
  briefActionKinds,
  type FoundGroup,
  type FoundRows,
  foundGroups,
  ranked,
  urgencies,
} from '#domain/growth/brief/brief'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import { at, DAY } from '#test/domain/records'

const found = (count: number, more: Partial<BriefRow> = {}): FoundRows => ({
  count,
  rows: Array.from({ length: Math.min(count, 10) }, (_, index) => ({
    ...{ id: `id-${index}`, type: 'post' as const, title: `Post ${index}`, status: 'drafted', at: at(-3 * DAY) },
    ...more,
  })),
})
const nothing = found(0)
const noItems = Object.fromEntries(foundGroups.map((name) => [name, nothing])) as Record<FoundGroup, FoundRows>

/** A workspace with a planned week and nothing to do. */
const calm: BriefFacts = Object.freeze({
  now: at(),
  paused: false,
  billing: 'ok',
  quota: { used: 10, limit: 100, resetsAt: at(9 * DAY) },
  near: [],
  reads: { tier: 'free' as const, limit: 1_000, used: 10, reserved: 100 },
  items: { ...noItems, scheduled: found(3, { status: 'approved' }) },
  drafting: 0,
  lastError: null,
  ready: nothing,
  replies: nothing,
  accounts: { connected: 1, known: 1 },
  missing: [],
  isBare: false,
  profileUpdatedAt: at(-59 * DAY),
  activeLearnings: 3,
  measured: 20,
  auditedAt: null,
  mayAudit: true,
  mayEngage: true,
  isInactive: false,
  cadences: { posts: true, articles: false },
  engageBy: 'reply',
  slots: [],
})

const noQuota = { ...calm.quota, limit: 0 }
const withItems = (items: Partial<Record<FoundGroup, FoundRows>>): Partial<BriefFacts> => ({ items: { ...calm.items, ...items } })
const kindsOf = (changes: Partial<BriefFacts>) => actionsOf({ ...calm, ...changes }).map(({ kind }) => kind)
const first = (changes: Partial<BriefFacts>) => actionsOf({ ...calm, ...changes })[0]!

test('a workspace in order gets no actions', () => expect(actionsOf(calm)).toEqual([]))

/** A change to the calm workspace → the one action that follows from it, and its fields. */
const cases: Record<BriefActionKind, [changes: Partial<BriefFacts>, shown: object]> = {
  settle_posts: [
    withItems({ review: found(2) }),
    { title: 'Check whether 2 posts went out', count: 2, operation: 'growth.items.markPosted', arguments: { id: 'id-0' } },
  ],
  settle_engagements: [withItems({ engaged: found(1) }), { operation: 'growth.engagements.approve', arguments: { id: 'id-0' } }],
  settle_replies: [
    { replies: found(2) },
    { title: 'Check whether 2 replies arrived', operation: 'agent.channelReplies.settle', arguments: { id: 'id-0' } },
  ],
  approve_engagements: [withItems({ engagements: found(2) }), { title: 'Approve 2 engagements', arguments: { id: 'id-0' } }],
  execute_engagements: [withItems({ engaging: found(1) }), { operation: 'growth.engagements.execute', arguments: { id: 'id-0' } }],
  answer_signals: [
    withItems({ signals: found(9) }),
    { title: 'Answer 9 signals', count: 9, operation: 'growth.signals.engage', arguments: { id: 'id-0', action: 'reply' } },
  ],
  fix_billing: [{ billing: 'trial_expired' }, { why: expect.stringContaining('trial_expired'), operation: 'app.plan.get' }],
  connect_account: [
    { accounts: { connected: 0, known: 1 } },
    { why: 'No account is connected, and 3 approved posts wait to go out, 3 of them scheduled.', count: 3 },
  ],
  connect_first_account: [
    { accounts: { connected: 0, known: 0 }, ...withItems({ scheduled: nothing }), drafting: 1 },
    { operation: 'app.connections.connectSandbox' },
  ],
  retry_failed_posts: [
    { ...withItems({ failed: found(1) }), lastError: 'duplicate text' },
    { why: expect.stringContaining('1 post, the first with “duplicate text”'), arguments: { status: 'publish_failed' } },
  ],
  resume_automation: [
    { paused: true },
    { why: expect.stringContaining('3 scheduled posts wait'), operation: 'growth.automation.resumeAll' },
  ],
  start_profile: [{ isBare: true, missing: ['goal', 'stories', 'proof'] }, { why: expect.stringContaining('goal, stories, proof') }],
  complete_profile: [
    { missing: ['voice'] },
    { why: 'Empty: voice. Filling them in makes drafts sound more like you.', operation: 'growth.profile.update' },
  ],
  approve_posts: [
    withItems({ drafts: found(12) }),
    {
      ...{ title: 'Approve 12 posts', count: 12, arguments: { id: 'id-0' }, operation: 'growth.items.approve' },
      why: '12 drafted posts wait for approval, the oldest for 3 days. Nothing goes out without approval.',
    },
  ],
  approve_articles: [
    withItems({ articles: found(1, { at: at(-DAY / 2) }) }),
    { why: '1 drafted article waits for approval. Nothing goes out without approval.' },
  ],
  fill_slots: [
    { slots: [at(DAY), at(2 * DAY)] },
    { count: 2, why: '2 slots of the next 7 days are free, and nothing is drafted for them.', arguments: { count: 2 } },
  ],
  raise_quota: [
    { quota: { used: 80, limit: 100, resetsAt: at(9 * DAY) } },
    { why: "80 of this month's 100 posts are used. 20 are left until 2026-11-30. Whoever runs this deployment can raise the limit." },
  ],
  raise_budget: [
    { near: nearLimits([{ key: 'agent_tokens_day', used: 80, limit: 100, period: '2026-11-21', resets_at: at(DAY) }]) },
    { title: 'A budget is running out', why: expect.stringContaining('can raise the limit'), operation: 'app.plan.get' },
  ],
  draft_posts: [withItems({ scheduled: nothing }), { operation: 'growth.batches.create', arguments: { count: 5 } }],
  schedule_posts: [
    withItems({ approved: found(1) }),
    { title: 'Schedule 1 approved post', arguments: { id: 'id-0', post_at: 'next_slot' } },
  ],
  schedule_articles: [withItems({ approved_articles: found(1) }), { title: 'Schedule 1 approved article', arguments: { id: 'id-0' } }],
  conclude_experiment: [
    { ready: found(1, { title: 'Numbers first' }) },
    { why: 'Every arm of “Numbers first” has enough posts with metrics.' },
  ],
  run_audit: [{ activeLearnings: 0 }, { why: '20 or more posts have metrics, and nothing has been learned from them yet.' }],
  spare_reads: [{ reads: { ...calm.reads, used: 720 } }, { why: expect.stringContaining('80% of today') }],
  watch_posts: [withItems({ unconfirmed: found(1) }), { arguments: { status: 'publish_unconfirmed' } }],
  refresh_profile: [{ profileUpdatedAt: at(-60 * DAY) }, { why: expect.stringContaining('60 days ago') }],
}

/** The forms that answers have, each for some kinds. */
const forms = brief.get.output.properties.brief.properties.actions.items.anyOf.map(({ properties }) => properties)

test('the contract has one form for each kind', () => {
  expect(forms.flatMap(({ kind }) => kind.enum as string[]).toSorted()).toEqual(briefActionKinds.toSorted())
})

describe.each(briefActionKinds)('%s', (kind) => {
  const [changes, shown] = cases[kind]
  const form = forms.find((one) => (one.kind.enum as string[]).includes(kind))!

  test('follows from its cause, with numbers, and is the only action', () => {
    const actions = actionsOf({ ...calm, ...changes })
    expect(actions.map((one) => one.kind)).toEqual([kind])
    expect(actions[0]).toMatchObject(shown as never)
  })

  test('names an operation and fields that exist', () => {
    const { operation, arguments: given } = first(changes)
    const o = operations.find(({ id }) => id === operation)
    for (const name of Object.keys(given)) expect(Object.keys(o!.input.properties)).toContain(name)
    for (const name of Object.keys(given)) expect(Object.keys(form.arguments.properties)).toContain(name)
  })
})

describe('no action comes', () => {
  test.each<[string, Partial<BriefFacts>]>([
    ['of a profile that is younger than 60 days', { profileUpdatedAt: at(-60 * DAY + 1) }],
    ['of a quota of which a fifth is left', { quota: { ...calm.quota, used: 79 } }],
    ['of a quota that is nothing', { quota: { ...calm.quota, used: 0, limit: 0 } }],
    ['of a read budget of which a fifth is left', { reads: { ...calm.reads, used: 719 } }],
    ['of automation that holds nothing', { ...withItems({ scheduled: nothing }), paused: true, drafting: 1 }],
    ['of numbers of fifteen posts', { activeLearnings: 0, measured: 15 }],
    ['of an audit within a week of the last one', { activeLearnings: 0, auditedAt: at(-7 * DAY + 1) }],
    ['of signals where the plan has no engagement', { ...withItems({ signals: found(3), engaging: found(1) }), mayEngage: false }],
    ['of an audit that the plan has not', { activeLearnings: 0, mayAudit: false }],
    ['of free slots while a batch is drafted for them', { slots: [at(DAY)], drafting: 1 }],
    ['of an empty queue while posts are switched off', { ...withItems({ scheduled: nothing }), isInactive: true, slots: null }],
    ['of an empty queue that the quota of the month cannot fill', { ...withItems({ scheduled: nothing }), quota: noQuota }],
    ['of free slots that the quota of the month cannot fill', { slots: [at(DAY)], quota: noQuota }],
    ['of an empty queue while a batch is drafted', { ...withItems({ scheduled: nothing }), drafting: 1 }],
  ])('%s', (_, changes) => expect(kindsOf(changes)).toEqual([]))
})

test('a suggestion names a time and an action only if they are known', () => {
  const unknown: Partial<BriefFacts> = { cadences: { posts: false, articles: true }, engageBy: null, slots: null }
  const items = withItems({ approved: found(1), approved_articles: found(1), signals: found(1) })
  expect(actionsOf({ ...calm, ...items, ...unknown }).map((one) => [one.kind, one.operation, one.arguments])).toEqual([
    ['schedule_posts', 'growth.items.schedule', { id: 'id-0' }],
    ['schedule_articles', 'growth.items.schedule', { id: 'id-0', post_at: 'next_slot' }],
    ['answer_signals', 'growth.signals.list', {}],
  ])
})

test('without an account no engagement is suggested for execution', () => {
  const items = withItems({ engaging: found(1), scheduled: nothing, drafts: found(1) })
  expect(kindsOf({ ...items, accounts: { connected: 0, known: 1 } })).toEqual(['approve_posts', 'connect_first_account'])
})

describe('free slots', () => {
  test("ask for no more drafts than the month's quota has left", () => {
    const slots = [at(DAY), at(2 * DAY), at(3 * DAY)]
    expect(first({ slots, quota: { ...calm.quota, used: 98 } })).toMatchObject({ kind: 'fill_slots', count: 3, arguments: { count: 2 } })
  })

  test('take approved items first', () => {
    const one = first({ ...withItems({ approved: found(2) }), slots: [at(DAY), at(2 * DAY), at(3 * DAY)] })
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
      actionsOf({ ...calm, ...withItems({ drafts: found(drafts) }), slots }).find(({ kind }) => kind === 'fill_slots')
    expect([fill(1)?.arguments, fill(28)?.arguments, fill(30)]).toEqual([{ count: 20 }, { count: 2 }, undefined])
    expect(fill(0)!.rows[0]).toEqual({ id: null, type: 'slot', title: 'Free on 2026-11-22 at 07:00 UTC', status: 'free', at: at(DAY) })
  })
})

describe('the order', () => {
  const everything: Partial<BriefFacts> = {
    ...withItems({ review: found(1), failed: found(1), drafts: found(9), articles: found(1), unconfirmed: found(1) }),
    ...{ billing: 'plan_expired', paused: true, missing: ['voice'], slots: Array.from({ length: 20 }, (_, day) => at((day + 1) * DAY)) },
    ...{ quota: { ...calm.quota, used: 99 }, ready: found(1), activeLearnings: 0, reads: { ...calm.reads, used: 900 } },
  }

  test('is by urgency, first what only a person can settle', () => {
    expect(kindsOf(everything)).toEqual([
      ...['settle_posts', 'fix_billing', 'retry_failed_posts', 'resume_automation', 'approve_posts', 'approve_articles', 'fill_slots'],
      ...['raise_quota', 'conclude_experiment', 'complete_profile', 'run_audit', 'spare_reads', 'watch_posts'],
    ] as never)
  })

  test('depends a little on how many wait, but never enough for distant kinds to change places', () => {
    const score = (count: number) => first(withItems({ drafts: found(count) })).score
    expect([1, 2, 3, 4, 8, 16, 5_000].map(score)).toEqual([65, 66, 66, 67, 68, 69, 69])
    expect(kindsOf(withItems({ drafts: found(5_000), review: found(1) }))).toEqual(['settle_posts', 'approve_posts'])
  })

  test('does not depend on the order of the rules, and each kind comes once', () => {
    const actions = actionsOf({ ...calm, ...everything })
    expect(ranked(actions.toReversed())).toEqual(actions)
    expect(new Set(actions.map(({ kind }) => kind)).size).toBe(actions.length)
    expect(Object.values(urgencies).every((urgency) => urgency >= 0 && urgency <= 100)).toBeTrue()
  })
})
