/**
 * What other agents got wrong about going on after an approval: earlier steps ran again, and
 * decisions were lost with what had happened since.
 */
import { expect, test } from 'bun:test'
import { overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { plannedModel, planText } from '#test/support/agent/plan'
import { ask, endOf, learned, newAgentStory } from '#test/support/agent/story'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { insertItem } from '#test/support/database/writes'
import { crash } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { use } from '#test/support/use'

const db = use(freshDb)
const sent: string[] = []
const tools = withOutside(async (text) => void sent.push(text))
const start = () => testApp({ database: db.options, overrides: { thinker: plannedModel(), tools } })

const waiting = async ({ owner }: TestApp, jobId: string): Promise<string> => {
  const rows = () => owner<
    { id: string }[]
  >`select a.id from agent_approval a join agent_job j on j.id = a.job_id
    where a.job_id = ${jobId} and a.status = 'pending' and j.status = 'waiting_approval'`
  return (await eventually(rows, ({ length }) => length === 1))[0]!.id
}

const approve = async (app: TestApp, tenantId: string, id: string): Promise<number> =>
  (
    await app.send('POST', `/api/v1/agent/approvals/${id}/approve`, {
      key: await tokenOf(app, tenantId),
      body: {},
    })
  ).status

const statusOf = async ({ owner }: TestApp, item: string): Promise<string> =>
  (await owner<{ status: string }[]>`select status from item where id = ${item}`)[0]!.status

test('an approval runs nothing again that ran before it: no command, no call outside, no thought', async () => {
  await using app = await start()
  const story = await newAgentStory(app)
  const item = await insertItem(app, story.tenantId)
  const note = `upstream ${story.tenantId}`
  const id = await ask(app, story, [
    [['growth_add_learning', { kind: 'worked', note }]],
    [
      [OUTSIDE, { text: note }],
      ['growth_approve_item', { id: item }],
    ],
  ])
  expect(await approve(app, story.tenantId, await waiting(app, id))).toBe(200)
  expect(await overJob(app, id)).toMatchObject({
    status: 'completed',
    model_calls: 3,
    tool_calls: 3,
  })
  expect(await learned(app, story)).toEqual([note])
  expect(sent.filter((text) => text === note)).toHaveLength(1)
  expect(await statusOf(app, item)).toBe('approved')
  expect(await brokenInvariants(app.owner)).toEqual([])
})

test('an approval holds though the conversation has gone on since and the process has ended, and nothing is asked twice', async () => {
  const first = await start()
  const story = await newAgentStory(first)
  const item = await insertItem(first, story.tenantId)
  const id = await ask(first, story, [[['growth_approve_item', { id: item }]]])
  const approval = await waiting(first, id)
  const [job] = await first.owner<
    { conversation_id: string }[]
  >`select conversation_id from agent_job where id = ${id}`
  const note = `meanwhile ${story.tenantId}`
  const content = planText([[['growth_add_learning', { kind: 'worked', note }]]])
  const { by, tenantId } = story
  expect(
    (
      await overJob(
        first,
        await turn(first, { content, by, tenantId, conversation: job!.conversation_id }),
      )
    ).status,
  ).toBe('completed')
  await crash(first)
  await using second = await start()
  expect(await approve(second, tenantId, approval)).toBe(200)
  expect(await overJob(second, id)).toMatchObject({ status: 'completed', model_calls: 2 })
  expect((await endOf(second, id)).steps).toEqual([
    'model done',
    'growth_approve_item done',
    'model done',
  ])
  expect(await statusOf(second, item)).toBe('approved')
  expect(
    await second.owner`select 1 from agent_approval where tenant_id = ${tenantId}`,
  ).toHaveLength(1)
  expect(await learned(second, story)).toEqual([note])
  await first[Symbol.asyncDispose]()
})
