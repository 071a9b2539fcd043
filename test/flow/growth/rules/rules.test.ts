/** Automation rules over HTTP: their triggers, what they make, and why they are skipped. */
import { describe, expect, test } from 'bun:test'
import { MOST_RULES } from '#domain/growth/rules/rule'
import { newId } from '#kernel/ids'
import { setPlan } from '#test/support/database/writes'
import { newRules, type Rules } from '#test/support/growth/rule-story'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const drafter = heldInEachTest()

const app = useApp({ overrides: { drafter: drafter.drafter } })

const afterBatch = { trigger: { kind: 'batch_settled' }, action: { kind: 'draft_batch', count: 2 } }
const afterPost = {
  trigger: { kind: 'item_posted' },
  action: { kind: 'draft_batch', count: 2, focus: 'what came of it' },
}

const postOne = async (rules: Rules): Promise<string> => {
  const id = await rules.story.approved()
  expect((await rules.story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  return id
}

describe('a rule', () => {
  test('on posted items drafts one batch for each, and shows what it made and what that cost', async () => {
    drafter.release()
    const rules = await newRules(app)
    const rule = await rules.create(afterPost)
    const item = await postOne(rules)
    const run = await rules.ended(rule.id)
    expect(run).toMatchObject({
      rule_id: rule.id,
      trigger: { kind: 'item_posted', ref: item, chain: [] },
      status: 'done',
      reason: null,
      cost: { quota: 'posts', units: 2, cost_micros: 0 },
    })
    expect(run.made?.kind).toBe('batch')
    const { batch } = (await rules.story.send('GET', `batches/${run.made!.id}`)).body
    expect(batch).toMatchObject({ status: 'ready', focus: 'what came of it', requested: 2 })
    expect(batch.items.map(({ status }: { status: string }) => status)).toEqual([
      'drafted',
      'drafted',
    ])
    expect(await rules.rule(rule.id)).toMatchObject({
      runs_today: 1,
      over_cap_today: 0,
      last_run_at: expect.any(String),
    })
    expect(await rules.runs()).toEqual([run])
  })

  test('is triggered by every way in which an item becomes posted', async () => {
    drafter.release()
    const rules = await newRules(app)
    const { id } = await rules.create(afterPost)
    const byHand = await rules.story.approved()
    await rules.story.send('POST', `items/${byHand}/posted`, { body: {} })
    const due = await rules.story.scheduled(0)
    await rules.story.settled(due, 'posted')
    const runs = await rules.settled(id, 2)
    expect(runs.map(({ trigger }) => trigger.ref).sort()).toEqual([byHand, due].sort())
  })

  test('waits for batches of the status it names', async () => {
    const rules = await newRules(app)
    const onFailed = await rules.create({
      ...afterBatch,
      trigger: { kind: 'batch_settled', status: 'failed' },
    })
    const onReady = await rules.create({
      ...afterBatch,
      trigger: { kind: 'batch_settled', status: 'ready' },
    })
    drafter.release()
    const { id } = (await rules.story.send('POST', 'batches', { body: { count: 1 } })).body.batch
    // Its own batch is an occurrence too, which it ignores.
    const [own, first] = await rules.settled(onReady.id, 2)
    expect(first).toMatchObject({
      status: 'done',
      trigger: { kind: 'batch_settled', ref: id, chain: [] },
    })
    expect(own).toMatchObject({
      status: 'skipped',
      reason: 'loop',
      trigger: { ref: first!.made!.id, chain: [onReady.id] },
    })
    expect(await rules.runs(onFailed.id)).toEqual([])
  })

  test('whose generation fails ends its run with the error and gives the quota back', async () => {
    const { GenerationError } = await import('#port/model/drafter')
    drafter.failWith(new GenerationError('ask for less'))
    const rules = await newRules(app)
    const rule = await rules.create(afterPost)
    await postOne(rules)
    expect(await rules.ended(rule.id)).toMatchObject({
      status: 'failed',
      reason: 'generation_failed: ask for less',
      cost: { quota: 'posts', units: 0 },
    })
  })

  test('that a person paused misses occurrences, and runs again once active', async () => {
    drafter.release()
    const rules = await newRules(app)
    const rule = await rules.create({ ...afterPost, status: 'paused' })
    expect(rule).toMatchObject({ status: 'paused', paused_by: 'person' })
    await postOne(rules)
    expect((await rules.update(rule.id, { status: 'active' })).body.rule).toMatchObject({
      status: 'active',
      paused_by: null,
    })
    const item = await postOne(rules)
    expect(await rules.ended(rule.id)).toMatchObject({ status: 'done', trigger: { ref: item } })
    expect((await rules.runs()).length).toBe(1)
  })

  test('is one of at most fifty', async () => {
    const rules = await newRules(app)
    const { id } = await rules.create(afterPost)
    for (let more = 1; more < MOST_RULES; more++)
      await app.owner`insert into rule select (jsonb_populate_record(r,
        jsonb_build_object('id', ${newId()}::text))).* from rule r where id = ${id}`
    const full = await rules.story.send('POST', 'rules', { body: { name: 'x', ...afterPost } })
    expect([full.status, full.body.error?.code]).toEqual([409, 'conflict'])
  })
})

describe('a run that the plan refuses is skipped with the error', () => {
  test.each([
    ['plan_quota_exceeded:posts', { overrides: { posts: 1 } }],
    ['rate_limited:create_batch', { overrides: { create_batch: 0 } }],
    ['plan_invalid:trial_expired', { billing: 'trial_expired' }],
    ['plan_feature_disabled:rules', { plan: 'creator' }],
  ])('%s', async (error, plan) => {
    const rules = await newRules(app)
    const rule = await rules.create(afterPost)
    const id = await rules.story.approved()
    await setPlan(app, rules.story.tenantId, plan)
    const mark = () => rules.story.send('POST', `items/${id}/posted`, { body: {} })
    expect(await rules.afterwards(rule.id, mark)).toBe(error)
  })

  test('plan_feature_disabled:rules, which also refuses new and active rules', async () => {
    const rules = await newRules(app)
    const rule = await rules.create(afterPost)
    await setPlan(app, rules.story.tenantId, { plan: 'creator' })
    const refused = [403, 'plan_feature_disabled:rules']
    const statusAndError = ({ status, body }: Awaited<ReturnType<Rules['update']>>) => [
      status,
      body.error?.message,
    ]
    expect(
      statusAndError(
        await rules.story.send('POST', 'rules', { body: { name: 'x', ...afterPost } }),
      ),
    ).toEqual(refused)
    expect(statusAndError(await rules.update(rule.id, { name: 'y' }))).toEqual(refused)
    expect((await rules.update(rule.id, { status: 'paused' })).status).toBe(200)
    expect(statusAndError(await rules.update(rule.id, { status: 'active' }))).toEqual(refused)
  })
})

describe('conditions', () => {
  test('are all evaluated and must all hold; the run shows the result of each', async () => {
    drafter.release()
    const rules = await newRules(app)
    const rule = await rules.create({
      ...afterPost,
      conditions: [
        { fact: 'approvals_waiting', op: '<', value: 1 },
        { fact: 'posted_today', op: '=', value: 1 },
        { fact: 'scheduled_ahead', op: '=', value: 0 },
        { fact: 'hour', op: '>=', value: 0 },
        { fact: 'weekday', op: '<=', value: 7 },
        { fact: 'posts_left', op: '=', value: 3_000 },
        { fact: 'articles_left', op: '>', value: 0 },
        { fact: 'item_hook', op: '=', text: 'none' },
        { fact: 'item_format', op: '!=', text: 'story' },
        { fact: 'item_kind', op: '=', text: 'post' },
      ],
    })
    await rules.story.drafted()
    await postOne(rules)
    const held = await rules.ended(rule.id)
    expect(held).toMatchObject({
      status: 'skipped',
      reason: 'conditions',
      made: null,
      cost: { quota: null, units: 0 },
    })
    expect(held.conditions[0]).toEqual({
      condition: rule.conditions[0]!,
      actual: '1',
      holds: false,
    })
    expect(held.conditions.slice(1).map(({ condition, holds }) => [condition.fact, holds])).toEqual(
      rule.conditions.slice(1).map(({ fact }) => [fact, true]),
    )
    expect(await rules.rule(rule.id)).toMatchObject({ runs_today: 0 })
  })
})
