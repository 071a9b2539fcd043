/** What jobs that wait for a person cost: the steps of other jobs, and memory of the process. */
import { warmUp } from '../contest.ts'
import { type Figures, median, type Row } from '../figures.ts'
import { residentMiB } from '../meter.ts'
import { put } from '../requests.ts'
import { type Running, sendOnce } from '../spawn.ts'
import { addDrafts, type Tenant, type World } from '../world.ts'
import { addAgentTenants, type Stage, startAgentServer, startJobs, untilAtRest } from './stage.ts'
import { jobsOf, STEPS_OF_JOB } from './steps.ts'

export interface Sizes {
  workspaces: number
  /** Jobs that wait in each; a workspace has at most 200 open approvals. */
  each: number
  /** Jobs whose steps are measured, one after the other. */
  probes: number
}

/**
 * Milliseconds between two commands of the same answer: a claim, its letter and its commit. The
 * median of some jobs.
 */
const stepMs = async (
  world: World,
  server: Running,
  tenant: Tenant,
  probes: number,
): Promise<number> => {
  const [began] = await world.owner<{ at: Date }[]>`select clock_timestamp() as at`
  for (let probe = 0; probe < probes; probe++) {
    await startJobs(server, jobsOf(await addDrafts(world.owner, [tenant], STEPS_OF_JOB), [tenant]))
    await untilAtRest(world, [tenant])
  }
  const rows = await world.owner<{ ms: number }[]>`
    select extract(epoch from max(ended_at) - min(ended_at))::float8 * 1000 / (count(*) - 1) as ms
      from agent_step
    where tenant_id = ${tenant.id} and created_at >= ${began!.at} and kind = 'tool'
      and state = 'done' group by job_id, of_step`
  if (rows.length !== probes * 2)
    throw new Error(`${rows.length} answers of ${probes} jobs were carried out`)
  return median(rows.map(({ ms }) => ms))
}

/** At most. */
const WARM_UP_ROUNDS = 8

const compiled = ({ world, server, tenants }: Stage): Promise<void> => {
  const round = async () => {
    await startJobs(server, jobsOf(await addDrafts(world.owner, tenants, STEPS_OF_JOB), tenants))
    await untilAtRest(world, tenants)
  }
  return warmUp(server.pid, round, WARM_UP_ROUNDS)
}

/**
 * Ends the jobs that wait, as far as steps of other jobs can tell; or lets them wait again. The
 * rows stay as many.
 */
const setWaiting = async ({ owner }: World, tenants: Tenant[], waits: boolean): Promise<void> => {
  const ids = tenants.map(({ id }) => id)
  await owner`create schema if not exists peer`
  await owner`create table if not exists peer.work (like work)`
  await owner.begin(async (sql) => {
    const [from, to] = waits ? ['peer.work', 'work'] : ['work', 'peer.work']
    await sql`with moved as (delete from ${sql(from)} where kind = 'agent'
      and tenant_id = any(${ids}::uuid[]) returning *)
      insert into ${sql(to)} select * from moved`
    await sql`update agent_job set status = ${waits ? 'waiting_approval' : 'cancelled'},
      ended_at = ${waits ? null : new Date()}
      where tenant_id = any(${ids}::uuid[]) and status =
        ${waits ? 'cancelled' : 'waiting_approval'}`
    await sql`update agent_step set state = ${waits ? 'asked' : 'cancelled'}
      where tenant_id = any(${ids}::uuid[]) and state = ${waits ? 'cancelled' : 'asked'}`
    await sql`update agent_approval set status = ${waits ? 'pending' : 'rejected'},
      decided_at = ${waits ? null : new Date()}
      where tenant_id = any(${ids}::uuid[]) and status = ${waits ? 'rejected' : 'pending'}`
  })
}

