/**
 * The brief of a workspace over HTTP: how it follows the workspace, and that the requests it
 * suggests can be sent.
 */

import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { call } from '#test/support/contract/prepare'
import { setItem, setPlan } from '#test/support/database/writes'
import { insertPosted } from '#test/support/growth/posted'
import { softwareProfile } from '#test/support/growth/profiles'
import { makeEngagement, makeSignal } from '#test/support/growth/records'
import { newStory, type Story } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

interface Action {
  kind: string
  title: string
  why: string
  score: number
  count: number
  operation: string
  tool: string | null
  arguments: Record<string, unknown>
  items?: { id: string; type: string; title: string; status: string; at: string }[]
}

const briefOf = async (story: Story, query = ''): Promise<Action[]> => {
  const { status, body } = await story.send('GET', `brief${query}`)
  expect(status).toBe(200)
  return body.brief.actions
}
/** Sends the request as it is suggested; its status. */
const sendAsSuggested = async (
  { key }: Story,
  { operation, arguments: given }: Action,
): Promise<number> =>
  (await call({ app, key }, operations.find(({ id }) => id === operation)!, given)).status

const kinds = (actions: Action[]) => actions.map(({ kind }) => kind)

test('follows a workspace from its first day: profile, drafts, approval, schedule', async () => {
  const story = await newStory(app)
  expect(kinds(await briefOf(story))).toEqual(['start_profile'])
  const { goal, audience, voice, writing_dna } = softwareProfile
  await story.send('PUT', 'profile', { body: { goal, audience, voice, writing_dna } })
  expect(kinds(await briefOf(story))).toEqual(['fill_slots'])
  await story.changeChannel('posts', { cadence: { days: [], times: [] } })
  const [draft, ...others] = await briefOf(story)
  expect(others).toEqual([])
  expect(draft).toEqual({
    kind: 'draft_posts',
    title: 'Draft posts',
    count: 5,
    score: 50,
    operation: 'growth.batches.create',
    tool: 'growth_create_batch',
    arguments: { count: 5 },
    why: 'The queue is empty: nothing is drafted, approved or scheduled.',
  })
  const ids: [string, string] = [await story.drafted(), await story.drafted()]
  const [approve] = await briefOf(story)
  expect(approve).toMatchObject({
    kind: 'approve_posts',
    count: 2,
    operation: 'growth.items.approve',
    arguments: { id: ids[0] },
  })

  expect(await sendAsSuggested(story, approve!)).toBe(200)
  const after = await briefOf(story, '?include=items')
  expect(after.map(({ kind, items }) => [kind, items!.map(({ id }) => id)])).toEqual([
    ['approve_posts', [ids[1]]],
    ['schedule_posts', [ids[0]]],
  ])
  expect(after[0]!.items![0]).toMatchObject({
    type: 'post',
    title: `Draft ${ids[1]}`,
    status: 'drafted',
  })
})

test('suggests a time from the cadence, for posts before articles and for each from its own channel', async () => {
  const story = await newStory(app)
  await story.changeChannel('posts', { cadence: { days: ['mon'], times: ['09:00'] } })
  const [article, post] = [await story.approved(), await story.approved()]
  await setItem(app, article, { kind: 'article', title: 'On docks' })
  const of = (actions: Action[], kind: string) => actions.find((one) => one.kind === kind)!
  const actions = await briefOf(story)
  for (const [kind, id] of [
    ['fill_slots', post],
    ['schedule_articles', article],
  ] as const) {
    expect(of(actions, kind).arguments).toEqual({ id, post_at: 'next_slot' })
    expect(await sendAsSuggested(story, of(actions, kind))).toBe(200)
  }
})

test('includes rows only on request: the ten at most that have waited longest', async () => {
  const story = await newStory(app)
  const ids = []
  for (let count = 0; count < 12; count++) ids.push(await story.drafted())
  const plain = (await briefOf(story)).find(({ kind }) => kind === 'approve_posts')!
  expect([plain.count, plain.items]).toEqual([12, undefined])
  const whole = (await briefOf(story, '?include=items')).find(
    ({ kind }) => kind === 'approve_posts',
  )!
  expect([whole.count, whole.items!.map(({ id }) => id)]).toEqual([12, ids.slice(0, 10)])
})

test('lists what is wrong: doubt, refusals, a pause, billing, budgets, a missing account', async () => {
  const story = await newStory(app)
  const { tenantId } = story
  const [review, doubt, failed] = [
    await story.approved(),
    await story.approved(),
    await story.approved(),
  ]
  await story.scheduled(3_600_000)
  await app.owner`update item set status = 'publish_unconfirmed', review = id = ${review}
    where id in (${review}, ${doubt})`
  await setItem(app, failed, { status: 'publish_failed', last_error: 'too long' })
  await setPlan(app, tenantId, { billing: 'plan_expired', overrides: { posts: 10 } })
  await app.owner`insert into counter (tenant_id, key, period, used)
    select ${tenantId}, key, to_char(now() at time zone 'UTC', form), used
    from (values ('posts', 'YYYY-MM', 9), ('reads_free', 'YYYY-MM-DD', 4500)) c (key, form, used)`
  await story.send('POST', 'automation/pause-all')
  await story.send('DELETE', 'connection')
  const actions = await briefOf(story, '?include=items')
  expect(kinds(actions)).toEqual([
    ...[
      'settle_posts',
      'fix_billing',
      'connect_account',
      'retry_failed_posts',
      'resume_automation',
      'start_profile',
      'raise_quota',
    ],
    ...['spare_reads', 'watch_posts'],
  ])
  expect(actions[0]).toMatchObject({
    arguments: { id: review },
    items: [{ id: review, status: 'publish_unconfirmed' }],
  })
  expect(actions.find(({ kind }) => kind === 'connect_account')!.tool).toBeNull()
  expect(actions.find(({ kind }) => kind === 'retry_failed_posts')!.why).toContain('“too long”')
})

