/** What time, a stop or a death does to a job: nobody has answered. Pure. */

import { HELD_MS, nextHeldTry } from '../../app/held.ts'
import { heldText } from '../channel/answer.ts'
import { endStep, goOn, type JobChange, putStep, setJob, tell } from './change.ts'
import { endAsFailed, endJob } from './ending.ts'
import type { JobEnd, Next } from './loop.ts'
import { anew, STEP_RUNS, type Step } from './step.ts'
import { afterWaiting, failCall, failInVain } from './tool-answer.ts'

/** Nothing can be done until then. `tells`: what is said where the job came from. */
type Parked = Extract<Next, { kind: 'park' }> & { tells?: string | undefined }

/**
 * `nothing`: it is looked at again then. `died`: their process. `in vain`: their letters have
 * failed as often as they may. `stopped`: in good order, before there was an answer. `late child`:
 * it has not ended in time. `unpaid`: why no model may be called.
 */
export type Interruption =
  | { kind: 'nothing'; until?: Date }
  | { kind: 'end'; end: JobEnd; notice?: string | undefined }
  | Parked
  | { kind: 'died'; steps: readonly Step[] }
  | { kind: 'in vain'; steps: readonly Step[] }
  | { kind: 'call in vain'; step: Step }
  | { kind: 'stopped'; steps: readonly Step[]; isThought: boolean }
  | { kind: 'late child'; step: Step }
  | { kind: 'unpaid'; why: string }

const park = (before: JobChange, { until, status, tells }: Parked): JobChange => {
  const change = goOn(setJob(before, { status }), until)
  return { ...change, tells, givesWay: status !== 'running' }
}

const mayBeOut = ({ state, class: of }: Step): boolean =>
  state === 'running' && of === 'outside_write'

/** Without a thought there is nothing to go on with. */
const goOnWithout = (change: JobChange, steps: readonly Step[]): JobChange =>
  steps.some(({ kind }) => kind === 'model') ? endAsFailed(change, 'enqueue_failed') : goOn(change)

/** A tool has failed, and its job goes on, as it does without a summary. */
const endInVain = (change: JobChange, step: Step, error: string): JobChange => {
  if (mayBeOut(step)) return endStep(change, { ...step, state: 'unknown' })
  return step.kind === 'tool'
    ? failInVain(change, step)
    : endStep(change, { ...step, state: 'failed', error })
}

const DIED = 'enqueue_failed'

/**
 * The process of these steps died: they are tried again, except what may have gone out, which never
 * is; and given up after the third time.
 */
const tryAgain = (before: JobChange, steps: readonly Step[]): JobChange => {
  const isLast = (step: Step) => step.attempt + 1 >= STEP_RUNS || mayBeOut(step)
  const change = steps.reduce(
    (to, step) =>
      isLast(step)
        ? endInVain(to, { ...step, attempt: step.attempt + 1 }, DIED)
        : putStep(to, { ...anew(step, DIED, to.facts.now), not_before: null }),
    before,
  )
  return goOnWithout(change, steps.filter(isLast))
}

/** Letters about these steps have failed in vain; without any, nobody knows about what. */
const giveUp = (before: JobChange, steps: readonly Step[]): JobChange => {
  if (steps.length === 0) return endAsFailed(before, 'enqueue_failed')
  const change = steps.reduce((to, step) => endInVain(to, step, 'tool_failed'), before)
  // Nobody would wait for the child of a step that has failed.
  const callsOffBelow = steps.some(({ state }) => state === 'waiting')
  return goOnWithout({ ...change, callsOffBelow }, steps)
}

/** A child has not ended in time: it is cancelled, and its parent goes on without an answer. */
const giveUpChild = (before: JobChange, step: Step): JobChange => {
  const error = 'the sub-agent did not end within 24 hours, and was called off'
  const change = afterWaiting(before, failCall(before, step, error))
  return goOn({ ...change, callsOffBelow: true })
}

/** An orderly stop is no death: the steps stay as they were. */
const undo = (
  before: JobChange,
  { steps, isThought }: { steps: readonly Step[]; isThought: boolean },
): JobChange => {
  const change = steps.reduce((to, step) => putStep(to, { ...step, state: 'ready' }), before)
  const { model_calls } = change.job
  return goOn(isThought ? setJob(change, { model_calls: model_calls - 1 }) : change)
}

/**
 * The next call of a model may not be paid for: the job waits as a row, goes on once billing is in
 * order, or fails in time. Its conversation goes on with what needs no model.
 */
const hold = (before: JobChange, why: string): JobChange => {
  const { held_since, status, error } = before.job
  const since = held_since ?? before.facts.now
  if (before.facts.now.getTime() - since.getTime() >= HELD_MS) return endAsFailed(before, why)
  const held = setJob(before, { status: 'queued', error: why, held_since: since })
  const isNews = status === 'queued' && error !== why
  const news = { type: 'job.status', data: { status, error: why } } as const
  const change = goOn(isNews ? tell(held, news) : held, nextHeldTry(since, before.facts.now))
  return held_since === null
    ? { ...change, tells: heldText(change.job, heldNotice(why)), givesWay: true }
    : change
}

const heldNotice = (why: string): string =>
  `This waits, because the workspace's billing is not in order (${why}). It goes on by itself once billing is in order, and is given up after a week.`

export const interrupt = (job: JobChange, by: Interruption): JobChange => {
  switch (by.kind) {
    case 'nothing':
      return goOn(job, by.until)
    case 'end':
      return endJob(job, by.end, by.notice)
    case 'park':
      return park(job, by)
    case 'died':
      return tryAgain(job, by.steps)
    case 'in vain':
      return giveUp(job, by.steps)
    case 'call in vain':
      return goOn(failInVain(job, by.step))
    case 'stopped':
      return undo(job, by)
    case 'late child':
      return giveUpChild(job, by.step)
    case 'unpaid':
      return hold(job, by.why)
  }
}
