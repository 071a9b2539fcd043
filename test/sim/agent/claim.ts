/** A claim of a job: one thing of it, as the pure functions say. It is one commit. */
import { isSameSubject } from '#domain/agent/job/approval'
import { agentLimit, estimateTokens, type Reservation, reserve } from '#domain/agent/job/budget'
import { HandleBook } from '#domain/agent/job/handles'
import { ended, type Job } from '#domain/agent/job/job'
import { BEHIND_MS, GENERATION_WAIT_MS, nextPoll } from '#domain/agent/job/limits'
import { type JobEnd, type Next, nextOf } from '#domain/agent/job/loop'
import { definedTools, offeredTools } from '#domain/agent/job/offer'
import { isFinished, newStep, STEP_RUNS, type Step, type StepHead } from '#domain/agent/job/step'
import type { Role } from '#kernel/roles'
import { callsOfTree, delegate, openBelow, tellParent, threadOf } from './family.ts'
import { checkReserved } from './money.ts'
import { checkDefined, checkNext, checkUse } from './rules.ts'
import { mayRun, type SimTool, tools } from './tools.ts'
import { approvalOf, count, newId, spend, stepsOf, subjectOf, type World } from './world.ts'

/** A cent is a hundred of these: of a thousand tokens in, and of two hundred out. */
export const priceOf = ({ input, output }: { input: number; output: number }): number => Math.ceil(input / 1_000 + output / 200)

export const saveJob = (world: World, id: string, patch: Partial<Job>): Job => {
  const job = { ...world.jobs.get(id)!, ...patch, updated_at: world.now }
  world.jobs.set(id, job)
  return job
}

export const saveStep = (world: World, step: Step, patch: Partial<Step>): Step => {
  const saved = { ...step, ...patch, updated_at: world.now }
  world.steps.set(step.id, saved)
  return saved
}

export const addStep = (world: World, jobId: string, made: Pick<Step, 'kind' | 'name' | 'state'> & Partial<Step>): Step => {
  const { next_step } = world.jobs.get(jobId)!
  saveJob(world, jobId, { next_step: next_step + 1 })
  const step = newStep({ id: newId(world), job_id: jobId, number: next_step, ...made }, world.now)
  world.steps.set(step.id, step)
  return step
}

/** The first job of the conversation that has not begun may begin. */
const giveWay = (world: World, { id, conversation_id }: Job) => {
  if (conversation_id === null) return
  const next = [...world.jobs.values()].find((one) => one.conversation_id === conversation_id && one.id !== id && one.status === 'queued')
  if (next) world.work.set(next.id, world.now)
}

export const endJob = (world: World, id: string, end: JobEnd) => {
  const job = ended(world.jobs.get(id)!, end, world.now)
  world.jobs.set(id, job)
  world.ended.push(id)
  world.work.delete(id)
  count(world, `end ${end.status} ${end.error ?? ''}`)
  giveWay(world, job)
  for (const below of openBelow(world, id)) endJob(world, below.id, { status: 'cancelled', error: null })
  tellParent(world, job)
  if (end.status === 'completed') return
  for (const step of stepsOf(world, id)) {
    if (isFinished(step)) continue
    const isOut = step.state === 'running' && step.class === 'outside_write'
    saveStep(world, step, { state: isOut ? 'unknown' : 'cancelled', ended_at: world.now })
  }
  const how = end.error === 'approval_expired' ? 'expiry' : 'cancel'
  for (const approval of world.approvals.values())
    if (approval.job_id === id && approval.status === 'pending')
      world.approvals.set(approval.id, { ...approval, status: 'rejected', decided_how: how, decided_at: world.now })
}

const headsOf = (world: World, jobId: string): StepHead[] =>
  stepsOf(world, jobId).map((step) => {
    const approval = approvalOf(world, step.id)
    return {
      ...step,
      ...{ way: tools.get(step.name)?.way ?? null, result_hash: step.result?.text ?? null },
      expires_at: approval?.status === 'pending' ? approval.expires_at : null,
    }
  })

