/** What becomes of a run. */
import { type KeptThought, keptAnswer, type ThinkFailure } from '#domain/agent/job/answer'
import type { Step } from '#domain/agent/job/step'
import { type Given, settledLate } from '#domain/agent/job/tool-answer'
import { stepMessages } from '#domain/agent/job/transcript'
import { stepOf } from '#domain/agent/job/transition'
import type { Role } from '#kernel/roles'
import { requireComplete } from '#test/support/model/scripted-model'
import { answerOf, judgeCalls, noteJudged } from './answer.ts'
import { execute, resultOf } from './calls.ts'
import { type At, answer, letterOf, stepsIn, write } from './letter.ts'
import { checkAnswer, checkSettled, priceOf, timeOf } from './money.ts'
import { isOver } from './rules.ts'
import { checkFailed, checkThought } from './rules-of-answers.ts'
import { checkTranscript, checkUse } from './rules-of-calls.ts'
import { checkStopped } from './rules-of-interruptions.ts'
import { forms, tools } from './tools.ts'
import {
  count,
  hold,
  note,
  type Run,
  stepsOf,
  type Thinking,
  threadOf,
  type World,
} from './world.ts'

/** `last`: the model says one last thing and calls nothing. `stops`: the process does. */
interface Way {
  last?: boolean
  stops?: boolean
}

export const settle = (world: World, run: Run, { last = false, stops = false }: Way = {}) => {
  const at = letterOf(world, run.job)
  if (isOver(at.job)) return settleLate(world, run)
  const steps = stepsIn(
    world,
    run.steps.map((id) => ({ id })),
  ).filter(({ state }) => state === 'running')
  const [step] = steps
  if (!step) return answer(world, at, { kind: 'nothing' })
  if (stops) return stop(world, at, run, steps)
  if (run.kind === 'tools') return settleTools(world, at, run, steps)
  if (run.kind !== 'think') return settleSummary(world, at, step, last)
  // What has failed often fails again.
  if (!last && world.next() < (step.attempt > 0 ? 0.5 : 0.07)) return fail(world, at, step)
  settleThought(world, at, { run, step, last })
}

const stop = (world: World, at: At, { kind, job }: Run, steps: readonly Step[]) => {
  const isThought = kind === 'think'
  if (isThought) note(world, job, { model_calls: -1 })
  // Nothing was on the wire yet.
  world.uses = world.uses.filter((id) => !steps.some((step) => step.id === id))
  answer(world, at, { kind: 'stopped', steps, isThought })
  checkStopped(world, steps)
  count(world, 'stopped')
}

/** The job was cancelled meanwhile: what became of a call outside is still written down. */
const settleLate = (world: World, { kind, steps: [id] }: Run) => {
  const step = world.steps.get(id!)!
  if (kind !== 'tools' || tools.get(step.name)!.way !== 'outside') return
  const given = givenBy(world, step)
  const late = settledLate(step, { forms, given, now: world.now })
  const isKnown = step.state === 'unknown' && !('unknown' in given)
  hold(world, (late !== undefined) === isKnown, `a late answer to a step that is ${step.state}`)
  if (!late) return
  count(world, 'settled late')
  world.late.add(step.id)
  world.steps.set(step.id, late)
  hold(world, late.state === ('value' in given ? 'done' : 'failed'), `${late.state}, being late`)
}

/** The model is given all that its job has done. */
const checkShown = (world: World, job: string) => {
  const steps = stepsOf(world, job)
  const messages = stepMessages(steps)
  try {
    requireComplete({ messages } as never)
  } catch (cause) {
    hold(world, false, `a transcript is not complete: ${cause}`)
  }
  checkTranscript(world, steps, messages)
  const { handles } = threadOf(world, world.jobs.get(job)!)
  for (const { result } of steps.filter(({ state }) => state === 'done'))
    for (const [name] of result?.text.matchAll(/record:\d+/g) ?? [])
      hold(world, name in handles, `${name} is the name of nothing`)
}

const usedBy = ({ usage }: KeptThought) =>
  usage && {
    tokens: usage.input_tokens + usage.output_tokens,
    cost: priceOf({ input: usage.input_tokens, output: usage.output_tokens }),
  }

/** What a call of the model that has an answer has cost. */
const pay = (world: World, step: Step, thought: KeptThought, ms: number) => {
  const used = usedBy(thought)
  note(world, step.job_id, {
    input_tokens: thought.usage?.input_tokens ?? 0,
    output_tokens: thought.usage?.output_tokens ?? 0,
    cost: used?.cost ?? 0,
    active_ms: ms,
  })
  return { byDesk: false, ms, priceOf, check: () => checkSettled(world, step, used) }
}

interface Thought {
  run: Thinking
  step: Step
  last: boolean
}

const settleThought = (world: World, at: At, { run, step, last }: Thought) => {
  const { job, heads, facts } = at
  checkShown(world, job.id)
  const given = last
    ? { ...answerOf(world, job, true), calls: [], text: 'Done.' }
    : answerOf(world, job, run.last)
  const thought = keptAnswer(given, 'm')
  checkAnswer(world, given, thought)
  const foreign = world.next() < 0.02 ? ['the answer'] : []
  const judging = { run, job, taint: [...new Set([...job.taint, ...foreign])] }
  const calls = judgeCalls(world, judging, thought.calls)
  const { check, ...paid } = pay(world, step, thought, world.of([500, 20_000, 80_000, 400_000]))
  const usage = { ...world.usage, now: world.now }
  const more = { step, calls, heads, foreign, goal: job.goal, publicUrl: 'https://example.com' }
  const words = { typed: job.goal, memoryIds: [], playbooks: [] }
  const change = stepOf(job, { kind: 'thought', thought, usage, ...paid, ...more, ...words }, facts)
  for (const one of change.added) noteJudged(world, judging, one)
  write(world, at, change)
  check()
  checkThought(world, job, { thought, step, calls, foreign })
}

