/**
 * A tool that always fails ends its own step and nobody else's, whatever it fails by: the rest of
 * its job and of its workspace goes on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ToolBox } from '#decisions/agent/toolbox'
import type { OnBehalf } from '#domain/agent/job/job'
import { newId } from '#kernel/ids'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { type BadToolName, badTools, withBadTools } from '#test/support/agent/bad-tools'
import { brokenInvariants } from '#test/support/agent/invariants'
import { changed } from '#test/support/agent/outside-tool'
import { type Plan, plannedModel } from '#test/support/agent/plan'
import { ask } from '#test/support/agent/story'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { makeItemDue, wakeActor } from '#test/support/database/writes'
import { crash, newStory, type Story } from '#test/support/growth/story'

/** A story with a key that may use the agent. */
const newUser = async (app: TestApp): Promise<{ story: Story; by: OnBehalf }> => {
  const story = await newStory(app)
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'], story.tenantId)
  await app.owner`insert into agent_tool_rule (id, tenant_id, tool_name, decision,
    set_by, created_at, updated_at)
    values (${newId()}, ${story.tenantId}, 'outside_never_ends', 'allow', ${newId()}, now(), now())`
  return { story, by: { kind: 'key', id, personId: null } }
}

const note = (text: string): Plan[number][number] => [
  'growth_add_learning',
  { kind: 'worked', note: text },
]

interface StepEnd {
  name: string
  state: string
  error: string | null
}

const stepsOf = async ({ owner }: TestApp, id: string): Promise<StepEnd[]> =>
  (
    await owner<
      StepEnd[]
    >`select name, state, error from agent_step where job_id = ${id} and kind = 'tool'
      order by number`
  ).map((row) => ({
    ...row,
  }))

/** How often in a row the work of the job has failed, as its row counts. */
const failuresOf = async ({ owner }: TestApp, job: string): Promise<number[]> =>
  (
    await owner<{ failures: number }[]>`select failures from work where ref_id = ${job} order by id`
  ).map((row) => row.failures)

const IN_VAIN = 'tool_failed: it failed three times'
const LATE = 'tool_failed: it did not answer within 1.5 seconds'

/** How its step ends. */
const ends: Record<BadToolName, { state?: string; error: string | null }> = {
  throws: { error: IN_VAIN },
  is_slow_in_the_database: { error: IN_VAIN },
  cannot_be_written: { error: IN_VAIN },
  read_throws: { error: 'tool_failed: the tool could not be run' },
  read_never_ends: { error: LATE },
  read_cannot_be_shown: { error: 'tool_failed: it was called, and its result could not be read' },
  reach_never_ends: { error: LATE },
  reach_throws_in_the_letter: { error: IN_VAIN },
  reach_is_slow_in_the_database: { error: IN_VAIN },
  cannot_be_asked: { error: IN_VAIN },
  outside_never_ends: { state: 'unknown', error: null },
}