const isBehind = (world: World, { id, conversation_id }: Job): boolean =>
  conversation_id !== null &&
  [...world.jobs.values()].some(
    (one) => one.conversation_id === conversation_id && one.id < id && (one.status === 'queued' || one.status === 'running'),
  )

/** The process dies after this commit: what it was to start is never heard of. */
export const claim = (world: World, id: string, dies: boolean) => {
  const job = world.jobs.get(id)!
  const role = world.people.get(job.on_behalf.personId!)
  if (role === undefined) return endJob(world, id, { status: 'failed', error: 'caller_gone' })
  if (job.status === 'queued' && isBehind(world, job)) return void world.work.set(id, new Date(world.now.getTime() + BEHIND_MS))
  world.work.set(id, world.now)
  const heads = headsOf(world, id)
  const dead = heads.filter(({ state }) => state === 'running')
  if (dead.length > 0) return revive(world, id, dead)
  const next = nextOf(job, heads, { mostSteps: agentLimit(world.usage, 'agent_max_steps'), treeCalls: callsOfTree(world, job) }, world.now)
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
    else if (isInVain && step.kind === 'summary') saveStep(world, step, { state: 'failed', attempt, ended_at: world.now })
    else saveStep(world, step, { state: isOut ? 'unknown' : 'ready', attempt })
    if (isInVain && step.kind === 'model') return endJob(world, id, { status: 'failed', error: 'enqueue_failed' })
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

/** Whose role a call has, or why it must not be made. */
const actingFor = (world: World, step: Step, role: Role): { role: Role } | string => {
  const approval = approvalOf(world, step.id)
  if (!approval) return step.class === 'read' || mayRun(step.name, role) ? { role } : 'the caller may not do this any more'
  const approver = world.people.get(approval.decided_by ?? '')
  if (approval.status !== 'approved' || !approver || !mayRun(step.name, approver)) return 'who approved this may not do it any more'
  if (!isSameSubject(subjectOf(world, step.args ?? {}), approval.subject)) return 'changed since it was shown'
  return { role: approver }
}

const fail = (world: World, step: Step, error: string): void =>
  void saveStep(world, step, { state: 'failed', result: { text: error }, error, ended_at: world.now })

/** A job whose model makes the same call again and again, which gives the same. */
export const circles = ({ id }: Pick<Job, 'id'>): boolean => Number.parseInt(id.slice(-2), 16) % 5 === 0

/** A tool's answer: three records, and the words of a stranger. */
export const finish = (world: World, step: Step) => {
  const tool = tools.get(step.name)!
  const job = world.jobs.get(step.job_id)!
  const known = world.handles.get(threadOf(world, job)) ?? {}
  const book = new HandleBook(known)
  const records = [...world.records.keys()].slice(circles(job) ? 0 : world.below(4)).slice(0, 3)
  const value = book.shorten({ records: records.map((id) => ({ id, record_ids: [id] })), text: tool.foreign ? 'obey me' : 'fine' })
  world.handles.set(threadOf(world, job), { ...known, ...book.added })
  const source = tool.foreign ? step.name : null
  if (source && !job.taint.includes(source)) saveJob(world, job.id, { taint: [...job.taint, source] })
  saveStep(world, step, { state: 'done', result: { text: JSON.stringify(value) }, untrusted: source, ended_at: world.now })
  saveJob(world, job.id, { tool_calls: job.tool_calls + 1, active_ms: job.active_ms + world.of([5, 2_000, 50_000, 400_000]) })
}

const changes = (world: World, step: Step, tool: SimTool) => {
  if (tool.name === 'use_tools') saveJob(world, step.job_id, { shown: [...world.jobs.get(step.job_id)!.shown, 'engage', 'post'] })
  const id = String(step.args?.id ?? '')
  if (world.records.has(id)) world.records.set(id, world.records.get(id)! + 1)
}

const begetting = (world: World, step: Step) => {
  const child = delegate(world, step)
  if (typeof child === 'string') return fail(world, step, child)
  saveStep(world, step, { state: 'waiting', awaits: child.id, awaits_kind: 'child', started_at: world.now })
}

export const execute = (world: World, step: Step, role: Role) => {
  const tool = tools.get(step.name)!
  const acting = actingFor(world, step, role)
  if (typeof acting === 'string') return fail(world, step, acting)
  checkUse(world, step, acting.role)
  if (tool.delegates) return begetting(world, step)
  changes(world, step, tool)
  if (!tool.settles) return finish(world, step)
  const awaits = newId(world)
  world.ready.set(awaits, new Date(world.now.getTime() + world.of([0, 1_000, 90_000, 400_000])))
  saveStep(world, step, { state: 'waiting', awaits, awaits_kind: step.name === 'batch' ? 'generation' : 'publish', started_at: world.now })
}

const look = (world: World, head: StepHead) => {
  const step = world.steps.get(head.id)!
  const waited = world.now.getTime() - step.started_at!.getTime()
  const isSettled = world.ready.get(step.awaits!)! <= world.now
  if (isSettled || (step.awaits_kind === 'generation' && waited >= GENERATION_WAIT_MS)) return finish(world, step)
  world.work.set(step.job_id, nextPoll(step.started_at!, world.now))
}

/** Steps that run outside. What only reads is checked no further: its rights were looked at when it was accepted. */
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

/** Reserves a call of a model; undefined if there is no budget. */
const reserved = (world: World, input: number) => {
  const before = { ...world.counters }
  const found = reserve({ ...world.usage, now: world.now }, { input, priceOf })
  if (typeof found === 'object') spend(world, found.spend)
  checkReserved(world, { before, input, reserved: found })
  return found
}

const begunWith = (world: World, { tokens, cost, day, month }: Reservation) => ({
  ...{ reserved_tokens: tokens, reserved_cost: cost, day, month },
  ...{ state: 'running' as const, started_at: world.now, not_before: null },
})

/** Some conversations have grown too long. One that was interrupted goes on, unless it is not needed any more. */
const summarise = (world: World, id: string, before: StepHead | undefined): boolean => {
  const others = stepsOf(world, id).filter((step) => step.kind === 'summary' && step.id !== before?.id)
  const isWanted = others.length < 2 && others.every(({ state }) => state !== 'failed') && world.next() < (before ? 0.8 : 0.2)
  const found = isWanted ? reserved(world, estimateTokens({ known: 0, bytes: world.below(20_000) })) : undefined
  if (typeof found !== 'object') {
    if (before) saveStep(world, world.steps.get(before.id)!, { state: 'cancelled', ended_at: world.now })
    return false
  }
  const begun = begunWith(world, found)
  const step = before ? saveStep(world, world.steps.get(before.id)!, begun) : addStep(world, id, { kind: 'summary', name: 'm', ...begun })
  saveJob(world, id, { status: 'running' })
  count(world, 'summary begun')
  world.runs.push({ kind: 'summary', job: id, step: step.id })
  return true
}

const think = (world: World, id: string, role: Role, { step: tried, last }: Extract<Next, { kind: 'think' }>) => {
  if (tried?.kind !== 'model' && summarise(world, id, tried)) return
  const before = tried?.kind === 'model' ? tried : undefined
  const job = world.jobs.get(id)!
  const denied = new Set([...world.rules].filter(([, rule]) => rule === 'deny').map(([name]) => name))
  const offering = { job, mayRun: (name: string) => mayRun(name, role), readsOnly: role === 'viewer', denied }
  const offered = offeredTools([...tools.values()], offering)
  const defined = definedTools(offered, job).map(({ name }) => name)
  checkDefined(world, job, { offered: offered.map(({ name }) => name), defined, denied, role })
  const input = estimateTokens({ known: 500, bytes: world.below(20_000) })
  const found = reserved(world, input)
  if (typeof found === 'string') return endJob(world, id, { status: 'failed', error: `budget_exhausted:${found}` })
  const begun = begunWith(world, found)
  const asked = before ? saveStep(world, world.steps.get(before.id)!, begun) : addStep(world, id, { kind: 'model', name: 'm', ...begun })
  saveJob(world, id, { status: 'running', model_calls: job.model_calls + 1 })
  world.runs.push({ kind: 'think', job: id, step: asked.id, offered: offered.map(({ name }) => name), role, last })
}
