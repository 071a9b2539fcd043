/** What must hold after an answer of the model, said without the functions under test. */
import type { KeptThought, ThinkFailure } from '#domain/agent/job/answer'
import type { Job } from '#domain/agent/job/job'
import type { AcceptedCall } from '#domain/agent/job/model-answer'
import type { Step } from '#domain/agent/job/step'
import { bookOf, hold, note, stepsOf, type World } from './world.ts'

interface Answered {
  thought: KeptThought
  step: Step
  calls: readonly AcceptedCall[]
  foreign: readonly string[]
}

/** A job that is over has forgotten what it was to do. */
const after = (job: Job, state: string): string[] =>
  job.status === 'failed' ? [state, 'cancelled'] : [state]

export const checkThought = (
  world: World,
  before: Job,
  { thought, step: { id, number }, calls, foreign }: Answered,
) => {
  const job = world.jobs.get(before.id)!
  const step = world.steps.get(id)!
  const say = (holds: boolean, words: string) => hold(world, holds, `an answer: ${words}`)
  say(step.state === 'done' && step.answer?.text === thought.text, `its step is ${step.state}`)
  say(
    foreign.every((source) => job.taint.includes(source)),
    'its words of strangers are forgotten',
  )
  const made = stepsOf(world, job.id).filter(({ of_step }) => of_step === number)
  say(made.length === calls.length, `${made.length} of ${calls.length} calls are made`)
  for (const [index, { call, checked, judged }] of calls.entries()) {
    const { state, call: by, args } = made[index]!
    say(by === call.id, 'its calls are out of order')
    say(after(job, judged.state).includes(state), `a call to be ${judged.state} is ${state}`)
    say('error' in checked || args !== null, 'the arguments of a call are lost')
  }
  checkUsable(world, job, { thought, calls, say })
}

interface Usable extends Pick<Answered, 'thought' | 'calls'> {
  say(holds: boolean, words: string): void
}

/** Words end a job. Three answers in a row that cannot be used end it too. */
const checkUsable = (world: World, job: Job, { thought, calls, say }: Usable) => {
  const invalid = bookOf(world, job.id).invalid_answers
  if (calls.length === 0 && thought.text.trim() !== '')
    return say(job.status === 'completed', `words leave a job ${job.status}`)
  if (calls.some(({ checked }) => !('error' in checked))) {
    note(world, job.id, { invalid_answers: -invalid })
    return say(job.status === 'running', `calls leave a job ${job.status}`)
  }
  note(world, job.id, { invalid_answers: 1 })
  const isOver = job.status === 'failed' && job.error === 'model_invalid'
  say(isOver === invalid >= 2, `${invalid + 1} in vain leave a job ${job.status}`)
}

interface Failed {
  failure: ThinkFailure
  retryAfterMs: number | undefined
}

/** It is asked again after a pause, but not for ever, nor where time mends nothing. */
export const checkFailed = (
  world: World,
  { id, job_id, attempt }: Step,
  { failure, retryAfterMs = 0 }: Failed,
) => {
  const step = world.steps.get(id)!
  const job = world.jobs.get(job_id)!
  if (attempt >= 3 || failure === 'too_long') {
    const isOver = job.status === 'failed' && job.error?.startsWith('model_failed') === true
    hold(world, isOver && step.state === 'failed', `a job is ${job.status} without an answer`)
    return
  }
  note(world, job_id, { model_calls: -1 })
  const wait = +step.not_before! - +world.now
  const least = Math.min(300_000, retryAfterMs)
  const isResting = step.state === 'ready' && wait >= Math.max(2_000, least) && wait <= 300_000
  hold(world, isResting, `a call that failed is ${step.state} for ${wait} ms`)
  hold(world, +world.work.get(job_id)! === +step.not_before!, 'it is not due when its call is')
}

/** Each job ends with words for those who asked. */
export const checkWords = (world: World) => {
  for (const job of world.jobs.values()) {
    const said = [...world.messages.values()].filter(({ job_id }) => job_id === job.id)
    const isHeard = job.conversation_id !== null && ['completed', 'failed'].includes(job.status)
    hold(
      world,
      said.length === (isHeard ? 1 : 0),
      `a job that is ${job.status} says ${said.length}`,
    )
    for (const { role, untrusted } of said) {
      const expected = job.status === 'completed' ? 'assistant' : 'notice'
      hold(world, role === expected, `a job that is ${job.status} says a ${role}`)
      hold(world, untrusted === job.taint.length > 0, 'words of strangers are not marked')
    }
    if (job.conversation_id === null && job.status === 'completed')
      hold(world, job.output !== null, 'the words of a child are lost')
  }
}
