/** A claim of a job does one thing of it. It is one commit. */
import {
  beginCalls,
  beginSummary,
  beginThought,
  type CallToBegin,
} from '#domain/agent/job/beginning'
import { agentLimit, estimateTokens, reserve } from '#domain/agent/job/budget'
import { unchanged } from '#domain/agent/job/change'
import type { Job } from '#domain/agent/job/job'
import { BEHIND_MS, GENERATION_WAIT_MS, nextPoll } from '#domain/agent/job/limits'
import { type Next, nextOf } from '#domain/agent/job/loop'
import { definedTools, offeredTools } from '#domain/agent/job/offer'
import type { StepHead } from '#domain/agent/job/step'
import { unpaid } from '#domain/app/plan'
import type { Role } from '#kernel/roles'
import { actingFor, execute, resultOf, STALE } from './calls.ts'
import { callsOfTree } from './family.ts'
import { type At, answer, letterOf, stepsIn, write } from './letter.ts'
import { checkBegun, checkReserved, priceOf, timeOf } from './money.ts'
import { checkNext } from './rules.ts'
import { checkDefined, checkRefused, checkUse } from './rules-of-calls.ts'
import { checkDied, checkHeld, checkInVain } from './rules-of-interruptions.ts'
import { forms, mayRun, tools } from './tools.ts'
import { approvalOf, count, note, stepsOf, type World } from './world.ts'

/** Held jobs are in nobody's way. */
const isBehind = (world: World, { id, conversation_id }: Job): boolean =>
  conversation_id !== null &&
  [...world.jobs.values()].some(
    (one) =>
      one.conversation_id === conversation_id &&
      one.id < id &&
      one.held_since === null &&
      (one.status === 'queued' || one.status === 'running'),
  )

const later = ({ now }: World, ms: number): Date => new Date(+now + ms)

/**
 * The process dies after this commit, so what it was to start is never heard of. `inVain`: the
 * letters of the job have failed as often as they may.
 */
export const claim = (world: World, id: string, { dies = false, inVain = false } = {}) => {
  const at = letterOf(world, id)
  const { job, heads } = at
  const role = world.people.get(job.on_behalf.personId!)
  if (role === undefined)
    return answer(world, at, { kind: 'end', end: { status: 'failed', error: 'caller_gone' } })
  if (job.status === 'queued' && isBehind(world, job))
    return answer(world, at, { kind: 'nothing', until: later(world, BEHIND_MS) })
  world.work.set(id, world.now)
  const dead = heads.filter(({ state }) => state === 'running')
  if (dead.length > 0) return die(world, at, dead, inVain)
  const next = nextOf(
    job,
    heads,
    { mostSteps: agentLimit(world.usage, 'agent_max_steps'), treeCalls: callsOfTree(world, job) },
    world.now,
  )
  checkNext(world, job, heads, next)
  if (world.broken.length > 0) return
  if (inVain) return giveUp(world, at, next)
  count(world, `next ${next.kind}`)
  const runs = world.runs.length
  carryOut(world, at, role, next)
  if (dies) world.runs.length = runs
}

const die = (world: World, at: At, dead: readonly StepHead[], inVain: boolean) => {
  const steps = stepsIn(world, dead)
  answer(world, at, { kind: inVain ? 'in vain' : 'died', steps })
  if (inVain) checkInVain(world, at.job, steps)
  else checkDied(world, at.job, steps)
}

const giveUp = (world: World, at: At, next: Next) => {
  const heads = 'steps' in next ? next.steps : 'step' in next && next.step ? [next.step] : []
  const steps = stepsIn(world, heads)
  answer(world, at, { kind: 'in vain', steps })
  checkInVain(world, at.job, steps)
}

const carryOut = (world: World, at: At, role: Role, next: Next) => {
  switch (next.kind) {
    case 'end':
    case 'park':
      return answer(world, at, next)
    case 'give_up':
      note(world, at.job.id, { tool_calls: 1 })
      return answer(world, at, { kind: 'late child', step: stepsIn(world, [next.step])[0]! })
    case 'look':
      return look(world, at, next.step)
    case 'think':
      return think(world, at, role, next)
    case 'execute':
      return execute(world, at, stepsIn(world, [next.step])[0]!, role)
    default:
      return begin(world, at, role, next.kind === 'read' ? next.steps : [next.step])
  }
}

