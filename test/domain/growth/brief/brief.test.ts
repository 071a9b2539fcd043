/** The brief's actions: each follows from one cause, and is an operation that exists. */
import { describe, expect, test } from 'bun:test'
import { brief } from '#contract/growth/brief'
import { operations } from '#contract/index'
import { nearLimits } from '#domain/app/nearing'
import { type BriefActionKind, type BriefFacts, briefActionKinds } from '#domain/growth/brief/brief'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import { at, DAY } from '#test/domain/records'
import { calm, first, found, nothing, withItems } from './workspaces.ts'

/** A change to the calm workspace → the one action that follows from it, and its fields. */
const cases: Record<BriefActionKind, [changes: Partial<BriefFacts>, shown: object]> = {
  settle_posts: [
    withItems({ review: found(2) }),
    {
      title: 'Check whether 2 posts went out',
      count: 2,
      operation: 'growth.items.markPosted',
      arguments: { id: 'id-0' },
    },
  ],
  settle_engagements: [
    withItems({ engaged: found(1) }),
    { operation: 'growth.engagements.approve', arguments: { id: 'id-0' } },
  ],
  settle_replies: [
    { replies: found(2) },
    {
      title: 'Check whether 2 replies arrived',
      operation: 'agent.channelReplies.settle',
      arguments: { id: 'id-0' },
    },
  ],
  approve_engagements: [
    withItems({ engagements: found(2) }),
    { title: 'Approve 2 engagements', arguments: { id: 'id-0' } },
  ],
  execute_engagements: [
    withItems({ engaging: found(1) }),
    { operation: 'growth.engagements.execute', arguments: { id: 'id-0' } },
  ],
  answer_signals: [
    withItems({ signals: found(9) }),
    {
      title: 'Answer 9 signals',
      count: 9,
      operation: 'growth.signals.engage',
      arguments: { id: 'id-0', action: 'reply' },
    },
  ],
  fix_billing: [
    { billing: 'trial_expired' },
    { why: expect.stringContaining('trial_expired'), operation: 'app.plan.get' },
  ],
  connect_account: [
    { accounts: { connected: 0, known: 1, lost: [] } },
    {
      why: 'No account is connected, and 3 approved posts wait to go out, 3 of them scheduled.',
      count: 3,
    },
  ],
  reconnect_account: [
    { accounts: { connected: 1, known: 2, lost: ['@ada on bluesky'] } },
    {
      why: expect.stringContaining('@ada on bluesky: the network no longer accepts'),
      count: 1,
      operation: 'app.connections.connectBluesky',
    },
  ],
  connect_first_account: [
    {
      accounts: { connected: 0, known: 0, lost: [] },
      ...withItems({ scheduled: nothing }),
      drafting: 1,
    },
    { operation: 'app.connections.connectSandbox' },
  ],
  retry_failed_posts: [
    { ...withItems({ failed: found(1) }), lastError: 'duplicate text' },
    {
      why: expect.stringContaining('1 post, the first with “duplicate text”'),
      arguments: { status: 'publish_failed' },
    },
  ],
  resume_automation: [
    { paused: true },
    {
      why: expect.stringContaining('3 scheduled posts wait'),
      operation: 'growth.automation.resumeAll',
    },
  ],
  start_profile: [
    { isBare: true, missing: ['goal', 'stories', 'proof'] },
    { why: expect.stringContaining('goal, stories, proof') },
  ],
  complete_profile: [
    { missing: ['voice'] },
    {
      why: 'Empty: voice. Filling them in makes drafts sound more like you.',
      operation: 'growth.profile.update',
    },
  ],
  approve_posts: [
    withItems({ drafts: found(12) }),
    {
      title: 'Approve 12 posts',
      count: 12,
      arguments: { id: 'id-0' },
      operation: 'growth.items.approve',
      why: '12 drafted posts wait for approval, the oldest for 3 days. Nothing goes out without approval.',
    },
  ],
  approve_articles: [
    withItems({ articles: found(1, { at: at(-DAY / 2) }) }),
    { why: '1 drafted article waits for approval. Nothing goes out without approval.' },
  ],
  fill_slots: [
    { slots: [at(DAY), at(2 * DAY)] },
    {
      count: 2,
      why: '2 slots of the next 7 days are free, and nothing is drafted for them.',
      arguments: { count: 2 },
    },
  ],
  raise_quota: [
    { quota: { used: 80, limit: 100, resetsAt: at(9 * DAY) } },
    {
      why: "80 of this month's 100 posts are used. 20 are left until 2026-11-30. Whoever runs this deployment can raise the limit.",
    },
  ],
  raise_budget: [
    {
      near: nearLimits([
        { key: 'agent_tokens_day', used: 80, limit: 100, period: '2026-11-21', resets_at: at(DAY) },
      ]),
    },
    {
      title: 'A budget is running out',
      why: expect.stringContaining('can raise the limit'),
      operation: 'app.plan.get',
    },
  ],
  draft_posts: [
    withItems({ scheduled: nothing }),
    { operation: 'growth.batches.create', arguments: { count: 5 } },
  ],
  schedule_posts: [
    withItems({ approved: found(1) }),
    { title: 'Schedule 1 approved post', arguments: { id: 'id-0', post_at: 'next_slot' } },
  ],
  schedule_articles: [
    withItems({ approved_articles: found(1) }),
    { title: 'Schedule 1 approved article', arguments: { id: 'id-0' } },
  ],
  conclude_experiment: [
    { ready: found(1, { title: 'Numbers first' }) },
    { why: 'Every arm of “Numbers first” has enough posts with metrics.' },
  ],
  run_audit: [
    { activeLearnings: 0 },
    { why: '20 or more posts have metrics, and nothing has been learned from them yet.' },
  ],
  spare_reads: [
    { reads: { ...calm.reads, used: 720 } },
    { why: expect.stringContaining('80% of today') },
  ],
  watch_posts: [
    withItems({ unconfirmed: found(1) }),
    { arguments: { status: 'publish_unconfirmed' } },
  ],
  refresh_profile: [
    { profileUpdatedAt: at(-60 * DAY) },
    { why: expect.stringContaining('60 days ago') },
  ],
}

/** The forms that answers have, each for some kinds. */
const forms = brief.get.output.properties.brief.properties.actions.items.anyOf.map(
  ({ properties }) => properties,
)

test('the contract has one form for each kind', () => {
  expect(forms.flatMap(({ kind }) => kind.enum as string[]).toSorted()).toEqual(
    briefActionKinds.toSorted(),
  )
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
    for (const name of Object.keys(given))
      expect(Object.keys(form.arguments.properties)).toContain(name)
  })
})