test('lists an experiment that is ready and numbers that no audit has used', async () => {
  const story = await newStory(app)
  const { id } = (
    await story.send('POST', 'experiments', { body: { name: 'Numbers first', hypothesis: 'x' } })
  ).body.experiment
  for (let count = 0; count < 16; count++) {
    const arm = count % 2 ? 'control' : 'variant'
    await insertPosted(app, story.tenantId, {
      trial: { id, arm },
      counts: [{ impressions: 10, likes: 1 }],
    })
  }
  const conclude = (await briefOf(story, '?include=items')).find(
    ({ kind }) => kind === 'conclude_experiment',
  )!
  expect(conclude).toMatchObject({
    arguments: { id },
    count: 1,
    items: [{ id, type: 'experiment', title: 'Numbers first' }],
  })
  const audit = { count: 16, arguments: {}, tool: 'growth_create_audit' }
  expect((await briefOf(story)).find(({ kind }) => kind === 'run_audit')).toMatchObject(audit)
  await story.send('POST', `experiments/${id}/conclude`, { body: { result: 'x' } })
  expect((await story.send('POST', 'audits', { body: {} })).status).toBe(201)
  expect(kinds(await briefOf(story))).not.toContain('run_audit')
  expect(kinds(await briefOf(story))).not.toContain('conclude_experiment')
})

test('lists the free slots of the week and what to fill them with', async () => {
  const story = await newStory(app)
  await story.send('PUT', 'profile', {
    body: { writing_dna: { stories: ['We deleted the tour.'] } },
  })
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  await story.changeChannel('posts', {
    cadence: { days, times: ['09:00'], time_zone: 'Asia/Tokyo' },
  })
  const slots = async () =>
    (await briefOf(story, '?include=items')).find(({ kind }) => kind === 'fill_slots')!
  expect(await slots()).toMatchObject({
    count: 7,
    tool: 'growth_create_batch',
    arguments: { count: 7 },
  })
  const at = expect.stringContaining('T00:00:00')
  const free = {
    id: null,
    type: 'slot',
    title: expect.stringContaining('Free on '),
    status: 'free',
    at,
  }
  expect((await slots()).items as object[]).toEqual(Array(7).fill(free))

  const item = await story.approved()
  const fill = await slots()
  expect(fill).toMatchObject({
    count: 7,
    tool: 'growth_schedule_item',
    arguments: { id: item, post_at: 'next_slot' },
  })
  // Slots, also while approved posts wait for them.
  expect(fill.items as object[]).toEqual(Array(7).fill(free))
  expect(await sendAsSuggested(story, fill)).toBe(200)
  expect(await slots()).toMatchObject({ count: 6, arguments: { count: 6 } })
  await story.changeChannel('posts', { status: 'inactive' })
  expect(await slots()).toBeUndefined()
})

test('lists engagements to approve and to execute, and the best open signals', async () => {
  const story = await newStory(app)
  const workspace = { app, tenantId: story.tenantId, key: story.key, session: '' }
  const signal = async (changes: object): Promise<string> => {
    const { id } = await makeSignal(workspace)
    await app.owner`update signal set
      ${app.owner({ post_author: 'dana', post_text: 'Late again', ...changes })} where id = ${id}`
    return id
  }
  const [low, high] = [await signal({ score: 10 }), await signal({ score: 90 })]
  await signal({ score: 99, status: 'dismissed' })
  await signal({ score: 98, expires_at: new Date(Date.now() - 1) })
  const engagement = async (status: string): Promise<string> => {
    const { id } = await makeEngagement(workspace)
    await app.owner`update engagement
      set ${app.owner({ status, post_author: 'dana', body: 'We had that too' })} where id = ${id}`
    return id
  }
  const [drafted, approved] = [await engagement('drafted'), await engagement('approved')]
  const actions = await briefOf(story, '?include=items')
  const of = (kind: string) => actions.find((one) => one.kind === kind)!
  expect(of('answer_signals')).toMatchObject({
    count: 2,
    arguments: { id: high, action: 'reply' },
    items: [{ id: high, title: '@dana: Late again' }, { id: low }],
  })
  expect(of('approve_engagements')).toMatchObject({
    arguments: { id: drafted },
    items: [{ type: 'engagement', title: 'reply @dana: We had that too' }],
  })
  expect(of('execute_engagements')).toMatchObject({ arguments: { id: approved } })
  expect(await sendAsSuggested(story, of('answer_signals'))).toBe(201)
})

test('names only calls that the caller may make, and sends it to a person before an approval', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  await setPlan(app, story.tenantId, { billing: 'plan_expired' })
  const { api_key: key } = await app.newKey(['api:read'], story.tenantId)
  const own = (await briefOf(story)).find(({ kind }) => kind === 'approve_posts')!
  expect([own.operation, own.tool]).toEqual(['growth.items.approve', 'growth_approve_item'])
  expect(own.why).toEndWith('Ask a person before you approve.')
  const { actions } = (await app.send('GET', 'brief', { key })).body.brief as { actions: Action[] }
  expect(kinds(actions)).toEqual(kinds(await briefOf(story)))
  for (const { operation, tool, arguments: given, why } of actions) {
    const o = operations.find((one) => one.id === operation)!
    expect([operation, o.scope, tool]).toEqual([operation, 'api:read', null])
    expect((await call({ app, key }, o, given)).status).toBe(200)
    expect(why).toEndWith('You may not do this yourself: ask a person.')
  }
  expect(actions.find(({ kind }) => kind === 'approve_posts')).toMatchObject({
    operation: 'growth.items.get',
    arguments: { id },
  })
})
