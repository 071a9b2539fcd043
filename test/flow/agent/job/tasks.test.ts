/** Tasks over HTTP: each state and code of the API document, and what rules and a model answer. */
import { describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { makeTask } from '#test/support/agent/records'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually } from '#test/support/app'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp, useSharedApp } from '#test/support/use'

const still = useSharedApp({ overrides: { lanes: [] } })
const desk = useSharedApp()
const stops = testStops()
const script: { answers: string[] } = { answers: [] }
const model = scriptedModel(async () => {
  await stops.at('test.asked')
  return { text: script.answers.shift() ?? '' }
})
const asked = useApp({ model, env: { MODEL_ALLOW: 'special' } })

const notes = { text: 'Anna will send the offer by Friday.\n- [ ] Book a room\nIt rained.' }
const items = { taskType: 'extract_action_items', input: notes }
const label = {
  taskType: 'classify_text',
  input: { text: 'My parcel is late', labels: ['parcel', { name: 'invoice', examples: ['x'] }] },
}

const ended = async (surface: Surface, body: object) => {
  const { body: created } = await surface.send('POST', 'tasks', body)
  await overJob(surface.app, created.task.id)
  return (await surface.send('GET', `tasks/${created.task.id}`)).body.task
}

describe('a new task', () => {
  test('is queued, and a job of the same id', async () => {
    const surface = await newSurface(still)
    const { status, body } = await surface.send('POST', 'tasks', items)
    expect(status).toBe(201)
    const { id, ...task } = body.task
    expect(task).toMatchObject({
      taskType: 'extract_action_items',
      input: notes,
      tier: 'fast',
      model: 'desk',
      requestedModel: null,
      maxAttempts: null,
      attempts: 0,
      status: 'queued',
      output: null,
      error: null,
      startedAt: null,
      endedAt: null,
    })
    const { job, children } = (await surface.send('GET', `jobs/${id}`)).body
    expect([job.kind, job.status, job.toolNames, children]).toEqual(['task', 'queued', [], []])
    expect((await surface.send('GET', `tasks/${id}`)).body).toEqual(body)
    const [audit] =
      await still.owner`select operation, ref_id, detail from audit where ref_id = ${id}`
    expect(audit).toMatchObject({
      operation: 'agent.tasks.create',
      detail: { task_type: 'extract_action_items' },
    })
  })

  const long = 'x'.repeat(50_001)
  const labelled = (...labels: unknown[]) => ({ ...label, input: { ...label.input, labels } })
  test.each([
    ['an input that is no object', { ...items, input: 'x' }, 'input must be an object'],
    ['no text', { ...items, input: {} }, 'input.text is required'],
    ['a blank text', { ...items, input: { text: ' ' } }, 'input.text must not be blank'],
    [
      'a text that is too long',
      { ...items, input: { text: long } },
      'input.text must have at most 50000 characters',
    ],
    [
      'another field in the input',
      { ...items, input: { ...notes, labels: [] } },
      'input.labels is not a known field',
    ],
    ['one label', labelled('a'), 'input.labels must have at least 2 entries'],
    [
      '51 labels',
      labelled(...Array.from({ length: 51 }, (_, n) => `l${n}`)),
      'input.labels must have at most 50',
    ],
    [
      'two labels of one name',
      labelled('a', { name: 'A' }),
      'input.labels.1 is the name of two labels',
    ],
    ['a label without a name', labelled('a', {}), 'input.labels.1'],
  ])('with %s is refused', async (_, body, message) => {
    const surface = await newSurface(still)
    const { status, body: answer } = await surface.send('POST', 'tasks', body)
    expect([status, answer.error.message]).toEqual([400, expect.stringContaining(message)])
    expect(
      await still.owner`select 1 from agent_job where tenant_id = ${surface.tenantId}`,
    ).toHaveLength(0)
  })
})

describe('cancelling', () => {
  const over = { ended_at: new Date() }
  test.each([
    ['queued', {}, 200, 'cancelled'],
    ['running', { status: 'running' }, 409, 'running'],
    ['completed', { status: 'completed', ...over }, 200, 'completed'],
    ['failed', { status: 'failed', ...over }, 200, 'failed'],
    ['cancelled', { status: 'cancelled', ...over }, 200, 'cancelled'],
  ] as const)('a task that is %s', async (_, changes, status, after) => {
    const surface = await newSurface(still)
    const { id } = await makeTask(surface, changes)
    const before = (await surface.send('GET', `tasks/${id}`)).body.task
    const cancelled = await surface.send('POST', `tasks/${id}/cancel`)
    expect(cancelled.status).toBe(status)
    const { task } = (await surface.send('GET', `tasks/${id}`)).body
    expect(task.status).toBe(after)
    if (before.status !== 'queued') expect(task).toEqual(before)
    if (status === 200) expect(cancelled.body.task).toEqual(task)
    else expect(cancelled.body.error.message).toContain('already running')
  })

  test('leaves no work', async () => {
    const surface = await newSurface(still)
    const { body } = await surface.send('POST', 'tasks', items)
    expect((await surface.send('POST', `tasks/${body.task.id}/cancel`)).status).toBe(200)
    expect(await still.owner`select 1 from work where ref_id = ${body.task.id}`).toHaveLength(0)
    expect((await surface.send('GET', `jobs/${body.task.id}`)).body.job.status).toBe('cancelled')
  })
})