describe('of a tool that always fails', () => {
  const world = new AsyncDisposableStack()
  const found = new Map<
    string,
    { story: Story; bad: string; other: string; post: string; commands: number[] }
  >()
  let app: TestApp

  /**
   * A job that calls it between two notes; and all else that goes on in its workspace meanwhile.
   */
  const begin = async (name: BadToolName) => {
    const { story, by } = await newUser(app)
    const post = await story.scheduled(3_600_000)
    const bad = await ask(app, { tenantId: story.tenantId, by }, [
      [note('before'), [name, {}], note('after')],
      [note('later')],
    ])
    await eventually(
      () => called.has(name),
      (isCalled) => isCalled,
    )
    await makeItemDue(app, post)
    await wakeActor(app, story.tenantId)
    const other = await ask(app, { tenantId: story.tenantId, by }, [
      [note('other'), ['growth_list_learnings', {}]],
    ])
    const commands: number[] = []
    for (let n = 0; n < 5; n++)
      commands.push(
        (await story.send('POST', 'learnings', { body: { kind: 'worked', note: `command ${n}` } }))
          .status,
      )
    found.set(name, { story, bad, other, post, commands })
  }
  /** Each in one workspace. */
  const called = new Set<string>()

  beforeAll(async () => {
    const tools = withBadTools((name) => called.add(name))
    app = world.use(
      await testApp({ overrides: { thinker: plannedModel(), tools, toolMs: 1_500, sweepMs: 20 } }),
    )
    await Promise.all((Object.keys(badTools) as BadToolName[]).map(begin))
  })
  afterAll(() => world.disposeAsync())

  test.each(Object.entries(ends))(
    '%s: its step fails, and nothing else',
    async (name, { state = 'failed', error }) => {
      const { story, bad, other, post, commands } = found.get(name)!
      expect(await overJob(app, bad)).toMatchObject({ status: 'completed' })
      expect(await stepsOf(app, bad)).toEqual([
        { name: 'growth_add_learning', state: 'done', error: null },
        { name, state, error },
        { name: 'growth_add_learning', state: 'done', error: null },
        { name: 'growth_add_learning', state: 'done', error: null },
      ])
      expect(await overJob(app, other)).toMatchObject({ status: 'completed' })
      expect((await stepsOf(app, other)).map((step) => step.state)).toEqual(['done', 'done'])
      expect((await story.settled(post, 'posted')).status).toBe('posted')
      expect(commands).toEqual([201, 201, 201, 201, 201])
      const notes = await app.owner<
        { note: string }[]
      >`select note from learning where tenant_id = ${story.tenantId} order by note`
      const expected = [
        'after',
        'before',
        ...[0, 1, 2, 3, 4].map((n) => `command ${n}`),
        'later',
        'other',
      ]
      expect(notes.map((row) => row.note)).toEqual(expected)
    },
  )

  test('and nothing is left open, or told twice', async () => {
    await Promise.all(
      [...found.values()].flatMap(({ bad, other }) => [overJob(app, bad), overJob(app, other)]),
    )
    expect(await brokenInvariants(app.owner)).toEqual([])
  })
})

test('failures of a command are counted through a restart: the third is the last', async () => {
  await using db = await freshDb()
  const stops = testStops()
  /** By each of the two processes. */
  const calls: number[] = []
  const start = () => {
    const nth = calls.push(0) - 1
    const tools = (usual: ToolBox): ToolBox => {
      const box = withBadTools(() => calls[nth]!++)(usual)
      return changed(box, {
        async decide(...given) {
          await stops.at('test.calling')
          return box.decide(...given)
        },
      })
    }
    return testApp({
      database: db.options,
      overrides: { thinker: plannedModel(), tools, sweepMs: 20 },
    })
  }
  const first = await start()
  const { story, by } = await newUser(first)
  // Before the third call.
  const stopped = stops.stopNext('test.calling', 3)
  const id = await ask(first, { tenantId: story.tenantId, by }, [[['throws', {}]]])
  const goOn = await stopped
  expect([await failuresOf(first, id), [...calls]]).toEqual([[2], [2]])
  await crash(first)
  await using next = await start()
  await overJob(next, id)
  expect(await stepsOf(next, id)).toEqual([{ name: 'throws', state: 'failed', error: IN_VAIN }])
  expect(calls).toEqual([2, 1])
  goOn()
  await first[Symbol.asyncDispose]()
})

test("a tool's statements have a second, and the rest of its letter has the session's own limit", async () => {
  await using app = await testApp({ overrides: { thinker: plannedModel(), tools: withBadTools() } })
  const { story, by } = await newUser(app)
  const id = await ask(app, { tenantId: story.tenantId, by }, [[['tells_its_limit', {}]]])
  expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  const [step] = await app.owner<
    { result: { text: string } }[]
  >`select result from agent_step where job_id = ${id} and kind = 'tool'`
  expect(step?.result.text).toContain('1s')
  const [rest] = await app.owner<
    { period: string }[]
  >`select period from counter where tenant_id = ${story.tenantId} and key = 'limit'`
  expect(rest?.period).toBe('4s')
})
