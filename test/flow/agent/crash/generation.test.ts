/**
 * A21: drafts are ready, and the step of a job that asked for them still waits. They were made
 * once, and the job is told of them.
 */
import { expect, test } from 'bun:test'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { plannedModel } from '#test/support/agent/plan'
import { ask, endOf, newAgentStory } from '#test/support/agent/story'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { makeDue, wakeActor } from '#test/support/database/writes'
import { crash } from '#test/support/growth/story'
import { heldDrafter } from '#test/support/model/held-drafter'

const LATER = new Date('2100-01-01')

/** A job that looks for its drafts in the far future only, and whose drafts are ready. */
const waiting = async (stack: AsyncDisposableStack) => {
  const db = stack.use(await freshDb())
  const held = heldDrafter()
  const overrides = { thinker: plannedModel(), drafter: held.drafter, sweepMs: 20 }
  const start = async (): Promise<TestApp> =>
    stack.use(await testApp({ database: db.options, overrides }))
  const app = await start()
  await recordReservations(app.owner)
  const story = await newAgentStory(app)
  const id = await ask(app, story, [
    [['growth_create_batch', { count: 2 }]],
    [['growth_list_queue', {}]],
  ])
  await held.begun(1)
  const states = (step: string) =>
    eventually(
      async () => (await endOf(app, id)).steps,
      (steps) => steps.at(-1) === step,
    )
  await states('growth_create_batch waiting')
  // The claim that looks may run just now; it does not put off what it finds unsettled for longer
  // than this.
  await eventually(
    async () => {
      await makeDue(app, id, { kind: 'agent', at: LATER })
      return app.owner`select 1 from work where ref_id = ${id} and kind = 'agent'
        and state = 'queued' and run_at = ${LATER}`
    },
    ({ length }) => length === 1,
  )
  held.release()
  await eventually(
    () => app.owner`select 1 from batch where tenant_id = ${story.tenantId} and status = 'ready'`,
    ({ length }) => length === 1,
  )
  expect(await states('growth_create_batch waiting')).toEqual([
    'model done',
    'growth_create_batch waiting',
  ])
  return { app, start, story, id }
}

const draftsIn = async ({ owner }: TestApp, tenantId: string) => {
  const [row] =
    await owner`select (select count(*)::int from batch where tenant_id = ${tenantId}) as batches,
    (select count(*)::int from item where tenant_id = ${tenantId}) as items`
  return { ...row }
}

/** The job looks for its drafts now. */
const look = async (
  app: TestApp,
  { id, tenantId }: { id: string; tenantId: string },
): Promise<void> => {
  await makeDue(app, id, { kind: 'agent' })
  await wakeActor(app, tenantId)
}

test('A21, its process dies: another one finds the drafts, and the job goes on', async () => {
  await using stack = new AsyncDisposableStack()
  const { app, start, story, id } = await waiting(stack)
  await crash(app)
  const next = await start()
  await look(next, { id, ...story })
  expect(await overJob(next, id)).toMatchObject({ status: 'completed', model_calls: 3 })
  expect((await endOf(next, id)).steps).toEqual([
    ...[
      'model done',
      'growth_create_batch done',
      'model done',
      'growth_list_queue done',
      'model done',
    ],
  ])
  expect(await draftsIn(next, story.tenantId)).toEqual({ batches: 1, items: 2 })
  expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
})

test.each([
  ['there', false],
  ['after its process has died', true],
])('A21, called off %s: the drafts stay, and nothing more of the job happens', async (_, dies) => {
  await using stack = new AsyncDisposableStack()
  const { app, start, story, id } = await waiting(stack)
  if (dies) await crash(app)
  const next = dies ? await start() : app
  const { status, body } = await next.send('POST', `/api/v1/agent/jobs/${id}/cancel`, {
    key: story.key,
  })
  expect([status, body.job.status]).toEqual([200, 'cancelled'])
  await look(next, { id, ...story })
  // The workspace's agent takes the next message.
  expect(await overJob(next, await ask(next, story, []))).toMatchObject({ status: 'completed' })
  expect(await endOf(next, id)).toEqual({
    status: 'cancelled',
    error: null,
    steps: ['model done', 'growth_create_batch cancelled'],
  })
  expect(await draftsIn(next, story.tenantId)).toEqual({ batches: 1, items: 2 })
  expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
})
