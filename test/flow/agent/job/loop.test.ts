/** The loop of the agent with a scripted model: what its steps do, and what a job ends as. */
import { expect, test } from 'bun:test'
import { timeAt } from '#kernel/calendar'
import { asKey, messagesIn, overJob, stepsIn, turn, waitingJob } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { softwareProfile } from '#test/support/growth/profiles'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const script = {
  answer: (): ReturnType<Parameters<typeof scriptedModel>[0]> => ({ text: 'nothing to say' }),
} as {
  answer: Parameters<typeof scriptedModel>[0]
}
const model = scriptedModel((asked, answers) => script.answer(asked, answers))
const app = useApp({ overrides: { thinker: model } })

test('an answer in words ends the job with a message', async () => {
  script.answer = () => ({ text: 'Hello.' })
  const id = await turn(app, { content: 'hi', by: await asKey(app) })
  const job = await overJob(app, id)
  expect(job).toMatchObject({
    status: 'completed',
    error: null,
    model_calls: 1,
    tool_calls: 0,
    input_tokens: 200,
    output_tokens: 20,
  })
  expect(await messagesIn(app, job)).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'Hello.' },
  ])
  expect(await app.owner`select 1 from work where kind = 'agent' and ref_id = ${id}`).toHaveLength(
    0,
  )
})

test('commands and reads run in the order of the model, and their results come back to it', async () => {
  script.answer = (asked, answers) => {
    if (answers === 0)
      return {
        calls: [
          ['growth_add_learning', { kind: 'worked', note: 'Numbers in the first line' }],
          ['growth_list_learnings', {}],
          ['get_current_time', {}],
        ],
      }
    return { text: resultsIn(asked).join('\n---\n') }
  }
  const id = await turn(app, { content: 'add it', by: await asKey(app) })
  const job = await overJob(app, id)
  expect(job).toMatchObject({ status: 'completed', tool_calls: 3 })
  expect((await stepsIn(app, id)).map(({ name, state }) => [name, state])).toEqual([
    ['scripted', 'done'],
    ['growth_add_learning', 'done'],
    ['growth_list_learnings', 'done'],
    ['get_current_time', 'done'],
    ['scripted', 'done'],
  ])
  const { content } = (await messagesIn(app, job)).at(-1)!
  const [used] = await app.owner`select tools_used from agent_message where job_id = ${id}
      and role = 'assistant'`
  expect(used!.tools_used).toEqual([
    'growth_add_learning',
    'growth_list_learnings',
    'get_current_time',
  ])
  expect(content).toContain('learning:1')
  expect(content).toContain('Numbers in the first line')
  expect(content).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
  const [audited] = await app.owner`select actor_kind, actor_id, surface, detail from audit
      where operation = 'growth.learnings.create'`
  expect(audited).toMatchObject({
    actor_kind: 'agent',
    actor_id: id,
    surface: 'agent',
    detail: { job: id, step: 2 },
  })
})

test('the time is told in UTC and by the clocks of the workspace, and no other zone than one that exists is taken', async () => {
  await app.send('PUT', 'profile', { body: { time_zone: 'Asia/Tokyo' } })
  script.answer = (asked, answers) => {
    if (answers > 0) return { text: resultsIn(asked).join('\n---\n') }
    const zones = [{}, { timeZone: 'Europe/Berlin' }, { timeZone: 'Mars/Olympus' }]
    return { calls: zones.map((args) => ['get_current_time', args]) }
  }
  const job = await overJob(
    app,
    await turn(app, { content: 'what time is it?', by: await asKey(app) }),
  )
  const [tokyo, berlin, mars] = (await messagesIn(app, job)).at(-1)!.content.split('\n---\n')
  const [, now] = /^now: (\S+)$/m.exec(tokyo!)!
  expect(tokyo).toContain(
    `timeZone: Asia/Tokyo\nlocalTime: ${timeAt(new Date(now!), 'Asia/Tokyo')}`,
  )
  expect(berlin).toContain('timeZone: Europe/Berlin')
  expect(mars).toContain(
    'timeZone must be an IANA time zone, such as Europe/Berlin: there is no Mars/Olympus',
  )
})

const filledProfile = () => app.send('PUT', 'profile', { body: softwareProfile })

test('a batch is waited for, and its drafts are in the result', async () => {
  await filledProfile()
  script.answer = (asked, answers) =>
    answers === 0
      ? { calls: [['growth_create_batch', { count: 2 }]] }
      : { text: resultsIn(asked).join('\n') }
  const id = await turn(app, { content: 'draft two posts', by: await asKey(app) })
  const job = await overJob(app, id)
  expect(job.status).toBe('completed')
  const { content } = (await messagesIn(app, job)).at(-1)!
  expect(content).toContain('status: ready')
  expect(content).toContain('item:2')
})

