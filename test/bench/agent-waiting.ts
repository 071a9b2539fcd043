/** What jobs that wait for a person cost: the steps of other jobs, and memory of the process. */
import { addAgentTenants, type Stage, startAgentServer, startJobs, untilAtRest } from './agent-stage.ts'
import { rejections, STEPS_OF_JOB } from './agent-steps.ts'
import { type Figures, median, type Row } from './figures.ts'
import { residentMiB } from './meter.ts'
import { put } from './requests.ts'
import { load, type Running } from './spawn.ts'
import { addDrafts, type Tenant, type World } from './world.ts'

export interface Sizes {
  workspaces: number
  /** Jobs that wait in each; a workspace has at most 200 open approvals. */
  each: number
  /** Jobs whose steps are measured, one after the other. */
  probes: number
}

/** Milliseconds between two commands of the same answer: a claim, its letter and its commit. The median of some jobs. */
const stepMs = async (world: World, server: Running, tenant: Tenant, probes: number): Promise<number> => {
  const [began] = await world.owner<{ at: Date }[]>`select clock_timestamp() as at`
  for (let probe = 0; probe < probes; probe++) {
    await startJobs(server, [{ tenant, plan: rejections(await addDrafts(world.owner, [tenant], STEPS_OF_JOB)) }])
    await untilAtRest(world)
  }
  const rows = await world.owner<{ ms: number }[]>`
    select extract(epoch from max(ended_at) - min(ended_at))::float8 * 1000 / (count(*) - 1) as ms from agent_step
    where tenant_id = ${tenant.id} and created_at >= ${began!.at} and kind = 'tool' and state = 'done' group by job_id, of_step`
  if (rows.length !== probes * 2) throw new Error(`${rows.length} answers of ${probes} jobs were carried out`)
  return median(rows.map(({ ms }) => ms))
}

/** Each asks for an approval of a draft of its own. */
const beginWaiting = async ({ world, server }: Stage, tenants: Tenant[], each: number): Promise<void> => {
  const drafts = await addDrafts(world.owner, tenants, each)
  const jobs = drafts.map(({ id, tenant }) => ({ tenant, plan: [[['growth_approve_item', { id }]]] as [[[string, { id: string }]]] }))
  await startJobs(server, jobs)
  await untilAtRest(world)
  const [waiting] = await world.owner<{ count: number }[]>`select count(*)::int as count from agent_job where status = 'waiting_approval'`
  if (waiting?.count !== drafts.length) throw new Error(`${waiting?.count} of ${drafts.length} jobs wait`)
}

const STARTS = 3

/** Of a new process in which these workspaces are awake, in MiB. */
const memoryOf = async ({ world, model }: Stage, tenants: Tenant[]): Promise<number> => {
  const sizes: number[] = []
  for (let nth = 0; nth < STARTS; nth++) {
    await using server = await startAgentServer(world, model)
    const requests = tenants.map((tenant) => put('/api/v1/growth/profile', tenant, { goal: 'More calls' }))
    await load({ port: server.port, callers: 4, seconds: 60, warmUpSeconds: 0, once: true, requests })
    sizes.push(residentMiB(server.pid) ?? Number.NaN)
    await server.stop()
  }
  return median(sizes)
}

const besides = (what: string, before: number, after: number): Row => ({
  what,
  figures: { ms: after },
  peers: [{ name: 'without them', figures: { ms: before }, ratio: before / after }],
  goals: [{ of: 'ratio', atLeast: 0.9 }],
})

const BYTES_OF_MIB = 1_048_576

const memoryRow = (waiting: number, before: number, after: number): Row => {
  const figures: Figures = { mib: after, bytes: (Math.max(0, after - before) * BYTES_OF_MIB) / waiting }
  return {
    what: `memory of a process with ${waiting.toLocaleString('en')} jobs that wait, and of each`,
    figures,
    peers: [{ name: 'without them', figures: { mib: before } }],
    goals: [{ of: 'bytes', atMost: 2_048 }],
  }
}

export const waiting = async (stage: Stage, { workspaces, each, probes }: Sizes): Promise<Row[]> => {
  const { world, server } = stage
  const tenants = await addAgentTenants(world, workspaces)
  const memoryBefore = await memoryOf(stage, tenants)
  // Each time in workspaces whose agents have called nothing within the last hour, as that is counted for each call.
  const fresh = [...tenants]
  const measured = async () => {
    const [other] = await addAgentTenants(world, 1)
    await world.owner`vacuum analyze work, item, agent_job, agent_step, agent_event, agent_approval`
    // Statements are planned again once their tables have been analysed, on each connection.
    await stepMs(world, server, (await addAgentTenants(world, 1))[0]!, probes)
    return { other: await stepMs(world, server, other!, probes), own: await stepMs(world, server, fresh.pop()!, probes) }
  }
  const before = await measured()
  await beginWaiting(stage, tenants, each)
  const after = await measured()
  const all = (workspaces * each).toLocaleString('en')
  return [
    besides(`a step of a job while ${all} jobs of other workspaces wait for approval`, before.other, after.other),
    besides(`a step of a job while ${all} jobs wait for approval, ${each} of them in its own workspace`, before.own, after.own),
    memoryRow(workspaces * each, memoryBefore, await memoryOf(stage, tenants)),
  ]
}
