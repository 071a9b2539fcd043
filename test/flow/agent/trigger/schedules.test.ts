/**
 * Schedules of the agent: made by the agent, run at their times, held, paused, and edited by
 * people.
 */
import { expect, test } from 'bun:test'
import { jobOf, messagesIn, overJob, stepsIn, turn } from '#test/support/agent/agent'
import {
  comeDue,
  goalModel,
  makeSchedule,
  runsOf,
  scheduleOf,
  scheduling,
} from '#test/support/agent/schedules'
import type { Surface } from '#test/support/agent/surface'
import { eventually } from '#test/support/app'
import { useApp } from '#test/support/use'

const app = useApp({ model: goalModel('Looked.') })

const { person, place, scheduled, called, overRuns } = scheduling(app)

const listed = async ({ send }: Surface, query = '') =>
  (await send('GET', `schedules${query}`)).body.schedules

test('the agent schedules a task, which runs in its own conversation and in the name of who asked', async () => {
  const { surface, by } = await place()
  const step = await called({ surface, by }, 'schedule_task', {
    goal: 'Look at the queue',
    cron: '0 9 * * 1',
    timeZone: 'Europe/Berlin',
  })
  expect(step).toMatchObject({ state: 'done' })
  const [schedule] = await listed(surface)
  expect(schedule).toMatchObject({
    goal: 'Look at the queue',
    cron: '0 9 * * 1',
    timeZone: 'Europe/Berlin',
    status: 'active',
    taint: [],
  })
  expect(step.result!.text.match(/T0[78]:00:00/g)).toHaveLength(3)

  await comeDue(surface, schedule.id)
  const [run] = await overRuns(schedule.id, 1)
  const job = await jobOf(app, run!.id)
  expect(job).toMatchObject({
    kind: 'scheduled',
    origin: 'automatic',
    scheduled: true,
    on_behalf: by,
    status: 'completed',
  })
  expect(await messagesIn(app, job)).toEqual([
    { role: 'user', content: 'Look at the queue' },
    { role: 'assistant', content: 'Looked.' },
  ])
  const { body } = await surface.send('GET', `schedules/${schedule.id}`)
  expect(body.schedule).toMatchObject({
    conversationId: job.conversation_id,
    lastJobId: job.id,
    status: 'active',
    failures: 0,
  })
  expect(new Date(body.schedule.nextRunAt).getTime()).toBeGreaterThan(Date.now())
  await comeDue(surface, schedule.id)
  await overRuns(schedule.id, 2)
  expect(await messagesIn(app, job)).toHaveLength(4)
})

test('a task without a time zone follows UTC, and one for a single time is done after it', async () => {
  const { surface, by } = await place()
  const at = new Date(Date.now() + 3_600_000).toISOString()
  await called({ surface, by }, 'schedule_task', { goal: 'Once', at })
  const [schedule] = await listed(surface)
  expect(schedule).toMatchObject({ at, cron: null, timeZone: 'UTC', nextRunAt: at })
  await comeDue(surface, schedule.id)
  await overRuns(schedule.id, 1)
  expect(await scheduleOf({ app }, schedule.id)).toMatchObject({ status: 'done', next_at: null })
  expect(
    await app.owner`select 1 from work where kind = 'agent_schedule' and ref_id = ${schedule.id}`,
  ).toHaveLength(0)
})

test('what a task may not be is a result for the model that names the field', async () => {
  const { surface, by } = await place()
  const wrong: [object, string][] = [
    [{ goal: 'x', cron: '*/5 * * * *' }, 'cron fires more often than every 15 minutes'],
    [
      { goal: 'x', cron: '0 9 * * 1', tools: ['growth_list_queu'] },
      'did you mean growth_list_queue?',
    ],
  ]
  for (const [args, message] of wrong) {
    const step = await called({ surface, by }, 'schedule_task', args)
    expect([step.state, step.error]).toEqual(['failed', expect.stringContaining(message)])
  }
  expect(await listed(surface)).toEqual([])
})

test('a job with few tools cannot schedule a run with more', async () => {
  const { surface, by } = await place()
  const tools = ['schedule_task', 'growth_overview']
  await called({ surface, by }, 'schedule_task', { goal: 'all', cron: '0 9 * * 1' }, tools)
  await called(
    { surface, by },
    'schedule_task',
    { goal: 'some', cron: '0 9 * * 1', tools: ['growth_overview', 'growth_list_queue'] },
    tools,
  )
  const byGoal = Object.fromEntries(
    (await listed(surface)).map(({ goal, tools }: { goal: string; tools: string[] }) => [
      goal,
      tools,
    ]),
  )
  expect(byGoal).toEqual({ all: tools, some: ['growth_overview'] })
})

test('tasks are listed and cancelled by the agent, twice as once', async () => {
  const { surface, by } = await place()
  const { id } = await makeSchedule(surface, { goal: 'Mine', by })
  await makeSchedule(surface, { goal: 'Written by a page', taint: ['fetch_url example.org'] })
  const list = await turn(app, {
    content: JSON.stringify([['list_scheduled_tasks', {}]]),
    by,
    tenantId: surface.tenantId,
  })
  const text = (await stepsIn(app, (await overJob(app, list)).id))[1]!.result!.text
  expect(text).toContain('Mine')
  // The goal that may follow a page is untrusted, and whoever reads it is tainted.
  expect((await jobOf(app, list)).taint).toEqual(['list_scheduled_tasks'])
  for (const _ of [1, 2]) {
    const step = await called({ surface, by }, 'cancel_scheduled_task', { id })
    expect(step.result!.text).toContain('cancelled')
  }
  expect(await scheduleOf({ app }, id)).toMatchObject({ status: 'cancelled', next_at: null })
  expect(
    await app.owner`select 1 from audit where operation = 'agent.actions.cancel_scheduled_task'
      and ref_id = ${id}`,
  ).toHaveLength(1)
})

