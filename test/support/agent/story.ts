/** A workspace whose agent is given tasks, on a server that may die. */
import type postgres from 'postgres'
import type { OnBehalf } from '#domain/agent/job/job'
import { newId } from '#kernel/ids'
import type { TestApp } from '../app.ts'
import { turn } from './agent.ts'
import { OUTSIDE } from './outside-tool.ts'
import { type Plan, planText } from './plan.ts'

export interface AgentStory {
  tenantId: string
  by: OnBehalf
  /** Key of the workspace. */
  key: string
}

/** A new workspace with a key, in which the outside tool may be called unasked. */
export const newAgentStory = async (app: TestApp): Promise<AgentStory> => {
  const { tenantId } = await app.newWorkspace()
  const { id, api_key: key } = await app.newKey(
    ['api:read', 'api:write', 'workspace:use'],
    tenantId,
  )
  await allowOutside(app.owner, tenantId)
  return { tenantId, key, by: { kind: 'key', id, personId: null } }
}

export const allowOutside = async (owner: postgres.Sql, tenantId: string): Promise<void> => {
  await owner`insert into agent_tool_rule (id, tenant_id, tool_name, decision,
    set_by, created_at, updated_at)
    values (${newId()}, ${tenantId}, ${OUTSIDE}, 'allow', ${newId()}, now(), now())`
}

/** Sends a planned message. Returns the id of the job. */
export const ask = (
  app: TestApp,
  { tenantId, by }: Pick<AgentStory, 'tenantId' | 'by'>,
  plan: Plan,
  origin: 'manual' | 'automatic' = 'manual',
): Promise<string> => turn(app, { content: planText(plan), by, tenantId, origin })

/** The notes of a workspace's learnings, in order. */
export const learned = async (
  { owner }: Pick<TestApp, 'owner'>,
  { tenantId }: Pick<AgentStory, 'tenantId'>,
): Promise<string[]> =>
  (
    await owner<
      { note: string }[]
    >`select note from learning where tenant_id = ${tenantId} order by note`
  ).map(({ note }) => note)

/** How the job ended, and its steps, such as `growth_add_learning done`. */
export const endOf = async ({ owner }: Pick<TestApp, 'owner'>, id: string) => {
  const [job] = await owner<
    { status: string; error: string | null }[]
  >`select status, error from agent_job where id = ${id}`
  const steps = await owner<
    { name: string; state: string }[]
  >`select case kind when 'model' then 'model' else name end as name, state
    from agent_step where job_id = ${id} order by number`
  return { ...job!, steps: steps.map(({ name, state }) => `${name} ${state}`) }
}

/** Two commands and a read in one answer, then a call outside. */
export const notesAndOutside = ({ tenantId }: Pick<AgentStory, 'tenantId'>): Plan => [
  [
    ['growth_add_learning', { kind: 'worked', note: `first ${tenantId}` }],
    ['growth_add_learning', { kind: 'worked', note: `second ${tenantId}` }],
    ['growth_list_learnings', {}],
  ],
  [[OUTSIDE, { text: tenantId }]],
]
