/**
 * A week of an agent that works by itself, by the database's clock, with processes that die in
 * between: each thing happens exactly once.
 */
import { afterAll, expect, test } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { createComposer } from '#port/model/composer/composer'
import { testStops } from '#test/support/actors/stops'
import { overJob, waitingJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { type Plan, plannedAnswer, planText } from '#test/support/agent/plan'
import { runsOf } from '#test/support/agent/schedules'
import { post } from '#test/support/agent/webhook-rules'
import { eventually, type Reply, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { crash } from '#test/support/growth/story'
import { inlineWorker } from '#test/support/model/inline-worker'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { tokenOf } from '#test/support/session'

const world = new AsyncDisposableStack()
afterAll(() => world.disposeAsync())
const stops = testStops()
/**
 * Follows the plan of its message. What a plan calls `item:new` is the record that the job was
 * shown last.
 */
const model = scriptedModel((asked, answers) => {
  const said = asked.messages.findLast(({ role }) => role === 'user')
  const newest =
    resultsIn(asked)
      .join()
      .match(/item:\d+/g)
      ?.at(-1) ?? 'item:0'
  const answer = JSON.stringify(plannedAnswer(said!.role === 'user' ? said!.text : '', answers))
  return JSON.parse(answer.replaceAll('item:new', newest))
})

/** Drafts a post, and asks for its approval. */
const MONDAY: Plan = [
  [['growth_create_batch', { count: 1, focus: 'docks' }]],
  [['growth_approve_item', { id: 'item:new' }]],
]
const RESEARCH: Plan = [
  ['growth_list_learnings', 'growth_list_hooks'].map((name) => [
    'delegate',
    { goal: planText([[[name, {}]]]), tools: [name] },
  ]),
]
const PROPOSAL: Plan = [
  [
    [
      'propose_playbook_update',
      { slug: 'voice', content: 'Plain, short words.', rationale: 'shorter reads better' },
    ],
  ],
]

const week = async () => {
  const db = world.use(await steppedDb())
  const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' }
  const overrides = { failpoints: stops.at, thinker: model, drafter: createComposer(inlineWorker) }
  const start = async (): Promise<TestApp> =>
    world.use(await testApp({ database: db.options, overrides, env }))
  let app = await start()
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  // Where nobody may decide, nothing is asked; and an invitation does not last for the week.
  await tokenOf(app, tenantId, 'owner')
  return {
    tenantId,
    key,
    app: () => app,
    clock: (time: string) => db.clock.set(new Date(time)),
    /** Dies where it has stopped, and another process goes on. */
    async die(stopped: Promise<() => void>) {
      const goOn = await stopped
      await crash(app)
      app = await start()
      goOn()
    },
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    send: (method: string, path: string, body?: object, by = key): Promise<Reply<any>> =>
      app.send(method, `/api/v1/${path}`, { key: by, ...(body ? { body } : {}) }),
    /** A person of today: sessions last for a day. */
    person: () => tokenOf(app, tenantId, 'owner'),
  }
}
type Week = Awaited<ReturnType<typeof week>>

const waiting = ({ app }: Week, id: string) => waitingJob(app(), id)

const run = async (at: Week, id: string, nth: number): Promise<string> =>
  (
    await eventually(
      () => runsOf({ app: at.app() }, id),
      ({ length }) => length === nth,
    )
  )[nth - 1]!.id

const approved = async (at: Week, job: string): Promise<void> => {
  await waiting(at, job)
  const { body } = await at.send('GET', 'agent/approvals?status=pending')
  const { id } = body.approvals.find(({ job_id }: { job_id: string }) => job_id === job)
  expect(
    (await at.send('POST', `agent/approvals/${id}/approve`, {}, await at.person())).status,
  ).toBe(200)
  expect(await overJob(at.app(), job)).toMatchObject({ status: 'completed' })
}

const turn = async (at: Week, content: string): Promise<string> =>
  (await at.send('POST', 'agent/messages', { content })).body.job.id

const count = async ({ app, tenantId }: Week, table: string, where = 'true'): Promise<number> =>
  (
    await app().owner.unsafe(
      `select count(*)::int as n from ${table} where tenant_id = '${tenantId}' and ${where}`,
    )
  )[0]!.n

test('each thing of a week happens once', async () => {
  const at = await week()
  await at.clock('2027-01-10T20:00:00Z')
  const scheduled = await eventually(
    () => at.send('POST', 'actions/schedule_task', { goal: planText(MONDAY), cron: '0 9 * * 1' }),
    ({ status }) => status === 200,
  )
  const schedule = scheduled.body.result.id
  expect(
    (
      await at.send('POST', 'actions/remember', {
        text: 'Dock posts go out on Thursdays',
        scope: 'workspace',
      })
    ).status,
  ).toBe(200)
  expect(
    (
      await at.send('POST', 'agent/playbooks', {
        slug: 'voice',
        name: 'Voice',
        content: 'Plain words.',
      })
    ).status,
  ).toBe(201)

  // Monday: the schedule drafts and asks, though its process dies.
  const firing = stops.stopNext('agent.executing')
  await at.clock('2027-01-11T09:00:05Z')
  await at.die(firing)
  await approved(at, await run(at, schedule, 1))
  expect(await count(at, 'item', "status = 'approved'")).toBe(1)

  // Tuesday: fifty posts of one id are one job.
  await at.clock('2027-01-12T10:00:00Z')
  const made = await eventually(
    () => at.send('POST', 'actions/create_webhook_rule', { name: 'Orders', goal: '[]' }),
    ({ status }) => status === 200,
  )
  const rule = made.body.result
  const order = { id: 'order-1', at: new Date('2027-01-12T10:00:00Z') }
  const told = async () =>
    (await Promise.all(Array.from({ length: 50 }, () => post(at.app().url, rule, order)))).map(
      ({ status }) => status,
    )
  // A process learns the time of the database now and then.
  await eventually(told, (statuses) => statuses.every((status) => status === 200))
  await eventually(
    () => count(at, 'agent_job', "kind = 'webhook' and status = 'completed'"),
    (jobs) => jobs === 1,
  )

  // Wednesday: two sub-agents look things up, and the process dies beneath the first.
  await at.clock('2027-01-13T10:00:00Z')
  const beneath = stops.stopNext('agent.claimed', 2)
  const research = await turn(at, planText(RESEARCH))
  await at.die(beneath)
  expect(await overJob(at.app(), research)).toMatchObject({ status: 'completed' })

  // Thursday: what was remembered on Sunday is at hand.
  await at.clock('2027-01-14T10:00:00Z')
  const before = model.turns.length
  await overJob(
    at.app(),
    await turn(at, planText([[['search_memories', { query: 'dock posts' }]]])),
  )
  expect(JSON.stringify(model.turns.slice(before))).toContain('Dock posts go out on Thursdays')

  // Friday: a text is proposed, compared on its page, and activated by a person only.
  await at.clock('2027-01-15T10:00:00Z')
  const proposing = stops.stopNext('agent.executing')
  const proposal = await turn(at, planText(PROPOSAL))
  await at.die(proposing)
  await overJob(at.app(), proposal)
  const [{ id }] = (await at.send('GET', 'agent/playbooks')).body.playbooks
  const { versions } = (await at.send('GET', `agent/playbooks/${id}`)).body
  const draft = versions.find(({ state }: { state: string }) => state === 'draft')
  const activate = (by?: string) =>
    at.send('POST', `agent/playbooks/${id}/versions/${draft.id}/activate`, undefined, by)
  expect((await activate()).status).toBe(403)
  expect((await activate(await at.person())).status).toBe(200)

  // The next Monday.
  await at.clock('2027-01-18T09:00:05Z')
  await approved(at, await run(at, schedule, 2))

  expect({
    runs: await count(at, 'agent_job', "kind = 'scheduled'"),
    drafts: await count(at, 'item'),
    approved: await count(at, 'item', "status = 'approved'"),
    orders: await count(at, 'agent_job', "kind = 'webhook'"),
    subAgents: await count(at, 'agent_job', "kind = 'delegate' and status = 'completed'"),
    memories: await count(at, 'agent_memory'),
    versions: await count(at, 'playbook_version', "state in ('active', 'retired')"),
    posts: await count(at, 'attempt'),
  }).toEqual({
    runs: 2,
    drafts: 2,
    approved: 2,
    orders: 1,
    subAgents: 2,
    memories: 1,
    versions: 2,
    posts: 0,
  })
  // Events of days ago have been swept, whether they were told or not.
  const broken = await brokenInvariants(at.app().owner)
  expect(broken.filter((line) => !/not told once: .* 0 times$/.test(line))).toEqual([])
})
