/**
 * A workspace on a network that counts neither impressions nor clicks: nothing shows 0 for them,
 * and whatever compares posts compares their reactions, and says so.
 */
import { beforeAll, expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { insertPosted } from '#test/support/growth/posted'
import { newRules } from '#test/support/growth/rule-story'
import { newStory } from '#test/support/growth/story'
import { sameSeed } from '#test/support/model/same-seed'
import { use, useApp } from '#test/support/use'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const REASON = 'reactions per post, since the network counts no impressions'

const db = use(steppedDb)
const app = useApp(() => ({
  database: db.options,
  env: { SANDBOX_COUNTS: 'reactions' },
  overrides: { drafter: sameSeed, idleMs: 30, sweepMs: 20 },
}))

// A Wednesday, so that a day later is in the same week.
beforeAll(() => db.clock.set(new Date('2027-01-06T12:00:00Z')))

const ago = async (ms: number): Promise<Date> => new Date((await db.clock.now()) - ms)

test('a post is read and shown without them, everywhere', async () => {
  const rules = await newRules(app)
  const { story } = rules
  const get = async (path: string) => {
    const { status, body } = await story.send('GET', path)
    expect([path, status]).toEqual([path, 200])
    return body
  }
  const { limits } = (await get('connection')).connection
  expect(limits.counts).toEqual(['likes', 'replies', 'reposts', 'quotes'])

  const action = { kind: 'request_audit', days: 7 }
  const trigger = { kind: 'metric', metric: 'impressions', at_least: 1 }
  const refused = await story.send('POST', 'rules', { body: { name: 'Seen', trigger, action } })
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [
      {
        path: 'trigger.metric',
        message:
          'cannot be impressions: sandbox counts no impressions. Choose one of likes, replies, reposts, quotes, reactions',
      },
    ],
  ])
  const reacted = await rules.create({ trigger: { ...trigger, metric: 'likes' }, action })

  const id = await story.approved('Every delay starts at the dock.')
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  await db.clock.pass(DAY)
  const { metrics } = await eventually(
    async () => (await get(`items/${id}`)).item,
    (item) => item.metrics?.likes > 0,
  )
  expect(metrics).toMatchObject({ impressions: null, clicks: null })
  const [reading] = (await get(`items/${id}/metrics`)).metrics
  expect(reading).toMatchObject({
    impressions: null,
    clicks: null,
    engagement_rate: null,
    likes: metrics.likes,
  })
  const [period] = (await get('metrics')).metrics
  const { likes, replies, reposts, quotes } = metrics
  expect(period).toMatchObject({
    counts_impressions: false,
    posts: 1,
    measured: 1,
    impressions: null,
    clicks: null,
    engagement_rate: null,
    reactions_per_post: likes + replies + reposts + quotes,
  })
  expect((await rules.ended(reacted.id)).status).toBe('done')

  const { posts } = await get('sandbox/timeline')
  expect(posts.length).toBeGreaterThan(1)
  for (const one of posts)
    expect(one.metrics).toMatchObject({
      impressions: null,
      clicks: null,
      likes: expect.any(Number),
    })

  const { report } = (await story.send('POST', 'reports', { body: {} })).body
  const { data, markdown } = await story.ended(`reports/${report.id}`)
  expect(data).toMatchObject({ note: `Compared by ${REASON}.`, best: { impressions: null } })
  expect(data.totals).toMatchObject({ impressions: null, clicks: null, engagement_rate: null })
  expect(data.totals.reactions_per_post).toBe(data.totals.reactions)
  expect(markdown).toContain(REASON)
  expect(markdown).toContain('| Impressions | – | – | – |')

  // Without an account, posts tell what is counted.
  expect((await story.send('DELETE', 'connection')).status).toBe(200)
  const later = (await story.send('POST', 'reports', { body: {} })).body.report
  expect((await story.ended(`reports/${later.id}`)).data).toMatchObject({
    note: `Compared by ${REASON}.`,
    totals: data.totals,
  })

  await get('overview')
  await get('brief')
  const [from, to] = [await ago(2 * DAY), await ago(-DAY)]
  await get(`calendar?from=${from.toISOString()}&to=${to.toISOString()}`)
})

