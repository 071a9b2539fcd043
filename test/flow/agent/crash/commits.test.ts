/**
 * A commit of a job is written and its news is lost: what it did stands once, and the job goes on
 * from there.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { plannedModel } from '#test/support/agent/plan'
import {
  type AgentStory,
  ask,
  endOf,
  learned,
  newAgentStory,
  notesAndOutside,
} from '#test/support/agent/story'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { openWire } from '#test/support/database/lost-commit'

/**
 * Where the letter is held, or the lane before it, until the connection is ready to lose its
 * commit.
 */
const commits: [name: string, failpoint: string, nth: number, outside: 'done' | 'unknown'][] = [
  ['A1, of the turn', 'letter.deciding:test.turn', 1, 'done'],
  ['A2, of the reservation of a call of the model', 'agent.beginning', 1, 'done'],
  [
    'A5, of the settled answer of the model, and of what is claimed with it',
    'agent.thought',
    1,
    'done',
  ],
  ['A8, of a command', 'agent.executing', 2, 'done'],
  ['A8, of reads', 'agent.claimed', 2, 'done'],
  ['A9, of the intent of the call outside', 'agent.beginning', 4, 'unknown'],
  ['A11, of the answer from outside', 'agent.outside.read', 1, 'done'],
  ['A11, of the end', 'agent.thought', 3, 'done'],
]

describe('the answer to a commit is lost', () => {
  const world = new AsyncDisposableStack()
  const stops = testStops()
  const sent: string[] = []
  const found = new Map<string, { story: AgentStory; id: string }>()
  let app: TestApp

  const jobIn = async ({ tenantId }: AgentStory): Promise<string | undefined> =>
    (await app.owner<{ id: string }[]>`select id from agent_job where tenant_id = ${tenantId}`)[0]
      ?.id

  beforeAll(async () => {
    const db = world.use(await freshDb())
    const wire = world.use(await openWire(db.options))
    const overrides = {
      failpoints: stops.at,
      thinker: plannedModel(),
      tools: withOutside(async (text) => void sent.push(text)),
    }
    app = world.use(await testApp({ database: wire.options, overrides }))
    await recordReservations(app.owner)
    for (const [name, failpoint, nth] of commits) {
      const story = await newAgentStory(app)
      const stopped = stops.stopNext(failpoint, nth)
      const asked = ask(app, story, notesAndOutside(story))
      const goOn = await stopped
      const lost = wire.loseCommitOf((await jobIn(story)) ?? story.tenantId)
      goOn()
      await lost
      await asked.catch(() => {})
      const id = (await jobIn(story))!
      found.set(name, { story, id })
      // The stops count the passes of one job.
      await overJob(app, id)
    }
  })
  afterAll(() => world.disposeAsync())

  test.each(commits)('%s', async (name, _failpoint, _nth, outside) => {
    const { story, id } = found.get(name)!
    const { steps, ...end } = await endOf(app, id)
    expect(end).toEqual({ status: 'completed', error: null })
    expect(steps.filter((step) => !step.startsWith('model'))).toEqual([
      ...[
        'growth_add_learning done',
        'growth_add_learning done',
        'growth_list_learnings done',
        `${OUTSIDE} ${outside}`,
      ],
    ])
    expect(await learned(app, story)).toEqual([
      `first ${story.tenantId}`,
      `second ${story.tenantId}`,
    ])
    expect(sent.filter((text) => text === story.tenantId)).toHaveLength(outside === 'done' ? 1 : 0)
  })

  test('and nothing is left open, counted twice or told twice', async () => {
    expect(await brokenInvariants(app.owner, { ledger: true })).toEqual([])
  })
})
