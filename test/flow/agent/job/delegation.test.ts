/** Sub-agents: what they may do, and what their parents get of them. */
import { describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { jobOf, messagesIn, overJob, stepsIn, waitingJob } from '#test/support/agent/agent'
import { delegate, delegatingModel, delegations, learn } from '#test/support/agent/delegation'
import { brokenInvariants } from '#test/support/agent/invariants'
import { type Plan, planText } from '#test/support/agent/plan'
import { ask, endOf, learned, newAgentStory } from '#test/support/agent/story'
import { eventually } from '#test/support/app'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const stops = testStops()
const app = useApp({ model: delegatingModel(stops) })
const { childrenOf, results, askingStory, get, cancel } = delegations(app, stops)

/** Asks for a job that has only these tools, from before its first answer. */
const askWith = async (tools: string[], ...job: Parameters<typeof ask>): Promise<string> => {
  const asked = stops.stopNext('test.asked')
  const id = await ask(...job)
  const goOn = await asked
  await app.owner`update agent_job set tools = ${app.owner.json(tools)} where id = ${id}`
  goOn()
  return id
}

const run = async (plan: Plan, tools: string[] | null = null) => {
  const story = await newAgentStory(app)
  const id = await (tools ? askWith(tools, app, story, plan) : ask(app, story, plan))
  const job = await overJob(app, id)
  return {
    story,
    id,
    job,
    said: (await messagesIn(app, job)).at(-1)!.content,
    children: await childrenOf(id),
  }
}

describe('a sub-agent', () => {
  test('does its part while its parent waits, and its answer is the result', async () => {
    const { story, id, job, said, children } = await run([[delegate([[learn('from below')]])]])
    expect([job.status, job.tool_calls, job.model_calls]).toEqual(['completed', 1, 2])
    expect((await endOf(app, id)).steps).toEqual(['model done', 'delegate done', 'model done'])
    expect(await learned(app, story)).toEqual(['from below'])
    expect(children).toMatchObject([{ status: 'completed', depth: 1 }])
    const child = await get(story, children[0]!.id)
    expect(child.job).toMatchObject({
      kind: 'delegate',
      parentId: id,
      conversationId: null,
      output: { toolsUsed: ['growth_add_learning'] },
    })
    expect(said).toBe(child.job.output.text)
    expect((await get(story, id)).children.map((one: { id: string }) => one.id)).toEqual([
      children[0]!.id,
    ])
    // Records keep one name in the whole tree, and only the root speaks in the conversation.
    expect(said).toContain('learning:1')
    expect(await messagesIn(app, job)).toHaveLength(2)
    expect(await brokenInvariants(app.owner)).toEqual([])
  })

  test('gets the tools that its parent has of those it was to have, and delegates no deeper than three', async () => {
    const deepest = delegate('last', { tools: ['delegate', 'growth_list_learnings'] })
    const { id, children } = await run(
      [[delegate([[delegate([[delegate([[deepest]])]])]])]],
      ['delegate', 'growth_list_learnings'],
    )
    expect(children[0]!.tools).toEqual(['growth_list_learnings', 'delegate'])
    const [second] = await childrenOf(children[0]!.id)
    const [third] = await childrenOf(second!.id)
    expect([third!.depth, third!.tools, await childrenOf(third!.id)]).toEqual([
      3,
      ['growth_list_learnings'],
      [],
    ])
    expect((await stepsIn(app, third!.id))[1]).toMatchObject({
      name: 'delegate',
      state: 'failed',
      error: 'there is no tool delegate in this job',
    })
    expect((await jobOf(app, id)).status).toBe('completed')
    expect(await brokenInvariants(app.owner)).toEqual([])
  })

  test('that fails is a result, as is a tool that does not exist', async () => {
    const { id, job } = await run([
      [delegate('nothing')],
      [delegate('x', { tools: ['growth_list_learning'] })],
    ])
    expect(job.status).toBe('completed')
    expect(await results(id)).toEqual([
      'the sub-agent failed: model_invalid',
      'tools.0 is not a tool: growth_list_learning; did you mean growth_list_learnings?',
    ])
  })

  test('answers in at most 8,000 characters', async () => {
    const { id } = await run([[delegate('long')]])
    const [text] = await results(id)
    expect(text).toBe('x'.repeat(8_000))
  })

  test('is one of at most eight of a root', async () => {
    const { id, children } = await run([
      ...Array.from({ length: 9 }, (_, n): Plan[number] => [delegate(`part ${n}`)]),
    ])
    expect(children).toHaveLength(8)
    expect((await results(id)).at(-1)).toContain('8 sub-agents were used already')
  })

  test('and its root share the steps of the plan, of which one is left to conclude', async () => {
    const endless: Plan = Array.from({ length: 60 }, (_, n) => [learn(`note ${n}`)])
    const { id, job, children } = await run([[delegate(endless)]])
    const child = await jobOf(app, children[0]!.id)
    expect([job.status, child.status, job.model_calls + child.model_calls]).toEqual([
      'completed',
      'completed',
      40,
    ])
    expect((await endOf(app, id)).steps.at(-1)).toBe('model done')
    const few = await run([[delegate(endless, { maxSteps: 2 })]])
    expect((await jobOf(app, few.children[0]!.id)).model_calls).toBe(2)
  })

  test('whose call is asked shows what a person asked for, and its parent waits on', async () => {
    const story = await askingStory()
    const id = await ask(app, story, [[delegate([[learn('asked')]])]])
    const [child] = await eventually(
      () => childrenOf(id),
      ([one]) => one?.status === 'waiting_approval',
    )
    expect((await jobOf(app, id)).status).toBe('waiting_child')
    const { approvals } = await get(story, child!.id)
    expect([approvals.length, approvals[0].goal]).toEqual([1, (await jobOf(app, id)).goal])
    const owner = await tokenOf(app, story.tenantId, 'owner')
    const path = `/api/v1/agent/approvals/${approvals[0].id}/approve`
    expect((await app.send('POST', path, { key: owner, body: {} })).status).toBe(200)
    expect((await overJob(app, id)).status).toBe('completed')
    expect(await learned(app, story)).toEqual(['asked'])
    expect(await brokenInvariants(app.owner)).toEqual([])
  })

  test('stands in the trace below the step that waited for it', async () => {
    const { story, id, children } = await run([[delegate('look')]])
    const { spans } = await get(story, `${id}/trace`)
    type Span = { name: string; spanId: string; parentSpanId: string | null; traceId: string }
    const wait = spans.find(({ name }: Span) => name === 'wait child')
    expect(
      spans
        .filter(({ name }: Span) => name === 'invoke_agent tendril')
        .map(({ parentSpanId }: Span) => parentSpanId),
    ).toEqual([null, wait.spanId])
    expect(new Set(spans.map(({ traceId }: Span) => traceId))).toEqual(
      new Set([id.replaceAll('-', '')]),
    )
    expect((await get(story, `${children[0]!.id}/trace`)).spans[0].parentSpanId).toBe(wait.spanId)
  })
})

describe('a direct call', () => {
  const call = (key: string, body: object) =>
    app.send('POST', '/api/v1/actions/delegate', { key, body })

  test('answers at once, and its job has a conversation of its own', async () => {
    const story = await newAgentStory(app)
    const { status, body } = await call(story.key, {
      goal: planText([[learn('direct')]]),
      tools: ['growth_add_learning'],
      maxSteps: 3,
    })
    expect([status, body.result.status]).toEqual([200, 'queued'])
    const job = await overJob(app, body.result.jobId)
    expect(job).toMatchObject({
      kind: 'delegate',
      status: 'completed',
      parent_id: null,
      tools: ['growth_add_learning'],
      most_steps: 3,
    })
    expect(await learned(app, story)).toEqual(['direct'])
    expect((await messagesIn(app, job)).map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect((await get(story, job.id)).answer.content).toContain('learning:1')
  })
})

test('what a child has read outside taints its parent: what it drafts next is asked', async () => {
  const story = await newAgentStory(app)
  const stopped = stops.stopNext('test.slow')
  const id = await ask(app, story, [[delegate('slow')], [learn('after')]])
  const goOn = await stopped
  await app.owner`update agent_job set taint = '["signal"]' where parent_id = ${id}`
  goOn()
  const job = await waitingJob(app, id)
  expect(job.taint).toEqual(['signal'])
  expect((await get(story, id)).steps[1]).toMatchObject({ name: 'delegate', untrusted: 'signal' })
  expect((await get(story, id)).approvals[0].why).toEqual(['untrusted: signal'])
  expect(await learned(app, story)).toEqual([])
  await cancel(story, id)
  expect(await brokenInvariants(app.owner)).toEqual([])
})
