/**
 * Commands that jobs of the agent run, compared with the same commands over the API, and with a
 * durable workflow for each job.
 */
import type { Plan } from '../../support/agent/plan.ts'
import { type Contestant, costOf, figuresOf, type Turn, takeTurns, warmUp } from '../contest.ts'
import { type Figures, median, type Peer, type Row } from '../figures.ts'
import type { Result } from '../load.ts'
import { PRODUCTION, peerCommand } from '../peers.ts'
import { post } from '../requests.ts'
import { type Running, sendOnce, startProcess } from '../spawn.ts'
import { addDrafts, type Tenant } from '../world.ts'
import { AT_ONCE, type Stage, startJobs, untilAtRest, type Wanted } from './stage.ts'
import { timed } from './talk.ts'

/** A job calls two times as many commands as fit into one answer of the model. */
const [ANSWERS, CALLS] = [2, 16]
export const STEPS_OF_JOB = ANSWERS * CALLS

interface Draft {
  id: string
  tenant: Tenant
}

/** Rejects drafts, one a step. */
export const rejections = (drafts: Draft[]): Plan =>
  Array.from({ length: ANSWERS }, (_, nth) =>
    drafts
      .slice(nth * CALLS, (nth + 1) * CALLS)
      .map(({ id }): Plan[number][number] => ['growth_reject_item', { id }]),
  )

/** A job in each workspace. */
export const jobsOf = (drafts: Draft[], tenants: Tenant[]): Wanted[] =>
  tenants.map((tenant) => ({
    tenant,
    plan: rejections(drafts.filter((one) => one.tenant === tenant)),
  }))

type Way = (drafts: Draft[]) => Promise<Result>

const byJobs = ({ world, server, tenants }: Stage): Way => {
  return (drafts) =>
    timed(drafts.length, async () => {
      await startJobs(server, jobsOf(drafts, tenants))
      await untilAtRest(world, tenants)
    })
}

const overRest = ({ server: { port } }: Stage): Way => {
  const rejection = ({ id, tenant }: Draft) => post(`/api/v1/growth/items/${id}/reject`, tenant)
  return (drafts) => sendOnce(port, AT_ONCE, drafts.map(rejection))
}

const byWorkflows = ({ tenants }: Stage, { port }: Running): Way => {
  return (drafts) =>
    timed(drafts.length, async () => {
      const jobs = jobsOf(drafts, tenants).map(({ tenant: { id }, plan }) => ({
        tenant: id,
        message: JSON.stringify(plan),
      }))
      const reply = await fetch(`http://127.0.0.1:${port}/jobs`, {
        method: 'POST',
        body: JSON.stringify(jobs),
      })
      if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
    })
}

const rateOf = (turns: Turn[]): Figures => {
  const { perSecond, serverUs, postgresUs } = figuresOf(turns)
  return { perSecond, serverUs, postgresUs } as Figures
}

const besides = (name: string, ours: Turn[], theirs: Turn[]): Peer => ({
  name,
  figures: rateOf(theirs),
  ratio: median(ours.map(({ perSecond }, round) => perSecond / theirs[round]!.perSecond)),
  costRatio: costOf(rateOf(theirs)) / costOf(rateOf(ours)),
})

export interface Sizes {
  rounds: number
  /** For each contestant, at most. */
  warmUpRounds: number
}

export const steps = async (stage: Stage, { rounds, warmUpRounds }: Sizes): Promise<Row> => {
  const { world, server, model, tenants } = stage
  const env = {
    ...world.env,
    ...PRODUCTION,
    MODEL_URL: `http://127.0.0.1:${model.port}/v1/chat/completions`,
  }
  await using workflows = await startProcess(await peerCommand('dbos-agent'), env)
  const used: string[] = []
  const drafts = async () => {
    const all = await addDrafts(world.owner, tenants, STEPS_OF_JOB)
    used.push(...all.map(({ id }) => id))
    return all
  }
  const ways = [
    { name: 'Tendril', pid: server.pid, way: byJobs(stage) },
    { name: 'REST', pid: server.pid, way: overRest(stage) },
    { name: 'DBOS', pid: workflows.pid, way: byWorkflows(stage, workflows) },
  ]
  for (const { pid, way } of ways) await warmUp(pid, async () => way(await drafts()), warmUpRounds)
  await world.owner`vacuum analyze item, work, audit, agent_job, agent_step, agent_event,
    agent_message, agent_conversation`
  // Statements are planned again once their tables have been analysed, on each connection.
  for (const { way } of ways) await way(await drafts())
  const contestants: Contestant[] = []
  for (const { name, pid, way } of ways) {
    const ahead: Draft[][] = []
    for (let round = 0; round < rounds; round++) ahead.push(await drafts())
    contestants.push({ name, pid, run: () => way(ahead.shift()!) })
  }
  const [ours, rest, theirs] = (await takeTurns(world.owner, contestants, rounds)) as [
    Turn[],
    Turn[],
    Turn[],
  ]
  const [left] = await world.owner<{ count: number }[]>`select count(*)::int as count from item
    where id = any(${used}::uuid[]) and status <> 'rejected'`
  if (left?.count !== 0)
    throw new Error(`${left?.count} of ${used.length} commands were not carried out`)
  return {
    what: `commands that ${AT_ONCE} jobs call, a step each, all that a job takes included; every effect and its step one commit`,
    figures: rateOf(ours),
    peers: [
      besides('the same commands over REST with an Idempotency-Key', ours, rest),
      besides('DBOS, a workflow a job, each command and then its checkpoint', ours, theirs),
    ],
  }
}
