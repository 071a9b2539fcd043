/** What becomes of a run. */
import { keptAnswer } from '#domain/agent/job/answer'
import { settleReservation as settleBudget } from '#domain/agent/job/budget'
import { APPROVAL_MS, MOST_CALLS, MOST_INVALID } from '#domain/agent/job/limits'
import type { Step } from '#domain/agent/job/step'
import { stepMessages } from '#domain/agent/job/transcript'
import { verdictOf } from '#domain/agent/job/verdict'
import { requireComplete } from '#test/support/model/scripted-model'
import { answerOf, type Called, checkedCall } from './answer.ts'
import { execute, finish } from './calls.ts'
import { priceOf } from './claim.ts'
import { checkAnswer, checkSettled } from './money.ts'
import { addStep, endJob, saveJob, saveStep } from './records.ts'
import { checkTranscript } from './rules-of-calls.ts'
import { mayRun, tools } from './tools.ts'
import {
  approvalOf,
  count,
  hold,
  newId,
  type Run,
  spend,
  stepsOf,
  subjectOf,
  type World,
} from './world.ts'

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
  const given = wanted
    ? { ...answerOf(world, job, true), calls: [], text: 'Done.' }
    : answerOf(world, job, run.last)
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
const settleSummary = (
  world: World,
  { job, step: id }: Extract<Run, { kind: 'summary' }>,
  wanted: boolean,
) => {
  const step = world.steps.get(id)!
  if (step.state !== 'running') return
  world.work.set(job, world.now)
  const isKept = wanted || world.next() < 0.7
  const used = isKept
    ? { tokens: 300 + world.below(5_000), cost: world.below(9) }
    : { tokens: 0, cost: 0 }
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
  if (attempt > 3)
    return endJob(world, job.id, { status: 'failed', error: 'model_failed: timeout' })
  const not_before = new Date(world.now.getTime() + world.of([2_000, 30_000, 300_000]))
  saveStep(world, step, { state: 'ready', attempt, not_before })
  saveJob(world, job.id, { model_calls: job.model_calls - 1 })
  // As a claim of the same moment would find it: the loop itself must wait.
  if (world.next() < 0.5) world.work.set(job.id, not_before)
}

const invalid = (world: World, jobId: string) => {
  const { invalid_answers } = saveJob(world, jobId, {
    invalid_answers: world.jobs.get(jobId)!.invalid_answers + 1,
  })
  if (invalid_answers >= MOST_INVALID)
    endJob(world, jobId, { status: 'failed', error: 'model_invalid' })
}

const accept = (
  world: World,
  run: Extract<Run, { kind: 'think' }>,
  answered: Step,
  calls: readonly (Called & { id: string })[],
) => {
  let usable = 0
  const { taint } = world.jobs.get(run.job)!
  for (const [index, call] of calls.entries()) {
    hold(world, index < MOST_CALLS, 'more calls than an answer may make')
    const checked = checkedCall(world, run, call)
    const made = {
      kind: 'tool' as const,
      name: call.name,
      call: call.id,
      asked: call.arguments,
      of_step: answered.number,
    }
    if (typeof checked === 'string') {
      addStep(world, run.job, {
        ...made,
        state: 'failed',
        error: checked,
        result: { text: checked },
        ended_at: world.now,
      })
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
  const equal = stepsOf(world, job.id).filter(
    ({ name, args_hash }) => name === made.name && args_hash === made.args_hash,
  )
  const isRepeat = equal.some(({ state }) => state === 'unknown')
  const may = mayRun(made.name, role)
  const verdict = verdictOf({
    class: tool.class,
    offered: true,
    mayRun: may,
    taint,
    rule: world.rules.get(made.name),
    isRepeat,
  })
  count(world, `verdict ${verdict.decision}`)
  hold(
    world,
    may || verdict.decision !== 'allow',
    `${made.name} is allowed, which a ${role} may not do`,
  )
  const state =
    verdict.decision === 'allow' ? 'ready' : verdict.decision === 'ask' ? 'asked' : 'failed'
  const refused =
    verdict.decision === 'deny'
      ? { error: verdict.reason, result: { text: verdict.reason }, ended_at: world.now }
      : {}
  const step = addStep(world, job.id, {
    ...made,
    kind: 'tool',
    state,
    class: tool.class,
    ...refused,
  })
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
    id,
    job_id: job.id,
    step_id: step.id,
    conversation_id: null,
    goal: job.goal,
    tool_name: made.name,
    summary: '',
    arguments: made.args!,
    why: verdict.why,
    arguments_hash: made.args_hash!,
    subject: subjectOf(world, made.args!),
    status: 'pending',
    decided_by: null,
    decided_how: null,
    direct_by: null,
    reason: null,
    edited: false,
    expires_at: new Date(world.now.getTime() + APPROVAL_MS),
    decided_at: null,
    created_at: world.now,
    updated_at: world.now,
  })
}

const settleTools = (world: World, run: Extract<Run, { kind: 'tools' }>) => {
  for (const id of run.steps) {
    const step = world.steps.get(id)!
    if (step.state !== 'running') continue
    world.work.set(run.job, world.now)
    const tool = tools.get(step.name)!
    const role = world.people.get(world.jobs.get(run.job)!.on_behalf.personId!) ?? 'viewer'
    if (world.next() < 0.5 && step.class === 'outside_write')
      saveStep(world, step, { state: 'unknown', ended_at: world.now })
    else if (world.next() < 0.1)
      saveStep(world, step, {
        state: 'failed',
        error: 'x',
        result: { text: 'x' },
        ended_at: world.now,
      })
    else if (tool.way === 'reach' && approvalOf(world, id))
      execute(world, saveStep(world, step, {}), role)
    else finish(world, step)
  }
}
