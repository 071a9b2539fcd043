/** A claim of a job does one thing of it, as the pure functions say. It is one commit. */
import { agentLimit, type CallReservation, estimateTokens, reserve } from '#domain/agent/job/budget'
import type { Job } from '#domain/agent/job/job'
import { BEHIND_MS, GENERATION_WAIT_MS, nextPoll } from '#domain/agent/job/limits'
import { type Next, nextOf } from '#domain/agent/job/loop'
import { definedTools, offeredTools } from '#domain/agent/job/offer'
import { STEP_RUNS, type StepHead } from '#domain/agent/job/step'
import type { Role } from '#kernel/roles'
import { actingFor, execute, fail, finish } from './calls.ts'
import { callsOfTree, openBelow } from './family.ts'
import { checkReserved } from './money.ts'
import { addStep, endJob, giveWay, saveJob, saveStep } from './records.ts'
import { checkNext } from './rules.ts'
import { checkDefined, checkUse } from './rules-of-calls.ts'
import { mayRun, tools } from './tools.ts'
import { approvalOf, count, spend, stepsOf, type World } from './world.ts'

/** In hundredths of a cent: the price of a thousand tokens in, and of two hundred out. */
export const priceOf = ({ input, output }: { input: number; output: number }): number =>
  Math.ceil(input / 1_000 + output / 200)

const headsOf = (world: World, jobId: string): StepHead[] =>
  stepsOf(world, jobId).map((step) => {
    const approval = approvalOf(world, step.id)
    return {
      ...step,
      way: tools.get(step.name)?.way ?? null,
      result_hash: step.result?.text ?? null,
      expires_at: approval?.status === 'pending' ? approval.expires_at : null,
    }
  })

const isBehind = (world: World, { id, conversation_id }: Job): boolean =>
  conversation_id !== null &&
  [...world.jobs.values()].some(
    (one) =>
      one.conversation_id === conversation_id &&
      one.id < id &&
      (one.status === 'queued' || one.status === 'running'),
  )

/** The process dies after this commit, so what it was to start is never heard of. */
export const claim = (world: World, id: string, dies: boolean) => {
  const job = world.jobs.get(id)!
  const role = world.people.get(job.on_behalf.personId!)
  if (role === undefined) return endJob(world, id, { status: 'failed', error: 'caller_gone' })
  if (job.status === 'queued' && isBehind(world, job))
    return void world.work.set(id, new Date(world.now.getTime() + BEHIND_MS))
  world.work.set(id, world.now)
  const heads = headsOf(world, id)
  const dead = heads.filter(({ state }) => state === 'running')
  if (dead.length > 0) return revive(world, id, dead)
  const next = nextOf(
    job,
    heads,
    { mostSteps: agentLimit(world.usage, 'agent_max_steps'), treeCalls: callsOfTree(world, job) },
    world.now,
  )
  checkNext(world, job, heads, next)
  if (world.broken.length > 0) return
  count(world, `next ${next.kind}`)
  const runs = world.runs.length
  carryOut(world, id, role, next)
  if (dies) world.runs.length = runs
}

const revive = (world: World, id: string, dead: readonly StepHead[]) => {
  for (const head of dead) {
    const step = world.steps.get(head.id)!
    const isOut = step.class === 'outside_write'
    const attempt = step.attempt + 1
    const isInVain = !isOut && attempt >= STEP_RUNS
    if (isInVain && step.kind === 'tool') fail(world, { ...step, attempt }, 'tool_failed')
    else if (isInVain && step.kind === 'summary')
      saveStep(world, step, { state: 'failed', attempt, ended_at: world.now })
    else saveStep(world, step, { state: isOut ? 'unknown' : 'ready', attempt })
    if (isInVain && step.kind === 'model')
      return endJob(world, id, { status: 'failed', error: 'enqueue_failed' })
  }
}

const carryOut = (world: World, id: string, role: Role, next: Next) => {
  switch (next.kind) {
    case 'end':
      return endJob(world, id, next.end)
    case 'park':
      world.work.set(id, next.until)
      giveWay(world, saveJob(world, id, { status: next.status }))
      return
    case 'give_up': {
      const step = world.steps.get(next.step.id)!
      fail(world, step, 'the child did not end')
      return openBelow(world, id).forEach((below) => {
        endJob(world, below.id, { status: 'cancelled', error: null })
      })
    }
    case 'look':
      return look(world, next.step)
    case 'think':
      return think(world, id, role, next)
    case 'execute': {
      saveJob(world, id, { status: 'running' })
      return execute(world, world.steps.get(next.step.id)!, role)
    }
    default:
      return begin(world, id, role, next.kind === 'read' ? next.steps : [next.step])
  }
}

