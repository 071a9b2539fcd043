/**
 * The kill switch over jobs of the agent, of every origin, at either of two servers: calls of a
 * model and of a tool outside are on the wire, reads and commands are due, approvals wait. Between
 * an answer of pause-all and the next resume-all no step begins that nobody asked for, what is sent
 * outside was listed in the answer, and jobs that people asked for go on; after the last resume-all
 * every job ends.
 */
import { one, type Verdict } from '../ledger.ts'
import { unlimitAgents } from '../stories.ts'
import {
  type AgentSwitchOptions,
  newAsker,
  newWorld,
  verdictOf,
  type World,
} from './agent-world.ts'
import { type Asker, beginJobs, JOBS_A_ROUND } from './jobs.ts'

const WITHIN_MS = 120_000
const POLL_MS = 20

const until = async (what: string, holds: () => Promise<boolean> | boolean): Promise<void> => {
  const end = performance.now() + WITHIN_MS
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${WITHIN_MS} ms: ${what}`)
    await Bun.sleep(POLL_MS)
  }
}

interface Paused {
  /** By this process's clock. */
  asked: number
  answered: number
  /** The texts of calls that the answer listed. */
  listed: Set<string>
}

interface Called {
  job_id?: string
  origin: 'manual' | 'automatic'
}

const switched = async (
  { apps, next }: World,
  { key }: Asker,
  action: 'pause-all' | 'resume-all',
): Promise<Called[]> => {
  const reply = await apps[next() < 0.5 ? 0 : 1].send('POST', `automation/${action}`, { key })
  if (reply.status !== 200) throw new Error(`${action}: ${reply.status} ${reply.text}`)
  return reply.body.automation.in_flight
}

const pause = async (world: World, asker: Asker): Promise<Paused> => {
  const asked = performance.now()
  const calls = await switched(world, asker, 'pause-all')
  const answered = performance.now()
  const ids = calls.map(({ job_id }) => job_id!)
  const rows = await world.owner<{ text: string }[]>`select args->>'text' as text from agent_step
    where tenant_id = ${asker.tenantId} and class = 'outside_write' and job_id = any(${ids})`
  world.tally.pauses++
  world.tally.listed += calls.length
  world.tally.listed_unattended += calls.filter(({ origin }) => origin === 'automatic').length
  return { asked, answered, listed: new Set(rows.map(({ text }) => text)) }
}

const isUnattended = ({ tenantId }: Asker, text: string): boolean =>
  text.includes(`automatic ${tenantId} `)

const modelCalls = ({ model }: World, asker: Asker): number =>
  model.chats.filter(({ body }) => isUnattended(asker, JSON.stringify(body.messages))).length

/**
 * Nothing unattended runs any more: what was recalled has stopped, and what was listed has ended.
 */
const stopped = ({ owner }: World, { tenantId }: Asker): Promise<void> =>
  until(
    'unattended work stops',
    async () =>
      (
        await owner`select 1 from work where tenant_id = ${tenantId} and kind = 'agent' and
          origin = 'automatic' and state = 'running'`
      ).length === 0,
  )

type Origin = Called['origin']

/** A share of what is asked is allowed: of jobs of either origin, or of one. */
const approve = async (
  { apps, owner, next }: World,
  { tenantId, token }: Asker,
  share: number,
  origin?: Origin,
): Promise<number> => {
  const rows = await owner<
    { id: string }[]
  >`select a.id from agent_approval a join agent_job j on j.id = a.job_id
    where a.tenant_id = ${tenantId} and a.status = 'pending'
      and j.origin = coalesce(${origin ?? null}, j.origin)`
  const chosen = rows.filter(() => next() < share)
  for (const { id } of chosen) {
    const reply = await apps[0].send('POST', `/api/v1/agent/approvals/${id}/approve`, {
      key: token,
      body: {},
    })
    if (reply.status !== 200) throw new Error(`approve: ${reply.status} ${reply.text}`)
  }
  return chosen.length
}

/** What has begun since the answer. */
const begunSince = ({ owner, offset }: World, { tenantId }: Asker, { answered }: Paused) => {
  const at = (performance.timeOrigin + answered + offset) / 1_000
  return one(
    owner<{ automatic: number; manual: number; runs: number }[]>`select
      count(*) filter (where j.origin = 'automatic')::int as automatic,
        count(*) filter (where j.origin = 'manual' and j.kind <> 'action')::int as manual,
      (select count(*) from agent_job where tenant_id = ${tenantId} and origin = 'automatic'
        and kind <> 'webhook'
        and created_at > to_timestamp(${at}::float8))::int as runs
      from agent_step s join agent_job j on j.tenant_id = s.tenant_id and j.id = s.job_id
      where s.tenant_id = ${tenantId} and s.started_at > to_timestamp(${at}::float8)`,
  )
}

/** Looks at the end of a pause at what happened in it. */
const judge = async (world: World, asker: Asker, paused: Paused): Promise<void> => {
  const { tally, sent } = world
  const begun = await begunSince(world, asker, paused)
  tally.begun_after_answer += begun.automatic
  tally.runs_after_answer += begun.runs
  tally.went_on += begun.manual
  const unlisted = sent.filter(
    ({ text }) => text.includes(asker.tenantId) && !paused.listed.has(text),
  )
  tally.sent_unlisted += unlisted.filter(
    ({ text, arrived }) => isUnattended(asker, text) && arrived > paused.answered,
  ).length
  tally.on_wire_unlisted += unlisted.filter(
    ({ arrived, over }) => arrived < paused.asked && (over === undefined || over > paused.answered),
  ).length
}

/** Every third time the switch meets an unattended call on the wire, else whatever there is. */
const isMet = (nth: number): boolean => nth % 3 === 0

const untilPause = async ({ sent, next }: World, asker: Asker, nth: number): Promise<void> => {
  if (!isMet(nth)) return Bun.sleep(next() * 400)
  await until('an unattended call outside', () =>
    sent.some(({ text, over }) => isUnattended(asker, text) && over === undefined),
  )
}

/** Begins jobs before the pause or during it. */
const oneRound = async (world: World, asker: Asker, nth: number): Promise<void> => {
  const begin = () => beginJobs(world.apps[nth % 2]!, asker, nth)
  const isBefore = isMet(nth) || nth % 2 === 0
  if (isBefore) await begin()
  // What people's jobs ask is allowed in pauses alone, so that something always is.
  await approve(world, asker, 0.5, 'automatic')
  await untilPause(world, asker, nth)
  const paused = await pause(world, asker)
  if (!isBefore) await begin()
  world.tally.approved_in_pause += await approve(world, asker, 0.5)
  await stopped(world, asker)
  const before = modelCalls(world, asker)
  await Bun.sleep(world.options.watchMs)
  world.tally.models_after_stop += modelCalls(world, asker) - before
  await judge(world, asker, paused)
  await switched(world, asker, 'resume-all')
}

const openJobs = async ({ owner }: World, { tenantId }: Asker, origin: Origin): Promise<number> =>
  (
    await owner`select 1 from agent_job where tenant_id = ${tenantId} and origin = ${origin}
      and ended_at is null`
  ).length

/** All that people asked for ends during a pause, and all else after it. */
const lastRound = async (world: World, asker: Asker): Promise<void> => {
  const paused = await pause(world, asker)
  const allOver = async (origin: Origin) => {
    const allowed = await approve(world, asker, 1)
    if (origin === 'manual') world.tally.approved_in_pause += allowed
    return (await openJobs(world, asker, origin)) === 0
  }
  await until('jobs of people end', () => allOver('manual'))
  world.tally.held += await openJobs(world, asker, 'automatic')
  await judge(world, asker, paused)
  await switched(world, asker, 'resume-all')
  const rounds = roundsOf(world.options)
  const begun = async () =>
    (
      await world.owner`select 1 from agent_job where tenant_id = ${asker.tenantId}
        and kind <> 'action'`
    ).length
  await until(
    'all jobs begin and end',
    async () => (await begun()) === rounds * JOBS_A_ROUND && (await allOver('automatic')),
  )
}

const roundsOf = ({ jobs, workspaces }: AgentSwitchOptions): number =>
  Math.ceil(jobs / (workspaces * JOBS_A_ROUND))

export async function runAgentSwitch(options: AgentSwitchOptions): Promise<Verdict> {
  await using stack = new AsyncDisposableStack()
  const world = await newWorld(stack, options)
  const askers = await Promise.all(
    Array.from({ length: options.workspaces }, () => newAsker(world.apps[0])),
  )
  await unlimitAgents(world.owner, { agent_max_steps: 40, agent_requests: -1 })
  for (let nth = 0; nth < roundsOf(options); nth++)
    await Promise.all(askers.map((asker) => oneRound(world, asker, nth)))
  await Promise.all(askers.map((asker) => lastRound(world, asker)))
  return await verdictOf(world)
}
