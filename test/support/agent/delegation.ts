/** Agents that delegate parts of their jobs to others, and what a test looks at in the tree. */
import { newWork } from '#decisions/work'
import type { Stops } from '../actors/stops.ts'
import type { TestApp } from '../app.ts'
import { resultsIn, type ScriptedModel, scriptedModel } from '../model/scripted-model.ts'
import { stepsIn } from './agent.ts'
import { type Plan, plannedAnswer, planText } from './plan.ts'
import { type AgentStory, ask, newAgentStory } from './story.ts'

/**
 * Follows the plan in its message, and then says what its last call returned. A message without a
 * plan is echoed.
 */
export const delegatingModel = (stops: Stops): ScriptedModel =>
  scriptedModel(async (turn, answers) => {
    const said = turn.messages.findLast(({ role }) => role === 'user')!.text
    await stops.at(said === 'slow' ? 'test.slow' : 'test.asked')
    if (!said.startsWith('['))
      return {
        text: said === 'long' ? 'x'.repeat(9_000) : said === 'nothing' ? '' : `I say ${said}`,
      }
    const planned = plannedAnswer(said, answers)
    return 'calls' in planned && turn.choice === 'auto'
      ? planned
      : { text: resultsIn(turn).at(-1) ?? 'nothing' }
  })

export const learn = (note: string): [string, Record<string, unknown>] => [
  'growth_add_learning',
  { kind: 'worked', note },
]
export const delegate = (
  goal: string | Plan,
  more: Record<string, unknown> = {},
): [string, Record<string, unknown>] => [
  'delegate',
  {
    goal: typeof goal === 'string' ? goal : planText(goal),
    tools: ['growth_add_learning', 'growth_list_learnings', 'delegate'],
    ...more,
  },
]

/** Looks into jobs of this app, and makes the jobs that a test starts with. */
export const delegations = (app: TestApp, stops: Stops) => {
  const childrenOf = async (id: string) =>
    await app.owner<
      { id: string; status: string; tools: string[]; depth: number }[]
    >`select id, status, tools, depth from agent_job
      where parent_id = ${id} order by id`

  const results = async (id: string) =>
    (await stepsIn(app, id)).flatMap(({ name, result }) =>
      name === 'delegate' ? [result!.text] : [],
    )

  /** Makes a job's row of work due. */
  const wake = ({ tenantId }: AgentStory, id: string) =>
    app.workplace.world.ask(tenantId, {
      name: 'test.wake',
      priority: 'interactive',
      provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
      async decide(_, { now }) {
        return {
          reply: undefined,
          effects: {
            work: [newWork('agent', { root: id, refId: id, origin: 'manual', runAt: now })],
          },
        }
      },
    })

  /** A workspace in which the agent must ask before it adds learnings. */
  const askingStory = async (): Promise<AgentStory> => {
    const story = await newAgentStory(app)
    await app.owner`insert into agent_tool_rule (id, tenant_id, tool_name, decision,
      set_by, created_at, updated_at)
      values (gen_random_uuid(), ${story.tenantId}, 'growth_add_learning', 'ask', gen_random_uuid(),
        now(), now())`
    return story
  }

  const waitingChild = async (story: AgentStory, plan: Plan) => {
    const stopped = stops.stopNext('test.slow')
    const id = await ask(app, story, plan)
    const goOn = await stopped
    return { id, goOn }
  }

  const get = async (story: AgentStory, path: string) =>
    (await app.send('GET', `/api/v1/agent/jobs/${path}`, { key: story.key })).body

  const cancel = async (story: AgentStory, id: string) =>
    (await app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })).body.job

  return { childrenOf, results, wake, askingStory, waitingChild, get, cancel }
}
