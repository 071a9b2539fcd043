/**
 * Trees of jobs: how they wait and end, and that of a job that nobody watches no child may do what
 * its root may not.
 */
import { describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { jobOf, overJob, stepsIn } from '#test/support/agent/agent'
import { delegate, delegatingModel, delegations, learn } from '#test/support/agent/delegation'
import { brokenInvariants } from '#test/support/agent/invariants'
import { type Plan, planText } from '#test/support/agent/plan'
import { comeDue, makeSchedule, runsOf } from '#test/support/agent/schedules'
import { ask, newAgentStory } from '#test/support/agent/story'
import { newSurface } from '#test/support/agent/surface'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { eventually } from '#test/support/app'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const stops = testStops()
const app = useApp({ model: delegatingModel(stops) })

const { childrenOf, results, wake, askingStory, waitingChild, cancel } = delegations(app, stops)

const MAKERS = ['schedule_task', 'create_webhook_rule', 'list_scheduled_tasks', 'delegate']
const making: Plan = [
  [
    ['schedule_task', { goal: 'Again', cron: '0 9 * * *' }],
    ['create_webhook_rule', { name: 'More', goal: 'Again' }],
    ['list_scheduled_tasks', {}],
  ],
]
const delegating = (plan: Plan): Plan => [[['delegate', { goal: planText(plan), tools: MAKERS }]]]

const owned = async () => {
  const surface = await newSurface(app)
  const { sessionId: id, personId } = await signedIn(app, surface.tenantId)
  return { surface, by: { kind: 'session', id, personId } as const }
}
const begun = async (id: string) =>
  (
    await eventually(
      () => runsOf({ app }, id),
      ({ length }) => length === 1,
    )
  )[0]!.id
const treeOf = async (rootId: string) => [
  ...(await app.owner<
    { id: string; depth: number; status: string; scheduled: boolean }[]
  >`select id, depth, status, scheduled from agent_job
    where root_id = ${rootId} order by depth`),
]
const countsIn = async (tenantId: string) => ({
  ...(
    await app.owner`select (select count(*)::int from agent_schedule
      where tenant_id = ${tenantId}) as schedules,
    (select count(*)::int from webhook_rule where tenant_id = ${tenantId}) as rules,
    (select count(*)::int from agent_approval where tenant_id = ${tenantId}) as approvals`
  )[0]!,
})

test.each([
  ['a child', delegating(making), 1],
  ['a child of a child', delegating(delegating(making)), 2],
])(
  '%s of a scheduled run makes neither schedules nor webhook rules, and asks nobody for one',
  async (_, plan, depth) => {
    const { surface, by } = await owned()
    const { id } = await makeSchedule(surface, { goal: planText(plan), by })
    await comeDue(surface, id)
    const root = await begun(id)
    expect((await overJob(app, root)).status).toBe('completed')
    const tree = await treeOf(root)
    expect(tree.map((job) => [job.depth, job.status, job.scheduled])).toEqual(
      Array.from({ length: depth + 1 }, (_, at) => [at, 'completed', true]),
    )
    const steps = (await stepsIn(app, tree.at(-1)!.id)).filter(({ kind }) => kind === 'tool')
    const denied = expect.stringContaining(
      'a scheduled run can create neither schedules nor webhook rules',
    )
    expect(steps).toMatchObject([
      { name: 'schedule_task', state: 'failed', error: denied },
      { name: 'create_webhook_rule', state: 'failed', error: denied },
      { name: 'list_scheduled_tasks', state: 'done' },
    ])
    expect(await countsIn(surface.tenantId)).toEqual({ schedules: 1, rules: 0, approvals: 0 })
  },
)

test('a child of a job that a webhook began is as untrusted, and as automatic, and what it would write waits', async () => {
  const { surface, by } = await owned()
  const goal = planText([
    [
      [
        'delegate',
        {
          goal: planText([[['growth_add_learning', { kind: 'worked', note: 'n' }]]]),
          tools: ['growth_add_learning'],
        },
      ],
    ],
  ])
  const rule = await makeWebhookRule(surface, { by, goal })
  expect((await post(app.url, rule)).status).toBe(200)
  const root = await begun(rule.id)
  // To delegate writes as well: a person allows the first of the two calls.
  const owner = await surface.as('owner')
  const ask = async (count: number) =>
    (
      await eventually(
        () => surface.send('GET', 'approvals?status=pending'),
        ({ body }) => body.approvals.length === count,
      )
    ).body.approvals
  const [first] = await ask(1)
  expect([first.tool_name, first.why]).toEqual(['delegate', ['untrusted: webhook Orders']])
  expect((await surface.send('POST', `approvals/${first.id}/approve`, {}, owner)).status).toBe(200)
  const [second] = await eventually(
    () => ask(1),
    ([one]) => one.id !== first.id,
  )
  expect([second.tool_name, second.why]).toEqual([
    'growth_add_learning',
    ['untrusted: webhook Orders'],
  ])
  expect((await surface.send('POST', `approvals/${second.id}/reject`, {}, owner)).status).toBe(200)
  expect((await overJob(app, root)).status).toBe('completed')
  const rows = await app.owner`select origin, taint from agent_job where root_id = ${root}`
  expect(rows.map((row) => ({ ...row }))).toEqual(
    Array(2).fill({ origin: 'automatic', taint: ['webhook Orders'] }),
  )
  expect(
    await app.owner`select 1 from learning where tenant_id = ${surface.tenantId}`,
  ).toHaveLength(0)
  expect(await brokenInvariants(app.owner)).toEqual([])
})

describe('a tree', () => {
  test('that waits holds no slot, and the conversation takes the next message', async () => {
    const story = await newAgentStory(app)
    const { id, goOn } = await waitingChild(story, [[delegate('slow')]])
    const parent = await jobOf(app, id)
    expect(parent.status).toBe('waiting_child')
    const [work] =
      await app.owner`select state, run_at > now() + interval '23 hours' as late from work
        where ref_id = ${id}`
    expect({ ...work }).toEqual({ state: 'queued', late: true })
    const path = `/api/v1/agent/conversations/${parent.conversation_id}/messages`
    const { body } = await app.send('POST', path, {
      key: story.key,
      body: { content: planText([]) },
    })
    expect((await overJob(app, body.job.id)).status).toBe('completed')
    goOn()
    expect((await overJob(app, id)).status).toBe('completed')
  })

  test('is cancelled from its root in one commit', async () => {
    const story = await newAgentStory(app)
    const { id, goOn } = await waitingChild(story, [[delegate([[delegate('slow')]])]])
    expect((await cancel(story, id)).status).toBe('cancelled')
    goOn()
    const jobs = await app.owner`select status, ended_at from agent_job where root_id = ${id}`
    expect([
      jobs.length,
      new Set(jobs.map(({ status }) => status)),
      new Set(jobs.map(({ ended_at }) => +ended_at)).size,
    ]).toEqual([...[3, new Set(['cancelled']), 1]])
    const left = () =>
      app.owner`select 1 from work where tenant_id = ${story.tenantId} and kind = 'agent'`
    expect(await eventually(left, ({ length }) => length === 0)).toHaveLength(0)
    expect(await brokenInvariants(app.owner)).toEqual([])
  })

  test('whose child alone is cancelled goes on', async () => {
    const story = await newAgentStory(app)
    const { id, goOn } = await waitingChild(story, [[delegate('slow')]])
    const [child] = await childrenOf(id)
    await cancel(story, child!.id)
    goOn()
    expect((await overJob(app, id)).status).toBe('completed')
    expect(await results(id)).toEqual(['the sub-agent was cancelled'])
    expect(await brokenInvariants(app.owner)).toEqual([])
  })

  test('waits for a child no longer than a day, and then calls it off with all that it asks', async () => {
    const story = await askingStory()
    const id = await ask(app, story, [[delegate([[delegate([[learn('late')]])]])]])
    const statuses = async () =>
      (await app.owner`select status from agent_job where root_id = ${id} order by depth`).map(
        ({ status }) => status,
      )
    await eventually(
      statuses,
      (all) => all.join() === 'waiting_child,waiting_child,waiting_approval',
    )
    await app.owner`update agent_step set started_at = started_at - interval '25 hours'
      where job_id = ${id} and state = 'waiting'`
    await wake(story, id)
    await overJob(app, id)
    expect(await statuses()).toEqual(['completed', 'cancelled', 'cancelled'])
    expect((await results(id))[0]).toContain('did not end within 24 hours')
    const [approval] = await app.owner`select status, decided_how from agent_approval
        where tenant_id = ${story.tenantId}`
    expect({ ...approval }).toEqual({ status: 'rejected', decided_how: 'cancel' })
    expect(await brokenInvariants(app.owner)).toEqual([])
  })

  test('whose caller has gone ends with all its jobs', async () => {
    const story = await newAgentStory(app)
    const { id, goOn } = await waitingChild(story, [[delegate([[delegate('slow')]])]])
    await app.owner`update api_key set revoked_at = now() where id = ${story.by.id}`
    goOn()
    await wake(story, id)
    await overJob(app, id)
    const open = () => app.owner`select 1 from agent_job where root_id = ${id} and ended_at is null`
    expect(await eventually(open, ({ length }) => length === 0)).toHaveLength(0)
    expect(await brokenInvariants(app.owner)).toEqual([])
  })
})
