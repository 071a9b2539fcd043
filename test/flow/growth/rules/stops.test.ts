/**
 * What stops rules: the kill switch, for once pause-all has answered no rule runs and the
 * generation of a running one has ended; the cap of the day; and that no rule runs for what it has
 * caused.
 */
import { describe, expect, test } from 'bun:test'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import { newRules, type Rules } from '#test/support/growth/rule-story'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const drafter = heldInEachTest()

const points = testFailpoints()
const app = useApp({ overrides: { drafter: drafter.drafter, failpoints: points.at } })

const afterPost = {
  trigger: { kind: 'item_posted' },
  action: { kind: 'draft_batch', count: 4, focus: 'more' },
}

const all = ({ story }: Rules, word: 'pause' | 'resume') =>
  story.send('POST', `automation/${word}-all`)
const postOne = async ({ story }: Rules): Promise<string> => {
  const id = await story.approved()
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  return id
}
const itemsIn = async ({ story }: Rules): Promise<number> =>
  (
    await app.owner`select count(*)::int as count from item where tenant_id = ${story.tenantId}
      and batch_id is not null`
  )[0]!.count

test('pausing during a run cancels its generation and gives the quota back; no drafts appear afterwards', async () => {
  const rules = await newRules(app)
  const rule = await rules.create(afterPost)
  await postOne(rules)
  await drafter.begun(1)
  expect((await rules.runs())[0]).toMatchObject({
    status: 'running',
    cost: { quota: 'posts', units: 4 },
    ended_at: null,
  })
  expect(await rules.story.used('posts')).toBe(4)
  expect((await all(rules, 'pause')).body.automation).toEqual({ paused: true, in_flight: [] })
  const [run] = await rules.runs()
  expect(run).toMatchObject({
    status: 'cancelled',
    reason: 'cancelled',
    cost: { quota: 'posts', units: 0 },
  })
  expect(await rules.story.used('posts')).toBe(0)
  drafter.release()
  expect(drafter.aborted).toEqual(['more'])
  await postOne(rules)
  expect((await rules.story.send('GET', `batches/${run!.made!.id}`)).body.batch).toMatchObject({
    status: 'failed',
    error: 'cancelled',
    items: [],
  })
  expect(await itemsIn(rules)).toBe(0)
  expect((await rules.rule(rule.id)).runs_today).toBe(1)
})

test('a queued run is skipped and does not run after resuming', async () => {
  drafter.release()
  const rules = await newRules(app)
  const rule = await rules.create(afterPost)
  points.arm('rule.acting', new Error('not now'))
  await postOne(rules)
  await points.reached('rule.acting')
  expect((await rules.runs())[0]).toMatchObject({ status: 'queued' })
  await all(rules, 'pause')
  expect(await rules.ended(rule.id)).toMatchObject({
    status: 'skipped',
    reason: 'paused',
    made: null,
  })
  points.release('rule.acting')
  await all(rules, 'resume')
  const item = await postOne(rules)
  const runs = await rules.settled(rule.id, 2)
  expect(runs.map(({ status }) => status)).toEqual(['done', 'skipped'])
  expect(runs[0]!.trigger.ref).toBe(item)
})

test('an occurrence while paused is listed as skipped and does not run after resuming', async () => {
  drafter.release()
  const rules = await newRules(app)
  const rule = await rules.create(afterPost)
  await all(rules, 'pause')
  const item = await postOne(rules)
  expect(await rules.ended(rule.id)).toMatchObject({
    status: 'skipped',
    reason: 'paused',
    trigger: { ref: item },
  })
  await all(rules, 'resume')
  await postOne(rules)
  expect((await rules.settled(rule.id, 2)).map(({ status }) => status)).toEqual(['done', 'skipped'])
})

test('every rule shows as paused while automation is; one that a person paused stays paused afterwards', async () => {
  const rules = await newRules(app)
  const [one, other] = [
    await rules.create(afterPost),
    await rules.create({ ...afterPost, status: 'paused' }),
  ]
  const states = async () =>
    Object.fromEntries(
      (await rules.list()).map(({ id, status, paused_by }) => [id, [status, paused_by]]),
    )
  await all(rules, 'pause')
  expect(await states()).toEqual({ [one.id]: ['paused', 'all'], [other.id]: ['paused', 'person'] })
  const added = await rules.create(afterPost)
  expect([added.status, added.paused_by]).toEqual(['paused', 'all'])
  expect((await rules.update(other.id, { status: 'active' })).body.rule).toMatchObject({
    status: 'paused',
    paused_by: 'all',
  })
  expect((await rules.update(one.id, { status: 'paused' })).body.rule).toMatchObject({
    status: 'paused',
    paused_by: 'person',
  })
  await all(rules, 'resume')
  expect(await states()).toEqual({
    [one.id]: ['paused', 'person'],
    [other.id]: ['active', null],
    [added.id]: ['active', null],
  })
})

