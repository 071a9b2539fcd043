/** A server with an agent, the provider of its model, and workspaces to talk to it. */
import type { Plan } from '../../support/agent/plan.ts'
import { planText } from '../../support/agent/plan.ts'
import { post } from '../requests.ts'
import { type Running, sendOnce, startProcess } from '../spawn.ts'
import { addTenants, startServer, type Tenant, type World } from '../world.ts'

/** Jobs that work at once, each in a workspace of its own. */
export const AT_ONCE = 16
/** What the model `timed` takes for an answer. */
export const MODEL_MS = 200

export interface Stage extends AsyncDisposable {
  world: World
  model: Running
  server: Running
  tenants: Tenant[]
}

/**
 * Both models of a server are the provider's: `fast` answers at once, `reasoning` after MODEL_MS.
 */
export const startAgentServer = (world: World, model: Running): Promise<Running> =>
  startServer(world, {
    OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1`,
    MODEL_FAST: 'at-once',
    MODEL_REASONING: 'timed',
  })

export const openStage = async (world: World): Promise<Stage> => {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(
    await startProcess([process.execPath, 'test/bench/agent/model.ts'], {
      MODEL_MS: String(MODEL_MS),
    }),
  )
  const tenants = await addAgentTenants(world, AT_ONCE)
  const server = stack.use(await startAgentServer(world, model))
  const owned = stack.move()
  return { world, model, server, tenants, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/**
 * Workspaces whose agent may call a tool as often as it likes, as their callers may send as many
 * requests as they like.
 */
export const addAgentTenants = async ({ owner }: World, count: number): Promise<Tenant[]> => {
  const tenants = await addTenants(owner, count)
  const ids = tenants.map(({ id }) => id)
  await owner`update tenant set overrides = '{"agent_calls_hour": -1}'
    where id = any(${ids}::uuid[])`
  return tenants
}

/** What a job is asked to do, and by whom. */
export interface Wanted {
  tenant: Tenant
  plan: Plan
}

const LONGEST_S = 300

const messageOf = ({ tenant, plan }: Wanted): string => {
  const toolNames = [...new Set(plan.flatMap((calls) => calls.map(([name]) => name)))]
  return post('/api/v1/agent/messages', tenant, {
    content: planText(plan),
    model: 'fast',
    toolNames,
  })
}

/** Starts all jobs, each in a conversation of its own; resolves once they have been admitted. */
export const startJobs = async ({ port }: Running, all: Wanted[]): Promise<void> => {
  await sendOnce(port, AT_ONCE, all.map(messageOf))
}

const LOOK_EVERY_MS = 10

/**
 * Resolves when no job of these workspaces is queued or running. The look is cheap, however many
 * wait for a person.
 */
export const untilAtRest = async ({ owner }: World, tenants: Tenant[]): Promise<void> => {
  const ids = tenants.map(({ id }) => id)
  const until = performance.now() + LONGEST_S * 1_000
  const working = () => owner`select 1 from agent_job
    where tenant_id = any(${ids}::uuid[]) and status in ('queued', 'running') and ended_at is null
      limit 1`
  while ((await working()).length > 0) {
    if (performance.now() > until)
      throw new Error(`jobs did not come to rest within ${LONGEST_S} s`)
    await Bun.sleep(LOOK_EVERY_MS)
  }
}
