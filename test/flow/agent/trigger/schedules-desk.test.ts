/** Schedules where no model is set: commands run, other goals fail and pause the schedule. */
import { expect, test } from 'bun:test'
import { jobOf, messagesIn } from '#test/support/agent/agent'
import { comeDue, makeSchedule, runsOf, scheduleOf } from '#test/support/agent/schedules'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually } from '#test/support/app'
import { signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const owner = async ({ tenantId }: Surface) => {
  const { sessionId, personId } = await signedIn(app, tenantId)
  return { kind: 'session', id: sessionId, personId } as const
}
const runIn = (id: string, count: number, status: string) =>
  eventually(
    () => runsOf({ app }, id),
    (runs) => runs.length === count && runs.at(-1)!.status === status,
  )

test('the third run in a row that fails pauses a schedule, with an event and a notice', async () => {
  const surface = await newSurface(app)
  const { id } = await makeSchedule(surface, {
    by: await owner(surface),
    goal: 'Think about the week',
  })
  for (const count of [1, 2, 3]) {
    await comeDue(surface, id)
    const runs = await runIn(id, count, 'failed')
    expect(runs.at(-1)!.error).toBe('model_required')
  }
  const schedule = await eventually(
    () => scheduleOf({ app }, id),
    (found) => found!.status === 'paused',
  )
  expect(schedule).toMatchObject({ paused_by: 'failures', failures: 3, next_at: null })
  expect(
    await app.owner`select 1 from work where kind = 'agent_schedule' and ref_id = ${id}`,
  ).toHaveLength(0)
  expect((await messagesIn(app, schedule!)).map(({ role }) => role)).toEqual([
    ...Array(3).fill(['user', 'notice']).flat(),
    'notice',
  ])
  expect((await messagesIn(app, schedule!)).at(-1)!.content).toContain(
    'three runs in a row have failed',
  )
  const events = await app.owner`select data from outbox where type = 'agent.schedule.paused'
      and tenant_id = ${surface.tenantId}`
  expect(events.map(({ data }) => data.reason)).toEqual(['failures'])
  const again = await surface.send('PATCH', `schedules/${id}`, { status: 'active' })
  expect(again.body.schedule).toMatchObject({ status: 'active', failures: 0, pausedBy: null })
})

test('a goal that is an exact command runs without a model; one that is none fails', async () => {
  const surface = await newSurface(app)
  const by = await owner(surface)
  const right = await makeSchedule(surface, {
    by,
    goal: '/learnings create --kind worked --note Short',
  })
  const wrong = await makeSchedule(surface, { by, goal: '/learnigs create' })
  for (const { id } of [right, wrong]) await comeDue(surface, id)
  await runIn(right.id, 1, 'completed')
  expect((await runIn(wrong.id, 1, 'failed'))[0]!.error).toBe('unknown_command')
  expect(await app.owner`select 1 from learning where note = 'Short'`).toHaveLength(1)
})

test('a command that would approve is asked of a person, although a person made the schedule', async () => {
  const surface = await newSurface(app)
  const { id } = await makeSchedule(surface, {
    by: await owner(surface),
    goal: '/automation resume-all',
  })
  await comeDue(surface, id)
  const [run] = await runIn(id, 1, 'waiting_approval')
  expect(await jobOf(app, run!.id)).toMatchObject({ model: 'desk', scheduled: true })
})

test('a direct call schedules a goal in free text with a warning, and a command without one', async () => {
  const surface = await newSurface(app)
  const schedule = (goal: string) =>
    app.send('POST', '/api/v1/actions/schedule_task', {
      key: surface.key,
      body: { goal, cron: '0 9 * * 1' },
    })
  const { status, body } = await schedule('Think about the week')
  expect([status, body.result.nextRuns.length, body.result.warning]).toEqual([
    200,
    3,
    expect.stringContaining('model_required'),
  ])
  expect((await schedule('/overview')).body.result.warning).toBeNull()
  const listed = await app.send('POST', '/api/v1/actions/list_scheduled_tasks', {
    key: surface.key,
    body: {},
  })
  expect(listed.body.result.tasks).toHaveLength(2)
  const { id } = body.result
  for (const _ of [1, 2]) {
    const cancelled = await app.send('POST', '/api/v1/actions/cancel_scheduled_task', {
      key: surface.key,
      body: { id },
    })
    expect([cancelled.status, cancelled.body.result]).toEqual([200, { id, status: 'cancelled' }])
  }
})