/** Each asks for an approval of a draft of its own. */
const beginWaiting = async (
  { world, server }: Stage,
  tenants: Tenant[],
  each: number,
): Promise<void> => {
  const drafts = await addDrafts(world.owner, tenants, each)
  const jobs = drafts.map(({ id, tenant }) => ({
    tenant,
    plan: [[['growth_approve_item', { id }]]] as [[[string, { id: string }]]],
  }))
  await startJobs(server, jobs)
  await untilAtRest(world, tenants)
  const [waiting] = await world.owner<
    { count: number }[]
  >`select count(*)::int as count from agent_job where status = 'waiting_approval'`
  if (waiting?.count !== drafts.length)
    throw new Error(`${waiting?.count} of ${drafts.length} jobs wait`)
}

const STARTS = 3

/** Of a new process in which these workspaces are awake, in MiB. */
const memoryOf = async ({ world, model }: Stage, tenants: Tenant[]): Promise<number> => {
  const sizes: number[] = []
  for (let nth = 0; nth < STARTS; nth++) {
    await using server = await startAgentServer(world, model)
    const requests = tenants.map((tenant) =>
      put('/api/v1/growth/profile', tenant, { goal: 'More calls' }),
    )
    await sendOnce(server.port, 4, requests)
    sizes.push(residentMiB(server.pid) ?? Number.NaN)
    await server.stop()
  }
  return median(sizes)
}

const besides = (what: string, before: number, after: number): Row => ({
  what,
  figures: { ms: after },
  peers: [{ name: 'once they have ended', figures: { ms: before }, ratio: before / after }],
  goals: [{ of: 'ratio', atLeast: 0.9 }],
})

const BYTES_OF_MIB = 1_048_576

const memoryRow = (waiting: number, before: number, after: number): Row => {
  const figures: Figures = {
    mib: after,
    bytes: (Math.max(0, after - before) * BYTES_OF_MIB) / waiting,
  }
  return {
    what: `memory of a process with ${waiting.toLocaleString('en')} jobs that wait, and of each`,
    figures,
    peers: [{ name: 'without them', figures: { mib: before } }],
    goals: [{ of: 'bytes', atMost: 2_048 }],
  }
}

/**
 * Of another workspace and of one of these, each without a call within the last hour, as these are
 * counted at each call.
 */
const measured = async ({ world, server }: Stage, own: Tenant, probes: number) => {
  const [other, ahead] = await addAgentTenants(world, 2)
  await world.owner`checkpoint`
  await world.owner`vacuum analyze work, item, agent_job, agent_step, agent_event, agent_approval`
  // Statements are planned again once their tables have been analysed, on each connection.
  await stepMs(world, server, ahead!, probes)
  return {
    other: await stepMs(world, server, other!, probes),
    own: await stepMs(world, server, own, probes),
  }
}

const ROUNDS = 2

export const waiting = async (
  stage: Stage,
  { workspaces, each, probes }: Sizes,
): Promise<Row[]> => {
  const { world, server } = stage
  const tenants = await addAgentTenants(world, workspaces)
  const memoryBefore = await memoryOf(stage, tenants)
  await compiled(stage)
  await beginWaiting(stage, tenants, each)
  const [without, beside]: Record<'other' | 'own', number>[][] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    beside!.push(await measured(stage, tenants[2 * round]!, probes))
    await setWaiting(world, tenants, false)
    without!.push(await measured(stage, tenants[2 * round + 1]!, probes))
    await setWaiting(world, tenants, true)
  }
  // The workspaces must be the next process's.
  await server.stop()
  const all = (workspaces * each).toLocaleString('en')
  const middle = (of: typeof beside, whose: 'other' | 'own') => median(of!.map((one) => one[whose]))
  const rowOf = (what: string, whose: 'other' | 'own') =>
    besides(what, middle(without, whose), middle(beside, whose))
  return [
    rowOf(`a step of a job while ${all} jobs of other workspaces wait for approval`, 'other'),
    rowOf(
      `a step of a job while ${all} jobs wait for approval, ${each} of them in its own workspace`,
      'own',
    ),
    memoryRow(workspaces * each, memoryBefore, await memoryOf(stage, tenants)),
  ]
}