test('audits, hooks and experiments compare reactions per post', async () => {
  const story = await newStory(app)
  const { tenantId } = story
  const posted = async (body: string, likes: number, trial?: { id: string; arm: string }) =>
    insertPosted(app, tenantId, {
      body,
      hook: 'admission',
      postedAt: await ago(3 * DAY),
      counts: [{ impressions: null, likes }],
      ...(trial && { trial }),
    })
  for (let index = 0; index < 12; index++) {
    await posted(`Every delay starts at the dock, says driver ${index + 1}`, 58 + index)
    await posted(`Does every delay start at the dock, driver ${index + 1}?`, 18 + (index % 5))
  }
  const { audit } = (await story.send('POST', 'audits', { body: {} })).body
  const { result } = await story.ended(`audits/${audit.id}`)
  expect(result.sample).toMatchObject({
    items: 24,
    impressions: null,
    note: `Compared by ${REASON}.`,
  })
  expect(result.flopped[0]).toMatchObject({ dimension: 'question', measure: 'reactions' })
  expect(result.flopped[0].wording).toContain(REASON)
  expect(result.learnings).toMatchObject([
    { kind: 'flopped', note: 'Question posts get fewer reactions' },
  ])
  expect(result.best[0]).toMatchObject({ impressions: null, engagement_rate: null, reactions: 69 })

  const { hooks } = (await story.send('GET', 'hooks?limit=100')).body
  const admission = hooks.find((hook: { id: string }) => hook.id === 'admission')
  expect(admission).toMatchObject({
    measured: 0,
    engagement_rate: null,
    measured_by_reactions: 24,
    reactions_per_post: 41.625,
  })

  const wanted = { name: 'Asking', hypothesis: 'Questions get more' }
  const create = (more: object) =>
    story.send('POST', 'experiments', { body: { ...wanted, ...more } })
  for (const metric of ['impressions', 'clicks', 'engagement_rate']) {
    const { status, body } = await create({ metric })
    expect([status, body.error.details[0]]).toEqual([
      400,
      {
        path: 'metric',
        message: expect.stringContaining('Choose one of likes, replies, reposts, reactions'),
      },
    ])
  }
  const { experiment } = (await create({})).body
  expect(experiment.metric).toBe('reactions')
  for (const [arm, likes] of [
    ['control', 10],
    ['variant', 30],
  ] as const)
    for (let index = 0; index < 8; index++)
      await posted(`${arm} ${index}`, likes + index, { id: experiment.id, arm })
  const { body } = await story.send('POST', `experiments/${experiment.id}/conclude`, {
    body: { result: 'Supported' },
  })
  expect(body.experiment.arms.map(({ measured }: { measured: number }) => measured)).toEqual([8, 8])
  expect(body.experiment.comparison.against_control[0]).toMatchObject({
    reading: 'higher',
    difference: 20,
  })
})

test('a post that got many reactions is resurfaced, unless a rate is asked for', async () => {
  const rules = await newRules(app)
  const { story } = rules
  for (const likes of [4, 40])
    await insertPosted(app, story.tenantId, {
      body: `Liked by ${likes}`,
      postedAt: await ago(100 * DAY),
      counts: [{ impressions: null, likes }],
    })
  const resurface = (more: object) =>
    rules.create({ trigger: { kind: 'item_posted' }, action: { kind: 'resurface', ...more } })
  const rated = await resurface({ min_engagement: 0.01 })
  const many = await resurface({ min_reactions: 41 })
  const some = await resurface({ min_engagement: 0.01, min_reactions: 40 })
  await story.send('POST', `items/${await story.approved()}/posted`, { body: {} })
  const { made, status } = await rules.ended(some.id)
  expect(status).toBe('done')
  const { item } = (await story.send('GET', `items/${made!.id}`)).body
  expect(item).toMatchObject({ body: 'Liked by 40' })
  expect(item.rationale).toContain('with 40 reactions; its network counts no impressions')
  for (const { id } of [rated, many])
    expect(await rules.ended(id)).toMatchObject({
      status: 'skipped',
      reason: 'nothing_to_resurface',
    })
})