test('a workspace that is to be deleted runs no rules', async () => {
  const rules = await newRules(app)
  const rule = await rules.create(afterPost)
  await postOne(rules)
  await drafter.begun(1)
  const { tokenOf } = await import('#test/support/session')
  const session = await tokenOf(app, rules.story.tenantId)
  const deletion = await app.send('POST', '/api/v1/app/workspace/deletion', {
    key: session,
    body: { name: 'Test' },
  })
  expect(deletion.status).toBe(200)
  const [run] = await eventually(
    () => rules.runs(rule.id),
    (runs) => runs[0]?.ended_at !== null,
  )
  expect(run).toMatchObject({ status: 'cancelled' })
})

const afterBatch = { trigger: { kind: 'batch_settled' }, action: { kind: 'draft_batch', count: 2 } }

describe('the cap of the day', () => {
  test('lets that many runs act; the next one is listed as skipped, and later ones are only counted', async () => {
    drafter.release()
    const rules = await newRules(app)
    const rule = await rules.create({ ...afterPost, daily_cap: 2 })
    for (let posted = 0; posted < 2; posted++) await postOne(rules)
    await rules.settled(rule.id, 2)
    for (let posted = 0; posted < 3; posted++) await postOne(rules)
    const runs = await rules.settled(rule.id, 3)
    expect(runs.map(({ status, reason }) => reason ?? status)).toEqual([
      'daily_cap',
      'done',
      'done',
    ])
    expect(await rules.rule(rule.id)).toMatchObject({ runs_today: 2, over_cap_today: 3 })
    await app.owner`update rule set day = '2020-01-01' where id = ${rule.id}`
    expect(await rules.rule(rule.id)).toMatchObject({ runs_today: 0, over_cap_today: 0 })
    await postOne(rules)
    expect((await rules.settled(rule.id, 4))[0]).toMatchObject({ status: 'done' })
  })
})

describe('rules that lead to one another', () => {
  test('come to rest, for no rule runs for what it has caused itself', async () => {
    drafter.release()
    const rules = await newRules(app)
    const one = await rules.create({ ...afterBatch, name: 'one' })
    const two = await rules.create({ ...afterBatch, name: 'two' })
    await rules.story.send('POST', 'batches', { body: { count: 1 } })
    // The batch, one of each rule for it, and one of the other for each of those: 1 + 2 + 2 batches
    // settle, each seen by both rules.
    const runs = [...(await rules.settled(one.id, 5)), ...(await rules.settled(two.id, 5))]
    const outcomesOf = (id: string) =>
      runs
        .filter(({ rule_id }) => rule_id === id)
        .map(({ status, reason, trigger: { chain } }) => [chain, reason ?? status])
    for (const [own, other] of [
      [one.id, two.id],
      [two.id, one.id],
    ] as const)
      expect(outcomesOf(own)).toEqual(
        expect.arrayContaining([
          [[], 'done'],
          [[other], 'done'],
          [[own], 'loop'],
          [[own, other], 'loop'],
          [[other, own], 'loop'],
        ]),
      )
    const [row] = await app.owner`select count(*)::int as count from batch
        where tenant_id = ${rules.story.tenantId}`
    expect(row!.count).toBe(5)
  })

  test('come to rest through approval and posting too', async () => {
    drafter.release()
    const rules = await newRules(app)
    const rule = await rules.create(afterPost)
    await postOne(rules)
    const { made } = await rules.ended(rule.id)
    const { batch } = (await rules.story.send('GET', `batches/${made!.id}`)).body
    const [{ id }] = batch.items
    await rules.story.send('POST', `items/${id}/approve`)
    await rules.story.send('POST', `items/${id}/posted`, { body: {} })
    const [run] = await rules.settled(rule.id, 2)
    expect(run).toMatchObject({
      status: 'skipped',
      reason: 'loop',
      trigger: { ref: id, chain: [rule.id] },
    })
  })
})