/** It fails for good, or is kept: either way the job thinks next. */
const settleSummary = (world: World, at: At, step: Step, last: boolean) => {
  const { id: conversationId } = at.facts.thread!
  const isKept = last || world.next() < 0.7
  if (!isKept) return failSummary(world, at, step)
  const from = world.summarised.get(conversationId) ?? 0
  // Another job has meanwhile summarised it.
  const isBeaten = world.next() < 0.1
  const usage = { input_tokens: 300 + world.below(5_000), cached_tokens: 0, output_tokens: 9 }
  const text = world.next() < 0.9 ? 'It was said.' : ' '
  const thought = keptAnswer({ text, calls: [], ending: 'whole', model: 'm', usage }, 'm')
  const { check, ...paid } = pay(world, step, thought, 500)
  answer(world, at, {
    kind: 'summary',
    step,
    thought,
    ...paid,
    usage: { ...world.usage, now: world.now },
    span: { conversationId, from: isBeaten ? from - 1 : from, to: from + 1 },
    summarisedTo: from,
    untrusted: false,
    room: 10_000,
  })
  check()
  const { state } = world.steps.get(step.id)!
  hold(world, state === (text === ' ' ? 'failed' : 'done'), `a summary is ${state}`)
  const isNew = world.summarised.get(conversationId) === from + 1
  hold(world, isNew === (state === 'done' && !isBeaten), 'a summary is not kept')
  count(world, `summary ${state}`)
}

const failures: readonly ThinkFailure[] = [
  'timeout',
  'broken',
  'rate_limited',
  'busy',
  'unreachable',
  'provider_error',
  'too_long',
]

/** A failed call costs nothing, unless the provider may have counted what it delivered. */
const failing = (world: World, step: Step) => {
  const failure = world.of(failures)
  const ms = world.of([500, 20_000])
  note(world, step.job_id, { active_ms: ms })
  const isCounted = failure === 'timeout' || failure === 'broken'
  const used = isCounted ? undefined : { tokens: 0, cost: 0 }
  return { failure, ms, check: () => checkSettled(world, step, used) }
}

const failSummary = (world: World, at: At, step: Step) => {
  const { check, ...failed } = failing(world, step)
  answer(world, at, { kind: 'no summary', step, retryAfterMs: undefined, ...failed })
  check()
  hold(world, world.steps.get(step.id)!.state === 'failed', 'a summary that failed goes on')
  count(world, 'summary failed')
}

const fail = (world: World, at: At, step: Step) => {
  const { check, ...failed } = failing(world, step)
  const retryAfterMs = world.of([undefined, 60_000, 900_000])
  answer(world, at, { kind: 'no thought', step, retryAfterMs, ...failed })
  check()
  checkFailed(world, step, { ...failed, retryAfterMs })
  // As a claim of the same moment would find it: the loop itself must wait.
  if (world.work.has(step.job_id) && world.next() < 0.5) world.work.set(step.job_id, world.now)
}

/** What a tool gives beside the mailbox. */
const givenBy = (world: World, step: Step): Given => {
  if (step.class === 'outside_write' && world.next() < 0.5) return { unknown: true }
  if (world.next() < 0.1) return { error: 'x' }
  return { value: resultOf(world, world.jobs.get(step.job_id)!, step) }
}

const settleTools = (world: World, at: At, run: Run, steps: readonly Step[]) => {
  const [step] = steps
  const role = world.people.get(at.job.on_behalf.personId!) ?? 'viewer'
  const { way } = tools.get(step!.name)!
  if (way === 'urgent') return settleUrgent(world, at, step!, run.role)
  if (way === 'reach') return execute(world, at, step!, role)
  const all = steps.map((one) => ({ step: one, given: givenBy(world, one) }))
  for (const { step: one, given } of all)
    if (!('unknown' in given))
      note(world, run.job, { tool_calls: 1, active_ms: timeOf(world, one) })
  answer(world, at, { kind: 'given', forms, all })
  for (const { step: one, given } of all) checkGiven(world, one, given)
}

/** The letter of its own that an urgent tool has: the job's row of work is for the next one. */
const settleUrgent = (world: World, at: At, step: Step, role: Role) => {
  const { job, facts } = at
  checkUse(world, step, role)
  note(world, job.id, { tool_calls: 1, active_ms: timeOf(world, step) })
  const carried = { value: resultOf(world, job, step) }
  const change = stepOf(job, { kind: 'carried out', step, forms, carried }, facts)
  write(world, at, { ...change, due: undefined })
  if (world.next() < 0.8) answer(world, letterOf(world, job.id), { kind: 'nothing' })
}

const checkGiven = (world: World, { id, job_id, number, name }: Step, given: Given) => {
  const { state } = world.steps.get(id)!
  const expected = 'unknown' in given ? 'unknown' : 'error' in given ? 'failed' : 'done'
  hold(world, state === expected, `${name} gave what makes its step ${state}`)
  const audits = world.audited.filter((one) => one === `${job_id} ${number}`).length
  hold(world, audits === (tools.get(name)!.server ? 1 : 0), `${name} is ${audits} times audited`)
}
