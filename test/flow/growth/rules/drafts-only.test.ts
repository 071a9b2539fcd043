/**
 * Every action of a rule makes a draft: none approves, schedules, posts or changes existing
 * records.
 */
import { expect, test } from 'bun:test'
import { actionKinds } from '#contract/records/growth/rule'
import type { RuleActionKind } from '#domain/growth/rules/rule-action'
import { stateNames } from '#test/domain/records'
import { insertItem, setItem } from '#test/support/database/writes'
import { insertPosted } from '#test/support/growth/posted'
import { newRules, type Rules } from '#test/support/growth/rule-story'
import { writingDrafter } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { drafter: writingDrafter() } })

/** All actions but answers to signals, which are tested in signals.test.ts. */
const inputs: Record<Exclude<RuleActionKind, 'draft_engagement'>, object> = {
  draft_batch: { count: 2, focus: 'docks' },
  draft_article: { topic: 'Docks', length: 'short' },
  request_audit: { days: 14 },
  request_report: {},
  resurface: { min_age_days: 30 },
}

const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000)

/** Adds an item in each state, all of them a hundred days old. */
const fill = async ({ story: { tenantId } }: Rules): Promise<void> => {
  for (const state of stateNames) {
    const status =
      { scheduled: 'approved', 'in review': 'publish_unconfirmed' }[state as string] ?? state
    await insertItem(app, tenantId, {
      status,
      review: state === 'in review',
      body: `Text of ${state}`,
      created_at: inDays(-100),
      post_at: state === 'scheduled' ? inDays(1) : null,
      posted_at: state === 'posted' ? inDays(-100) : null,
    })
  }
}

const everything = async ({ story: { tenantId } }: Rules, ids: string[] = []) => ({
  items: await app.owner`select * from item where tenant_id = ${tenantId}
      ${ids.length > 0 ? app.owner`and id = any(${ids})` : app.owner``} order by id`,
  attempts: [...(await app.owner`select * from attempt where tenant_id = ${tenantId}`)],
  publishing: [
    ...(await app.owner`select * from work where tenant_id = ${tenantId} and lane = 'publish'`),
  ],
  posts: [
    ...(await app.owner`select text from sandbox.posts where account_id in (select external_id
      from connection where tenant_id = ${tenantId})`),
  ],
})

test('every action is tested here', () => {
  expect([...Object.keys(inputs), 'draft_engagement'].sort()).toEqual([...actionKinds].sort())
})

test.each(Object.entries(inputs))('%s', async (kind, input) => {
  const rules = await newRules(app)
  await fill(rules)
  const before = await everything(rules)
  const rule = await rules.create({
    trigger: { kind: 'batch_settled' },
    action: { kind, ...input },
  })
  const batch = (await rules.story.send('POST', 'batches', { body: { count: 1 } })).body.batch.id
  const runs = await rules.settled(rule.id, kind === 'draft_batch' ? 2 : 1)
  const run = runs.find(({ trigger }) => trigger.ref === batch)!
  expect(run.status).toBe('done')
  const ids = before.items.map(({ id }) => id as string)
  expect(await everything(rules, ids)).toEqual(before)
  const made = await app.owner`select id, status, post_at, approved_hash from item
      where tenant_id = ${rules.story.tenantId}
    and id <> all(${ids}) and batch_id is distinct from ${batch}`
  expect(made.length > 0).toBe(!kind.startsWith('request_'))
  for (const { status, post_at, approved_hash } of made)
    expect([status, post_at, approved_hash]).toEqual(['drafted', null, null])
})

test('a resurfaced post names its source, waits for approval and does not come twice, unless it is deleted', async () => {
  const rules = await newRules(app)
  await fill(rules)
  const source = (
    await app.owner`select id, body from item where tenant_id = ${rules.story.tenantId}
      and status = 'posted'`
  )[0]!
  const rule = await rules.create({
    trigger: { kind: 'item_posted' },
    action: { kind: 'resurface', min_age_days: 30 },
  })
  const postOne = async () =>
    rules.story.send('POST', `items/${await rules.story.approved()}/posted`, { body: {} })
  await postOne()
  const { made } = await rules.ended(rule.id)
  const item = (await rules.story.send('GET', 'items?status=drafted')).body.items.find(
    ({ id }: { id: string }) => id === made!.id,
  )
  expect(item).toMatchObject({
    status: 'drafted',
    body: source.body,
    resurfaced_from: source.id,
    batch_id: null,
  })
  expect(await rules.story.events()).toContain('growth.approval.requested')
  await postOne()
  const [again] = await rules.settled(rule.id, 2)
  expect(again).toMatchObject({ status: 'skipped', reason: 'nothing_to_resurface' })
  await setItem(app, item.id, { created_at: inDays(-91) })
  await postOne()
  const [third] = await rules.settled(rule.id, 3)
  expect(third).toMatchObject({ status: 'done' })
  await postOne()
  expect((await rules.settled(rule.id, 4))[0]).toMatchObject({ status: 'skipped' })
  await rules.story.send('DELETE', `items/${third!.made!.id}`)
  await postOne()
  expect((await rules.settled(rule.id, 5))[0]).toMatchObject({ status: 'done' })
})

test('the best post by reactions per impression resurfaces first, and none that did badly', async () => {
  const rules = await newRules(app)
  const postedAt = new Date(Date.now() - 50 * 86_400_000)
  const old = (likes: number | null, impressions = 1000): Promise<string> =>
    insertPosted(app, rules.story.tenantId, {
      postedAt,
      counts: likes === null ? [] : [{ impressions, likes }],
    })
  const [good, best] = [await old(30), await old(60)]
  await old(10)
  await old(null)
  await old(0, 0)
  const action = { kind: 'resurface', min_age_days: 30, min_engagement: 0.02 }
  const rule = await rules.create({ trigger: { kind: 'item_posted' }, action })
  for (let posted = 1; posted <= 3; posted++) {
    await rules.story.send('POST', `items/${await rules.story.approved()}/posted`, { body: {} })
    await rules.settled(rule.id, posted)
  }
  const drafts =
    await app.owner`select resurfaced_from from item where tenant_id = ${rules.story.tenantId}
      and resurfaced_from is not null order by id`
  expect(drafts.map(({ resurfaced_from }) => resurfaced_from)).toEqual([best, good])
  expect((await rules.runs())[0]!.reason).toBe('nothing_to_resurface')
})

test('a report is made each time the rule runs, besides the weekly one', async () => {
  const rules = await newRules(app)
  const rule = await rules.create({
    trigger: { kind: 'item_posted' },
    action: { kind: 'request_report' },
  })
  for (let posted = 1; posted <= 2; posted++) {
    await rules.story.send('POST', `items/${await rules.story.approved()}/posted`, { body: {} })
    expect((await rules.settled(rule.id, posted))[0]).toMatchObject({
      status: 'done',
      cost: { quota: 'reports', units: 1 },
    })
  }
})
