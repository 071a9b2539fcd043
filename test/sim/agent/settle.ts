/** What becomes of a run. */
import { argumentsHash } from '#domain/agent/hash'
import { keptAnswer } from '#domain/agent/job/answer'
import { settle as settleBudget } from '#domain/agent/job/budget'
import { HandleBook } from '#domain/agent/job/handles'
import type { Job } from '#domain/agent/job/job'
import { APPROVAL_MS, MOST_CALLS, MOST_INVALID } from '#domain/agent/job/limits'
import type { Step } from '#domain/agent/job/step'
import { stepMessages } from '#domain/agent/job/transcript'
import { verdictOf } from '#domain/agent/job/verdict'
import { requireComplete } from '#test/support/model/scripted-model'
import { addStep, circles, endJob, execute, finish, priceOf, saveJob, saveStep } from './claim.ts'
import { threadOf } from './family.ts'
import { checkAnswer, checkArguments, checkSettled } from './money.ts'
import { checkTranscript } from './rules.ts'
import { mayRun, temptations, toolNames, tools } from './tools.ts'
import { approvalOf, count, FOREIGN, hold, newId, type Run, spend, stepsOf, subjectOf, type World } from './world.ts'

interface Called {
  name: string
  arguments: string
}

const anyId = (world: World, conversation: string): string => {
  const shown = Object.keys(world.handles.get(conversation) ?? {})
  const chance = world.next()
  if (chance < 0.7 && shown.length > 0) return world.of(shown)
  return world.of([FOREIGN, 'record:999', [...world.records.keys()][5]!, '00000000-0000-4000-8000-0000000000ff'])
}

const callOf = (world: World, conversation: string): Called => {
  // The same call again and again, of what may have happened already.
  if (world.next() < 0.1) return { name: 'sms', arguments: '{}' }
  if (world.next() < 0.15) return { name: 'delegate', arguments: '{}' }
  const name = world.next() < 0.9 ? world.of(temptations) : world.of([...toolNames, 'nothing'])
  if (world.next() < 0.05) return { name, arguments: world.of(['{', '[]', 'null', '"x"']) }
  return { name, arguments: JSON.stringify(world.next() < 0.4 ? {} : { id: anyId(world, conversation), n: world.below(3) }) }
}

/** The same again, whatever it was told; or nothing, where it must conclude. */
const inCircles = (world: World, { id }: Job, last: boolean) => {
  const usage = { input_tokens: 300, cached_tokens: 0, output_tokens: 20 }
  const name = ['list', 'sms', 'publish'][Number.parseInt(id.slice(-2), 16) % 3]!
  const call = { id: newId(world), name, arguments: world.next() < 0.1 ? '{' : '{}' }
  return { text: '', calls: last && world.next() < 0.5 ? [] : [call], model: 'm', usage }
}

const answerOf = (world: World, job: Job, last: boolean) => {
  const conversation = threadOf(world, job)
  const chance = world.next()
  if (circles(job) && chance < 0.9) return inCircles(world, job, last)
  const many = chance < 0.03 ? world.of([40, 90]) : 1 + world.below(5)
  const name = world.of(['list', 'delegate', undefined])
  const one = many >= 40 && name ? () => ({ name, arguments: '{}' }) : () => callOf(world, conversation)
  const calls = chance < (last ? 0.3 : 0.8) ? Array.from({ length: many }, one) : []
  const usage = { input_tokens: 200 + world.below(9_000), cached_tokens: 0, output_tokens: world.below(5_000) }
  const text = world.next() < 0.9 ? 'Fine.' : world.of(['', '\0', 'a\ud800', 'x'.repeat(9_000)])
  const odd = world.of([undefined, { ...usage, input_tokens: -1 }, { ...usage, output_tokens: 1e12 }])
  const called = calls.map((call) => ({ id: newId(world), ...call }))
  return { text, calls: called, model: 'm', usage: world.next() < 0.9 ? usage : odd }
}