const look = (world: World, head: StepHead) => {
  const step = world.steps.get(head.id)!
  const waited = world.now.getTime() - step.started_at!.getTime()
  const isSettled = world.ready.get(step.awaits!)! <= world.now
  if (isSettled || (step.awaits_kind === 'generation' && waited >= GENERATION_WAIT_MS))
    return finish(world, step)
  world.work.set(step.job_id, nextPoll(step.started_at!, world.now))
}

/**
 * Steps that run outside. Reads are not checked again: their rights were checked when they were
 * accepted.
 */
const begin = (world: World, id: string, role: Role, heads: readonly StepHead[]) => {
  const steps: string[] = []
  for (const head of heads) {
    const step = world.steps.get(head.id)!
    const acting = actingFor(world, step, role)
    if (typeof acting === 'string') fail(world, step, acting)
    else {
      checkUse(world, step, acting.role)
      steps.push(saveStep(world, step, { state: 'running', started_at: world.now }).id)
    }
  }
  saveJob(world, id, { status: 'running' })
  if (steps.length > 0) world.runs.push({ kind: 'tools', job: id, steps })
}

/** Reserves a model call; undefined if no budget is left. */
const reserved = (world: World, input: number) => {
  const before = { ...world.counters }
  const found = reserve({ ...world.usage, now: world.now }, { input, priceOf })
  if (typeof found === 'object') spend(world, found.spend)
  checkReserved(world, { before, input, reserved: found })
  return found
}

const begunWith = (world: World, { tokens, cost, day, month }: CallReservation) => ({
  reserved_tokens: tokens,
  reserved_cost: cost,
  day,
  month,
  state: 'running' as const,
  started_at: world.now,
  not_before: null,
})

/**
 * Some conversations have grown too long. An interrupted summary continues, unless it is no longer
 * needed.
 */
const summarise = (world: World, id: string, before: StepHead | undefined): boolean => {
  const others = stepsOf(world, id).filter(
    (step) => step.kind === 'summary' && step.id !== before?.id,
  )
  const isWanted =
    others.length < 2 &&
    others.every(({ state }) => state !== 'failed') &&
    world.next() < (before ? 0.8 : 0.2)
  const found = isWanted
    ? reserved(world, estimateTokens({ known: 0, bytes: world.below(20_000) }))
    : undefined
  if (typeof found !== 'object') {
    if (before)
      saveStep(world, world.steps.get(before.id)!, { state: 'cancelled', ended_at: world.now })
    return false
  }
  const begun = begunWith(world, found)
  const step = before
    ? saveStep(world, world.steps.get(before.id)!, begun)
    : addStep(world, id, { kind: 'summary', name: 'm', ...begun })
  saveJob(world, id, { status: 'running' })
  count(world, 'summary begun')
  world.runs.push({ kind: 'summary', job: id, step: step.id })
  return true
}

const think = (
  world: World,
  id: string,
  role: Role,
  { step: tried, last }: Extract<Next, { kind: 'think' }>,
) => {
  if (tried?.kind !== 'model' && summarise(world, id, tried)) return
  const before = tried?.kind === 'model' ? tried : undefined
  const job = world.jobs.get(id)!
  const denied = new Set(
    [...world.rules].filter(([, rule]) => rule === 'deny').map(([name]) => name),
  )
  const offering = {
    job,
    mayRun: (name: string) => mayRun(name, role),
    readsOnly: role === 'viewer',
    denied,
  }
  const offered = offeredTools([...tools.values()], offering)
  const defined = definedTools(offered, job).map(({ name }) => name)
  checkDefined(world, job, { offered: offered.map(({ name }) => name), defined, denied, role })
  const input = estimateTokens({ known: 500, bytes: world.below(20_000) })
  const found = reserved(world, input)
  if (typeof found === 'string')
    return endJob(world, id, { status: 'failed', error: `budget_exhausted:${found}` })
  const begun = begunWith(world, found)
  const asked = before
    ? saveStep(world, world.steps.get(before.id)!, begun)
    : addStep(world, id, { kind: 'model', name: 'm', ...begun })
  saveJob(world, id, { status: 'running', model_calls: job.model_calls + 1 })
  world.runs.push({
    kind: 'think',
    job: id,
    step: asked.id,
    offered: offered.map(({ name }) => name),
    role,
    last,
  })
}
