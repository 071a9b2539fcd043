/**
 * A process dies at each point of a job's way. What the job did inside the workspace happened once,
 * what it sent outside went out once at most, the job ends, and nothing of it is left open.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { OUTSIDE, stoppableJobs } from '#test/support/agent/outside-tool'
import {
  type AgentStory,
  ask,
  endOf,
  learned,
  newAgentStory,
  notesAndOutside,
} from '#test/support/agent/story'
import { useSuccession } from '#test/support/agent/succession'

interface Point {
  name: string
  /**
   * Failpoints to pass one after the other, each for the nth time; at the last one the process
   * dies.
   */
  at: [failpoint: string, nth?: number][]
  /**
   * Calls of the model that died on the way, if that is certain: commands may share the commit of
   * the answer that called them.
   */
  lost?: number
  /** What is known of the tool outside, and how often it was called. */
  outside?: 'done' | 'unknown'
  sent?: 0 | 1
}

const BEFORE_TURN = 'letter.deciding:test.turn'

/** The claims that run something: model, reads, model, tool outside, model. */
const OUTSIDE_CLAIM = 4

const points: Point[] = [
  {
    name: 'A2, when the call of the model is reserved and not made',
    at: [['agent.claimed']],
    lost: 1,
  },
  { name: 'A3, when the model has been asked', at: [['test.asked']], lost: 1 },
  { name: 'A4, when the model has answered', at: [['agent.thought']], lost: 1 },
  { name: 'A4, when reads have begun', at: [['agent.claimed', 2]], lost: 0 },
  {
    name: 'A9, when the call outside is written down and not made',
    at: [['agent.claimed', OUTSIDE_CLAIM]],
    outside: 'unknown',
    lost: 0,
    sent: 0,
  },
  {
    name: 'A10, when the call outside was made and its answer is unread',
    at: [['test.sent']],
    outside: 'unknown',
    lost: 0,
  },
  {
    name: 'A11, when the answer from outside is read and not settled',
    at: [['agent.outside.read']],
    outside: 'unknown',
    lost: 0,
  },
]

/**
 * Each stops inside a transaction, which the database soon cancels: a process of its own dies
 * there.
 */
const within: Point[] = [
  { name: 'A0, before the turn is committed', at: [[BEFORE_TURN]] },
  {
    name: 'A4, when the answer of the model is about to be settled',
    at: [['letter.deciding:agent.settle']],
    lost: 1,
  },
  { name: 'A6, between two commands', at: [['agent.executing', 2]] },
  { name: 'A7, in the letter of a command', at: [['agent.executing']] },
  {
    name: 'A7, when a command is decided and not committed',
    at: [['agent.executing', 2], ['letter.deciding:claim']],
  },
]

const stepsWith = (outside: string): string[] => [
  ...[
    'model done',
    'growth_add_learning done',
    'growth_add_learning done',
    'growth_list_learnings done',
  ],
  ...['model done', `${OUTSIDE} ${outside}`, 'model done'],
]

interface Begun {
  story: AgentStory
  id: string | undefined
  goOn(): void
}

describe('a process that dies', () => {
  const found = new Map<string, Begun>()
  const { stops, sent, overrides } = stoppableJobs()
  const processes = useSuccession({ overrides })
  /** Brings a job to its point. */
  const begin = async ({ at }: Point): Promise<Begun> => {
    const story = await newAgentStory(processes.running)
    let stopped = stops.stopNext(...at[0]!)
    const asked = ask(processes.running, story, notesAndOutside(story)).catch(() => undefined)
    for (const following of at.slice(1)) {
      const goOn = await stopped
      stopped = stops.stopNext(...following)
      goOn()
    }
    const goOn = await stopped
    return { story, id: at[0]![0] === BEFORE_TURN ? undefined : await asked, goOn }
  }
  beforeAll(async () => {
    await recordReservations(processes.running.owner)
    for (const point of points) found.set(point.name, await begin(point))
    await processes.die()
    for (const { id } of found.values()) await overJob(processes.running, id!)
  })

  const checkEnd = async (
    { lost, outside = 'done', sent: times = 1 }: Point,
    { story, id: before, goOn }: Begun,
  ) => {
    const id = before ?? (await ask(processes.running, story, notesAndOutside(story)))
    const job = await overJob(processes.running, id)
    const check = async () => {
      expect(await endOf(processes.running, id)).toEqual({
        status: 'completed',
        error: null,
        steps: stepsWith(outside),
      })
      expect(await learned(processes.running, story)).toEqual([
        `first ${story.tenantId}`,
        `second ${story.tenantId}`,
      ])
      expect(sent.filter((text) => text === story.tenantId)).toHaveLength(times)
    }
    await check()
    expect(lost === undefined ? [3, 4] : [3 + lost]).toContain(job.model_calls)
    // If the process was only stopped it goes on now, and changes nothing.
    goOn()
    const another = await ask(processes.running, story, [])
    expect(await overJob(processes.running, another)).toMatchObject({
      status: 'completed',
      model_calls: 1,
    })
    await check()
  }

  test.each(points)('$name', (point) => checkEnd(point, found.get(point.name)!))

  test.each(within)('$name', async (point) => {
    const begun = await begin(point)
    await processes.die()
    const jobs = await processes.running.owner`select 1 from agent_job
      where tenant_id = ${begun.story.tenantId}`
    expect(jobs).toHaveLength(begun.id === undefined ? 0 : 1)
    await checkEnd(point, begun)
  })

  test('and nothing is left open, counted twice or told twice', async () => {
    expect(await brokenInvariants(processes.running.owner, { ledger: true })).toEqual([])
  })
})