/** `wanted`: the model says one last thing and calls nothing. */
export const settle = (world: World, run: Run, wanted = false) => {
  if (run.kind === 'tools') return settleTools(world, run)
  if (run.kind === 'summary') return settleSummary(world, run, wanted)
  const step = world.steps.get(run.step)!
  if (step.state !== 'running') return
  world.work.set(run.job, world.now)
  const job = world.jobs.get(run.job)!
  const messages = stepMessages(stepsOf(world, run.job))
  try {
    requireComplete({ messages } as never)
  } catch (cause) {
    hold(world, false, `a transcript is not complete: ${cause}`)
  }
  checkTranscript(world, stepsOf(world, run.job), messages)
  if (!wanted && world.next() < 0.07) return failed(world, step)
  const given = wanted ? { ...answerOf(world, job, true), calls: [], text: 'Done.' } : answerOf(world, job, run.last)
  const thought = keptAnswer(given, 'm')
  checkAnswer(world, given, thought)
  const { usage } = thought
  const used = usage && {
    tokens: usage.input_tokens + usage.output_tokens,
    cost: priceOf({ input: usage.input_tokens, output: usage.output_tokens }),
  }
  const spent = used ? settleBudget(step, used, world.now) : []
  spend(world, spent)
  checkSettled(world, step, used)
  saveStep(world, step, {
    state: 'done',
    answer: { text: thought.text, calls: thought.calls.length, refused: thought.refused },
    ended_at: world.now,
  })
  saveJob(world, run.job, { active_ms: job.active_ms + world.of([500, 20_000, 80_000]) })
  if (thought.calls.length > 0) return accept(world, run, step, thought.calls)
  if (thought.text.trim() === '') return invalid(world, run.job)
  if (job.conversation_id === null) saveJob(world, run.job, { output: { text: thought.text } })
  endJob(world, run.job, { status: 'completed', error: null })
}

/** It fails for good, or is kept: either way the job thinks next. */
const settleSummary = (world: World, { job, step: id }: Extract<Run, { kind: 'summary' }>, wanted: boolean) => {
  const step = world.steps.get(id)!
  if (step.state !== 'running') return
  world.work.set(job, world.now)
  const isKept = wanted || world.next() < 0.7
  const used = isKept ? { tokens: 300 + world.below(5_000), cost: world.below(9) } : { tokens: 0, cost: 0 }
  spend(world, settleBudget(step, used, world.now))
  checkSettled(world, step, used)
  count(world, isKept ? 'summary done' : 'summary failed')
  saveStep(world, step, { state: isKept ? 'done' : 'failed', ended_at: world.now })
}

const failed = (world: World, step: Step) => {
  const attempt = step.attempt + 1
  const job = world.jobs.get(step.job_id)!
  const kept = world.next() < 0.5
  if (!kept) spend(world, settleBudget(step, { tokens: 0, cost: 0 }, world.now))
  if (!kept) checkSettled(world, step, { tokens: 0, cost: 0 })
  if (attempt > 3) return endJob(world, job.id, { status: 'failed', error: 'model_failed: timeout' })
  const not_before = new Date(world.now.getTime() + world.of([2_000, 30_000, 300_000]))
  saveStep(world, step, { state: 'ready', attempt, not_before })
  saveJob(world, job.id, { model_calls: job.model_calls - 1 })
  // As a claim of the same moment would find it: the loop itself must wait.
  if (world.next() < 0.5) world.work.set(job.id, not_before)
}

const invalid = (world: World, jobId: string) => {
  const { invalid_answers } = saveJob(world, jobId, { invalid_answers: world.jobs.get(jobId)!.invalid_answers + 1 })
  if (invalid_answers >= MOST_INVALID) endJob(world, jobId, { status: 'failed', error: 'model_invalid' })
}

interface Checked {
  args: Record<string, unknown>
  hash: string
}

const checkedCall = (world: World, run: Extract<Run, { kind: 'think' }>, { name, arguments: text }: Called): Checked | string => {
  if (!run.offered.includes(name) || !tools.has(name)) return 'there is no such tool'
  const job = world.jobs.get(run.job)!
  try {
    const given: unknown = JSON.parse(text)
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'not an object'
    const handles = world.handles.get(threadOf(world, job)) ?? {}
    const args = new HandleBook(handles).resolve(given, job.goal) as Record<string, unknown>
    checkArguments(world, { given, args, handles, typed: job.goal })
    return { args, hash: argumentsHash(args) }
  } catch (cause) {
    return String(cause)
  }
}