test('a job that is no task is not found as one', async () => {
  const surface = await newSurface(still)
  const { job } = await surface.asked()
  expect((await surface.send('GET', `tasks/${job}`)).status).toBe(404)
  expect((await surface.send('POST', `tasks/${job}/cancel`)).status).toBe(404)
  expect((await surface.send('GET', 'tasks')).body.tasks).toEqual([])
})

test('tasks are listed newest first, by state', async () => {
  const surface = await newSurface(still)
  const made: string[] = []
  for (let one = 0; one < 3; one++) made.unshift((await makeTask(surface)).id)
  await makeTask(surface, { status: 'failed', ended_at: new Date() })
  const { tasks } = (await surface.send('GET', 'tasks?status=queued')).body
  expect(tasks.map(({ id }: { id: string }) => id)).toEqual(made)
  expect((await surface.send('GET', 'tasks')).body.tasks).toHaveLength(4)
})

describe('without a model', () => {
  test('rules find what has a usual form', async () => {
    const task = await ended(await newSurface(desk), items)
    expect(task).toMatchObject({ status: 'completed', model: 'desk', attempts: 1, error: null })
    expect(task.output).toEqual({
      items: [
        { text: 'send the offer', owner: 'Anna', due: 'Friday' },
        { text: 'Book a room', owner: null, due: null },
      ],
      method: 'rules',
    })
  })

  test('a text without evidence for any label fails, and says that it needs a model', async () => {
    const task = await ended(await newSurface(desk), {
      ...label,
      input: { ...label.input, text: 'Good morning' },
    })
    expect(task).toMatchObject({
      status: 'failed',
      error: 'model_required',
      output: null,
      attempts: 0,
    })
  })
})

describe('with a model', () => {
  const good = JSON.stringify({ items: [{ text: 'send the offer', owner: 'Anna', due: 'Friday' }] })

  test('it answers in the form of the type, with no tools and the text as data', async () => {
    script.answers = [good]
    const task = await ended(await newSurface(asked), { ...items, model: 'special' })
    expect(task).toMatchObject({
      status: 'completed',
      attempts: 1,
      requestedModel: 'special',
      model: 'special',
    })
    expect(task.output).toEqual({ ...JSON.parse(good), method: 'model' })
    const turn = model.turns.at(-1)!
    expect([turn.tools, turn.format?.name, JSON.parse(turn.messages[0]!.text)]).toEqual([
      [],
      'extract_action_items',
      { untrusted: notes.text },
    ])
  })

  test('is asked again, with the fault of its answer, as often as the task allows', async () => {
    script.answers = ['Sure!', good]
    const surface = await newSurface(asked)
    expect(await ended(surface, items)).toMatchObject({
      status: 'completed',
      attempts: 2,
      error: null,
    })
    expect(model.turns.at(-1)!.messages.at(-1)!.text).toContain('it is not one JSON object')
    script.answers = ['', '{}', good]
    expect(await ended(surface, items)).toMatchObject({
      status: 'failed',
      attempts: 2,
      error: 'output_invalid: items is missing',
      output: null,
    })
    script.answers = ['no', good]
    expect(await ended(surface, { ...items, maxAttempts: 1 })).toMatchObject({
      status: 'failed',
      attempts: 1,
    })
    script.answers = ['1', '2', '3', '4', good]
    expect(await ended(surface, { ...items, maxAttempts: 5 })).toMatchObject({
      status: 'completed',
      attempts: 5,
    })
  })

  test('and while it is asked, the task cannot be cancelled as a task, but as a job', async () => {
    const surface = await newSurface(asked)
    const stopped = stops.stopNext('test.asked')
    const { body } = await surface.send('POST', 'tasks', items)
    const goOn = await stopped
    expect((await surface.send('POST', `tasks/${body.task.id}/cancel`)).status).toBe(409)
    expect((await surface.send('POST', `jobs/${body.task.id}/cancel`)).status).toBe(200)
    goOn()
    const { task } = (await surface.send('GET', `tasks/${body.task.id}`)).body
    expect([task.status, task.output]).toEqual(['cancelled', null])
    const left = () => asked.owner`select 1 from work where ref_id = ${body.task.id}`
    expect(await eventually(left, ({ length }) => length === 0)).toHaveLength(0)
  })
})
