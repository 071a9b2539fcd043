/**
 * A12, A13: a process dies when something was asked of a person, and when the person has decided;
 * and what a person decides after a doubt.
 */
import { expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { type Plan, plannedModel } from '#test/support/agent/plan'
import { ask, endOf, newAgentStory } from '#test/support/agent/story'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { insertItem } from '#test/support/database/writes'
import { crash } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { use } from '#test/support/use'

const db = use(freshDb)
const stops = testStops()
const sent: string[] = []
const tools = withOutside(async (text) => {
  sent.push(text)
  await stops.at('test.sent')
})
const start = (lanes?: []) =>
  testApp({
    database: db.options,
    overrides: { failpoints: stops.at, thinker: plannedModel(), tools, ...(lanes && { lanes }) },
  })

const asked = async ({ owner }: TestApp, jobId: string) => {
  const rows = () =>
    owner<
      { id: string; why: string[] }[]
    >`select id, why from agent_approval where job_id = ${jobId} and status = 'pending'`
  return (await eventually(rows, ({ length }) => length > 0))[0]!
}
const decide = async (app: TestApp, tenantId: string, id: string, how: 'approve' | 'reject') =>
  app.send('POST', `/api/v1/agent/approvals/${id}/${how}`, {
    key: await tokenOf(app, tenantId),
    body: {},
  })

/** A job asks whether an item may be approved, and the process dies. */
const askedThenDead = async () => {
  const first = await start()
  const story = await newAgentStory(first)
  const item = await insertItem(first, story.tenantId)
  const id = await ask(first, story, [[['growth_approve_item', { id: item }]]])
  const approval = await asked(first, id)
  await crash(first)
  return { first, story, item, id, approval }
}

test.each([
  ['approve', 'approved', 'done'],
  ['reject', 'drafted', 'rejected'],
] as const)(
  'A12 and A13, before and after a person decides to %s: asked once, and done as decided',
  async (how, status, state) => {
    const { first, story, item, id, approval } = await askedThenDead()
    // It decides, and claims nothing.
    const second = await start([])
    expect((await decide(second, story.tenantId, approval.id, how)).status).toBe(200)
    await crash(second)
    await using third = await start()
    expect(await overJob(third, id)).toMatchObject({ status: 'completed', model_calls: 2 })
    expect((await endOf(third, id)).steps).toEqual([
      'model done',
      `growth_approve_item ${state}`,
      'model done',
    ])
    expect(await third.owner`select status from item where id = ${item}`).toEqual([
      { status },
    ] as never)
    expect((await decide(third, story.tenantId, approval.id, how)).status).toBe(200)
    expect(await brokenInvariants(third.owner)).toEqual([])
    for (const app of [first, second]) await app[Symbol.asyncDispose]()
  },
)

test.each([
  ['A12, when it is asked', undefined, 'cancelled'],
  ['A13, when it is approved and not claimed', 'approve', 'cancelled'],
  ['A13, when it is rejected and not claimed', 'reject', 'rejected'],
] as const)('called off at %s: it is not done', async (_, how, state) => {
  const { first, story, item, id, approval } = await askedThenDead()
  const second = await start([])
  if (how) expect((await decide(second, story.tenantId, approval.id, how)).status).toBe(200)
  const { body } = await second.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })
  expect(body.job.status).toBe('cancelled')
  expect((await decide(second, story.tenantId, approval.id, 'approve')).status).toBe(
    how === 'approve' ? 200 : 409,
  )
  await crash(second)
  await using third = await start()
  expect(await overJob(third, await ask(third, story, []))).toMatchObject({ status: 'completed' })
  expect(await endOf(third, id)).toEqual({
    status: 'cancelled',
    error: null,
    steps: ['model done', `growth_approve_item ${state}`],
  })
  expect(await third.owner`select status from item where id = ${item}`).toEqual([
    { status: 'drafted' },
  ] as never)
  expect(await brokenInvariants(third.owner)).toEqual([])
  for (const app of [first, second]) await app[Symbol.asyncDispose]()
})

test('a call equal to one that may have happened is asked of a person, whatever the rule for the tool says', async () => {
  const first = await start()
  const story = await newAgentStory(first)
  const call: Plan[number] = [[OUTSIDE, { text: story.tenantId }]]
  const stopped = stops.stopNext('test.sent')
  const id = await ask(first, story, [call, call])
  const goOn = await stopped
  await crash(first)
  await using next = await start()
  const { id: approval, why } = await asked(next, id)
  expect(why).toEqual(['an equal call may have happened already'])
  expect(sent.filter((text) => text === story.tenantId)).toHaveLength(1)
  expect((await decide(next, story.tenantId, approval, 'approve')).status).toBe(200)
  await overJob(next, id)
  expect((await endOf(next, id)).steps).toEqual([
    'model done',
    `${OUTSIDE} unknown`,
    'model done',
    `${OUTSIDE} done`,
    'model done',
  ])
  expect(sent.filter((text) => text === story.tenantId)).toHaveLength(2)
  goOn()
  await first[Symbol.asyncDispose]()
})

test('a call of the model whose process dies three times is given up, and nothing of the job is left open', async () => {
  let app = await start()
  const story = await newAgentStory(app)
  const stopped = stops.stopNext('agent.claimed')
  const id = await ask(app, story, [])
  let goOn = await stopped
  for (let deaths = 1; deaths <= 3; deaths++) {
    const again = deaths < 3 ? stops.stopNext('agent.claimed') : undefined
    await crash(app)
    goOn()
    const dead = app
    app = await start()
    if (again) goOn = await again
    await dead[Symbol.asyncDispose]()
  }
  await using last = app
  expect(await overJob(last, id)).toMatchObject({ status: 'failed', error: 'enqueue_failed' })
  expect((await endOf(last, id)).steps).toEqual(['model failed'])
  expect(await brokenInvariants(last.owner)).toEqual([])
})