const accept = (world: World, run: Extract<Run, { kind: 'think' }>, answered: Step, calls: readonly (Called & { id: string })[]) => {
  let usable = 0
  const { taint } = world.jobs.get(run.job)!
  for (const [index, call] of calls.entries()) {
    hold(world, index < MOST_CALLS, 'more calls than an answer may make')
    const checked = checkedCall(world, run, call)
    const made = { kind: 'tool' as const, name: call.name, call: call.id, asked: call.arguments, of_step: answered.number }
    if (typeof checked === 'string') {
      addStep(world, run.job, { ...made, state: 'failed', error: checked, result: { text: checked }, ended_at: world.now })
      continue
    }
    usable++
    judge(world, run, { ...made, args: checked.args, args_hash: checked.hash }, taint)
  }
  if (usable === 0) return invalid(world, run.job)
  saveJob(world, run.job, { invalid_answers: 0 })
}

type Made = Pick<Step, 'kind' | 'name' | 'call' | 'asked' | 'of_step' | 'args' | 'args_hash'>

const judge = (world: World, run: Extract<Run, { kind: 'think' }>, made: Made, taint: string[]) => {
  const job = world.jobs.get(run.job)!
  const role = world.people.get(job.on_behalf.personId!) ?? run.role
  const tool = tools.get(made.name)!
  const equal = stepsOf(world, job.id).filter(({ name, args_hash }) => name === made.name && args_hash === made.args_hash)
  const isRepeat = equal.some(({ state }) => state === 'unknown')
  const may = mayRun(made.name, role)
  const verdict = verdictOf({ class: tool.class, offered: true, mayRun: may, taint, rule: world.rules.get(made.name), isRepeat })
  count(world, `verdict ${verdict.decision}`)
  hold(world, may || verdict.decision !== 'allow', `${made.name} is allowed, which a ${role} may not do`)
  const state = verdict.decision === 'allow' ? 'ready' : verdict.decision === 'ask' ? 'asked' : 'failed'
  const refused = verdict.decision === 'deny' ? { error: verdict.reason, result: { text: verdict.reason }, ended_at: world.now } : {}
  const step = addStep(world, job.id, { ...made, kind: 'tool', state, class: tool.class, ...refused })
  world.judged.set(step.id, {
    taint: taint.length,
    offered: run.offered.includes(made.name),
    role,
    isRepeat,
    rule: world.rules.get(made.name),
  })
  if (verdict.decision !== 'ask') return
  const id = newId(world)
  world.approvals.set(id, {
    ...{
      id,
      job_id: job.id,
      step_id: step.id,
      conversation_id: null,
      goal: job.goal,
      tool_name: made.name,
      summary: '',
      arguments: made.args!,
      why: verdict.why,
    },
    ...{ arguments_hash: made.args_hash!, subject: subjectOf(world, made.args!), status: 'pending', decided_by: null, decided_how: null },
    ...{ direct_by: null, reason: null, edited: false, expires_at: new Date(world.now.getTime() + APPROVAL_MS), decided_at: null },
    ...{ created_at: world.now, updated_at: world.now },
  })
}

const settleTools = (world: World, run: Extract<Run, { kind: 'tools' }>) => {
  for (const id of run.steps) {
    const step = world.steps.get(id)!
    if (step.state !== 'running') continue
    world.work.set(run.job, world.now)
    const tool = tools.get(step.name)!
    const role = world.people.get(world.jobs.get(run.job)!.on_behalf.personId!) ?? 'viewer'
    if (world.next() < 0.5 && step.class === 'outside_write') saveStep(world, step, { state: 'unknown', ended_at: world.now })
    else if (world.next() < 0.1) saveStep(world, step, { state: 'failed', error: 'x', result: { text: 'x' }, ended_at: world.now })
    else if (tool.way === 'reach' && approvalOf(world, id)) execute(world, saveStep(world, step, {}), role)
    else finish(world, step)
  }
}
