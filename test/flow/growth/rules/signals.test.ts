/**
 * Rules that answer signals: the engagement waits for approval, and nothing is sent to the network.
 */
import { expect, test } from 'bun:test'
import { engagementStatuses } from '#contract/records/growth/engagement'
import { newId } from '#kernel/ids'
import { setPlan } from '#test/support/database/writes'
import { othersPost } from '#test/support/growth/records'
import { newRules, type Rules } from '#test/support/growth/rule-story'
import { writingDrafter } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { drafter: writingDrafter() } })

/** Watches an account that has just posted, so that a signal comes. */
const signalled = async ({ story }: Rules): Promise<void> => {
  const { sandbox } = app.workplace
  const account = { id: newId(), ...(await sandbox.connect(newId(), `s-${newId()}`)) }
  await sandbox.publish(
    {
      account,
      text: 'Who answers on Sundays?',
      attemptId: newId(),
      key: null,
      madeAt: new Date(),
      deadlineMs: 5_000,
    },
    AbortSignal.timeout(30_000),
  )
  expect((await story.send('POST', 'targets', { body: { handle: account.handle } })).status).toBe(
    201,
  )
}

/** Adds an engagement in each state, each with its own post. */
const fill = async ({ story }: Rules): Promise<void> => {
  const { status, body } = await story.send('POST', 'engagements', {
    body: { post: await othersPost({ app }), action: 'like' },
  })
  expect(status).toBe(201)
  for (const state of engagementStatuses)
    await app.owner`insert into engagement select (jsonb_populate_record(e,
      jsonb_build_object('id', ${newId()}::text, 'post_id', ${newId()}::text,
      'status', ${state}::text))).* from engagement e where id = ${body.engagement.id}`
}

const engagementsOf = ({ story }: Rules) =>
  app.owner`select * from engagement where tenant_id = ${story.tenantId} order by id`
const executing = ({ story }: Rules) =>
  app.owner`select kind from work where tenant_id = ${story.tenantId}
    and kind in ('send', 'reconcile')`

test.each(['like', 'repost', 'reply', 'quote'])(
  'a rule answers a signal with one %s, which waits for approval; other engagements stay as they are',
  async (action) => {
    const rules = await newRules(app)
    await fill(rules)
    const before = [...(await engagementsOf(rules))]
    const rule = await rules.create({
      trigger: { kind: 'signal' },
      action: { kind: 'draft_engagement', action },
    })
    const high = await rules.create({
      trigger: { kind: 'signal', min_score: 100 },
      action: { kind: 'draft_engagement', action },
    })
    await signalled(rules)
    const run = await rules.ended(rule.id)
    const { id } = run.made!
    expect(run).toMatchObject({ status: 'done', trigger: { kind: 'signal', chain: [] } })
    expect(await rules.runs(high.id)).toEqual([])
    const after = [...(await engagementsOf(rules))]
    expect(after.filter((one) => one.id !== id)).toEqual(before)
    expect(after.find((one) => one.id === id)).toMatchObject({
      status: 'drafted',
      action,
      signal_id: run.trigger.ref,
      approved_hash: null,
    })
    expect([...(await executing(rules))]).toEqual([])
    const [engaged] = (await rules.story.send('GET', 'signals?status=engaged')).body.signals
    expect(engaged).toMatchObject({ id: run.trigger.ref, engagement_id: id })
  },
)

test('a signal that a person has answered, or whose answer the plan refuses, is skipped with the reason', async () => {
  const rules = await newRules(app)
  await setPlan(app, rules.story.tenantId, { overrides: { create_engagement: 0 } })
  const rule = await rules.create({
    trigger: { kind: 'signal' },
    action: { kind: 'draft_engagement', action: 'like' },
  })
  expect(await rules.afterwards(rule.id, () => signalled(rules))).toBe(
    'rate_limited:create_engagement',
  )
  const two = await newRules(app)
  const first = await two.create({
    trigger: { kind: 'signal' },
    action: { kind: 'draft_engagement', action: 'like' },
  })
  const second = await two.create({
    trigger: { kind: 'signal' },
    action: { kind: 'draft_engagement', action: 'repost' },
  })
  await signalled(two)
  const reasons = [(await two.ended(first.id)).reason, (await two.ended(second.id)).reason]
  expect(reasons.toSorted()).toEqual([null, 'cannot engage: the signal is engaged'].toSorted())
})