test('a run cannot create schedules, and begins with the taint of its schedule', async () => {
  const { surface, by } = await place()
  const goal = JSON.stringify([
    ['schedule_task', { goal: 'more', cron: '0 9 * * 1' }],
    ['growth_add_learning', { kind: 'worked', note: 'n' }],
  ])
  const { id } = await makeSchedule(surface, { goal, by, taint: ['fetch_url example.org'] })
  await comeDue(surface, id)
  const run = await eventually(
    async () => (await runsOf({ app }, id))[0],
    (found) => found?.status === 'waiting_approval',
  )
  expect((await jobOf(app, run!.id)).taint).toEqual(['fetch_url example.org'])
  const steps = (await stepsIn(app, run!.id)).map(({ name, state, error }) => [name, state, error])
  expect(steps.slice(1)).toEqual([
    ['schedule_task', 'failed', 'a scheduled run can create neither schedules nor webhook rules'],
    ['growth_add_learning', 'asked', null],
  ])
  expect(await listed(surface)).toHaveLength(1)
})

test('while automation is paused nothing runs; what is an hour late then is skipped with a notice', async () => {
  const { surface, by, key } = await place()
  const [soon, late] = [await makeSchedule(surface, { by }), await makeSchedule(surface, { by })]
  await app.send('POST', 'automation/pause-all', { key })
  await comeDue(surface, soon.id)
  await comeDue(surface, late.id, 3_700_000)
  const refused = await surface.send('POST', `schedules/${soon.id}/run`)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  expect([await runsOf({ app }, soon.id), await runsOf({ app }, late.id)]).toEqual([[], []])
  await app.send('POST', 'automation/resume-all', { key })
  await overRuns(soon.id, 1)
  const skipped = await eventually(
    () => scheduleOf({ app }, late.id),
    (found) => found!.missed === 1,
  )
  expect(await runsOf({ app }, late.id)).toEqual([])
  const [notice] = await messagesIn(app, skipped!)
  expect(notice).toMatchObject({
    role: 'notice',
    content: expect.stringContaining('more than an hour late'),
  })
})

test('a schedule whose maker has left is paused, and says so', async () => {
  const { surface, by, id } = await scheduled()
  await app.owner`delete from member where person_id = ${by.personId}`
  await comeDue(surface, id)
  const schedule = await eventually(
    () => scheduleOf({ app }, id),
    (found) => found!.status === 'paused',
  )
  expect(schedule).toMatchObject({ paused_by: 'caller_gone', next_at: null })
  expect(await runsOf({ app }, id)).toEqual([])
  expect((await messagesIn(app, schedule!))[0]!.content).toContain('no longer has access')
  const [event] = await app.owner`select data from outbox where type = 'agent.schedule.paused'
      and tenant_id = ${surface.tenantId}`
  expect(event!.data).toEqual({
    schedule_id: id,
    goal: 'Draft three posts',
    reason: 'caller_gone',
    last_job_id: null,
  })
})

test('a workspace that awaits its deletion has no runs', async () => {
  const { surface, id } = await scheduled()
  await app.owner`update tenant set deletes_at = now() + interval '7 days'
    where id = ${surface.tenantId}`
  await comeDue(surface, id)
  await eventually(
    () => scheduleOf({ app }, id),
    (found) => found!.next_at! > new Date(),
  )
  expect(await runsOf({ app }, id)).toEqual([])
})

test('people change, run, pause and delete schedules', async () => {
  const { surface, by } = await place()
  const { id } = await makeSchedule(surface, { by, taint: ['fetch_url example.org'] })
  const [editor, path] = [await person(surface, 'editor'), `schedules/${id}`]
  // The editor's words run in the editor's name, and follow no page.
  const edited = await surface.send('PATCH', path, { goal: 'Other', cron: '0 8 * * *' }, editor.key)
  expect(edited.body.schedule).toMatchObject({ goal: 'Other', cron: '0 8 * * *', taint: [] })
  expect((await scheduleOf({ app }, id))!.on_behalf).toEqual(editor.by)
  const run = await surface.send('POST', `${path}/run`, undefined, editor.key)
  expect([run.status, run.body.job]).toMatchObject([201, { kind: 'scheduled', goal: 'Other' }])
  const paused = await surface.send('PATCH', path, { status: 'paused' }, editor.key)
  expect(paused.body.schedule).toMatchObject({
    status: 'paused',
    pausedBy: 'person',
    nextRunAt: null,
  })
  expect((await surface.send('PATCH', path, { cron: '* * * * *' }, editor.key)).status).toBe(400)
  expect(await listed(surface, '?status=active')).toEqual([])
  expect((await surface.send('DELETE', path, undefined, editor.key)).status).toBe(200)
  expect((await surface.send('DELETE', path, undefined, editor.key)).status).toBe(404)
})