test('what publishes is asked of a person, and the conversation goes on meanwhile', async () => {
  await filledProfile()
  script.answer = (asked, answers) => {
    if (answers === 0) return { calls: [['growth_create_batch', { count: 1 }]] }
    if (answers === 1) return { calls: [['growth_approve_item', { id: 'item:1' }]] }
    return { text: resultsIn(asked).at(-1)! }
  }
  const id = await turn(app, { content: 'approve the first', by: await asKey(app) })
  await waitingJob(app, id)
  const [approval] = await app.owner`select tool_name, summary, status, subject from agent_approval
      where job_id = ${id}`
  expect(approval).toMatchObject({ tool_name: 'growth_approve_item', status: 'pending' })
  expect(await app.owner`select 1 from item where status = 'approved'`).toHaveLength(0)
})

test('more thoughts than may run at once wait for their turn, several of one workspace too, and none counts as dead', async () => {
  const gate = Promise.withResolvers<void>()
  let begun = 0
  script.answer = async () => {
    begun++
    await gate.promise
    return { text: 'Done.' }
  }
  const places = [app, await app.newWorkspace(), await app.newWorkspace()]
  const jobs: string[] = []
  for (const { tenantId } of places) {
    const keys = await Promise.all(
      [1, 2].map(() => app.newKey(['api:read', 'workspace:use'], tenantId)),
    )
    for (const { id } of [...keys, ...keys])
      jobs.push(
        await turn(app, { content: 'go', by: { kind: 'key', id, personId: null }, tenantId }),
      )
  }
  await eventually(
    async () =>
      app.owner`select 1 from agent_step where state = 'running' and job_id = any(${jobs})`,
    (running) => running.length === 12,
  )
  // Their rows are written before the model is asked.
  await eventually(
    () => begun,
    (count) => count >= 8,
  )
  expect(begun).toBe(8)
  gate.resolve()
  for (const id of jobs) expect((await overJob(app, id)).status).toBe('completed')
  const [steps] =
    await app.owner`select count(*)::int as all, sum(attempt)::int as deaths from agent_step
      where job_id = any(${jobs})`
  expect({ ...steps }).toEqual({ all: 12, deaths: 0 })
})

test('what only a person may give is neither in the tool of the model nor taken from it', async () => {
  await filledProfile()
  script.answer = (asked, answers) => {
    if (answers === 0) return { calls: [['growth_create_batch', { count: 1 }]] }
    if (answers === 1)
      return { calls: [['growth_post_item', { id: 'item:1', confirm: 'post_again' }]] }
    const { parameters } = asked.tools.find(({ name }) => name === 'growth_post_item')!
    return { text: `${Object.keys(parameters.properties as object)} / ${resultsIn(asked).at(-1)}` }
  }
  const id = await turn(app, { content: 'post it again', by: await asKey(app) })
  const job = await overJob(app, id)
  expect((await messagesIn(app, job)).at(-1)!.content).toBe(
    'id / error: confirm can only be given by a person, who decides about the call',
  )
  expect(await app.owner`select 1 from agent_approval where job_id = ${id}`).toHaveLength(0)
})

test('a model that fails in an unknown way is asked again, and each try is a span of its own', async () => {
  let asked = 0
  script.answer = () => {
    if (++asked === 1) throw new TypeError('undefined is not a function')
    return { text: 'Now.' }
  }
  const { id: keyId, api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'])
  const id = await turn(app, { content: 'hi', by: { kind: 'key', id: keyId, personId: null } })
  const trace = () => app.send('GET', `/api/v1/agent/jobs/${id}/trace`, { key: api_key })
  const job = await overJob(app, id)
  expect(job).toMatchObject({ status: 'completed', error: null, model_calls: 1, input_tokens: 200 })
  expect((await messagesIn(app, job)).at(-1)).toEqual({ role: 'assistant', content: 'Now.' })
  const { spans } = (await trace()).body
  const tries = spans.slice(1).map(({ name, status, attributes }: (typeof spans)[number]) => ({
    name,
    status,
    error: attributes['error.type'],
    attempt: attributes['tendril.attempt'],
  }))
  expect(tries).toEqual([
    { name: 'chat scripted', status: 'error', error: 'provider_error', attempt: 0 },
    { name: 'chat scripted', status: 'ok', error: undefined, attempt: 1 },
  ])
  const [root, failed, done] = spans
  expect(new Set([root.spanId, failed.spanId, done.spanId]).size).toBe(3)
  expect([failed.parentSpanId, done.parentSpanId]).toEqual([root.spanId, root.spanId])
  expect(Date.parse(failed.endTime)).toBeLessThanOrEqual(Date.parse(done.startTime))
  expect((await trace()).body.spans).toEqual(spans)
})