const look = (world: World, at: At, head: StepHead) => {
  const [step] = stepsIn(world, [head])
  const since = step!.started_at!
  const isSettled = world.ready.get(step!.awaits!)! <= world.now
  const isLate = step!.awaits_kind === 'generation' && +world.now - +since >= GENERATION_WAIT_MS
  if (!isSettled && !isLate)
    return answer(world, at, { kind: 'nothing', until: nextPoll(since, world.now) })
  note(world, at.job.id, { tool_calls: 1 })
  answer(world, at, { kind: 'settled', step: step!, forms, answer: resultOf(world, at.job, step!) })
}

/** What runs beside the mailbox. */
const begin = (world: World, at: At, role: Role, heads: readonly StepHead[]) => {
  const calls = stepsIn(world, heads).map((step): CallToBegin => {
    const acting = actingFor(world, step, role)
    const error = typeof acting === 'string' ? acting : undefined
    const stale = error === STALE ? approvalOf(world, step.id) : undefined
    if (error !== undefined && step.started_at)
      note(world, at.job.id, { tool_calls: 1, active_ms: timeOf(world, step) })
    const isMade = error === undefined && ['read', 'outside'].includes(tools.get(step.name)!.way)
    if (isMade) checkUse(world, step, typeof acting === 'string' ? role : acting.role)
    return { step, title: step.name, error, stale }
  })
  const { change, steps } = beginCalls(unchanged(at.job, at.facts), calls)
  write(world, at, change)
  for (const { step, error } of calls) if (error !== undefined) checkRefused(world, step, error)
  if (steps.length === 0) return
  const ids = steps.map(({ id }) => id)
  world.runs.push({ kind: 'tools', job: at.job.id, steps: ids, role })
}

/** Reserves a call of the model. `check` is for after the commit. */
const reserved = (world: World, bytes: number, known = 0) => {
  const before = { ...world.counters }
  const input = estimateTokens({ known, bytes })
  const found = reserve({ ...world.usage, now: world.now }, { input, priceOf })
  return { found, check: () => checkReserved(world, { before, input, reserved: found }) }
}

/**
 * Some conversations have grown too long. An interrupted summary continues, unless it is no longer
 * needed.
 */
const summarise = (world: World, at: At, role: Role, before: StepHead | undefined): boolean => {
  const { id } = at.job
  const others = stepsOf(world, id).filter(
    (step) => step.kind === 'summary' && step.id !== before?.id,
  )
  const isWanted =
    others.length < 2 &&
    others.every(({ state }) => state !== 'failed') &&
    world.next() < (before ? 0.8 : 0.2)
  if (!isWanted) return false
  const { found, check } = reserved(world, world.below(20_000))
  if (typeof found !== 'object') {
    check()
    return false
  }
  const tried = before && stepsIn(world, [before])[0]
  const begun = beginSummary(unchanged(at.job, at.facts), {
    before: tried,
    name: 'm',
    reserved: found,
  })
  write(world, at, begun.change)
  check()
  checkBegun(world, begun.step, found)
  count(world, 'summary begun')
  world.runs.push({ kind: 'summary', job: id, steps: [begun.step.id], role })
  return true
}

/** What the model may use now. */
const offer = (world: World, job: Job, role: Role): string[] => {
  const denied = new Set(
    [...world.rules].filter(([, rule]) => rule === 'deny').map(([name]) => name),
  )
  const offered = offeredTools([...tools.values()], {
    job,
    mayRun: (name) => mayRun(name, role),
    readsOnly: role === 'viewer',
    denied,
  })
  const defined = definedTools(offered, job).map(({ name }) => name)
  const names = offered.map(({ name }) => name)
  checkDefined(world, job, { offered: names, defined, denied, role })
  return names
}

const think = (
  world: World,
  at: At,
  role: Role,
  { step: tried, last }: Extract<Next, { kind: 'think' }>,
) => {
  const { job, facts } = at
  const why = unpaid(world.usage.plan)
  if (why !== undefined) {
    answer(world, at, { kind: 'unpaid', why })
    return checkHeld(world, job)
  }
  if (tried?.kind !== 'model' && summarise(world, at, role, tried)) return
  const offered = offer(world, job, role)
  const { found, check } = reserved(world, world.below(20_000), 500)
  const before = tried && stepsIn(world, [tried])[0]
  const { change, step } = beginThought(unchanged(job, facts), {
    before: before?.kind === 'model' ? before : undefined,
    dropped: before?.kind === 'summary' ? before : undefined,
    byDesk: false,
    reserved: found,
    sources: [],
    usage: world.usage,
  })
  write(world, at, change)
  check()
  if (!step || typeof found !== 'object') return
  note(world, job.id, { model_calls: 1 })
  checkBegun(world, step, found)
  world.runs.push({ kind: 'think', job: job.id, steps: [step.id], offered, role, last })
}
