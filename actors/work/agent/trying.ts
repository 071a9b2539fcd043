/** What becomes of steps that were begun or claimed, and did not end. */
import { anew, STEP_RUNS, type Step, type StepHead } from '#domain/agent/job/step'
import { stepPart } from '#store/agent/steps'
import { loadNow } from '#store/engine/load'
import { type At, again, over } from './at.ts'
import { callOffBelow } from './family.ts'
import { failTool } from './tool-result.ts'

/** Said of a tool that was tried in vain. */
export const IN_VAIN = 'tool_failed: it failed three times'
/** Said of one that was carried out. */
export const UNREADABLE = 'tool_failed: it was called, and its result could not be read'

/**
 * Their process died: they are tried again, except what may have gone out, which never is; and
 * given up after the third time.
 */
export const tryAgain = async (at: At, heads: readonly StepHead[]) => {
  const { changes, gate } = at
  let isOver = false
  for (const { id } of heads) {
    const { step } = await loadNow(at.sql, { step: stepPart(id) })
    if (!step) continue
    const last = { ...step, attempt: step.attempt + 1 }
    if (last.attempt < STEP_RUNS && !mayBeOut(step))
      changes.save({ ...anew(step, 'enqueue_failed', gate.now), not_before: null })
    else isOver = endInVain(at, last, 'enqueue_failed') || isOver
  }
  return goingOn(at, isOver)
}

/** They have failed in vain. */
export const giveUp = async (at: At, heads: readonly StepHead[]) => {
  let isOver = heads.length === 0
  for (const { id } of heads) {
    const { step } = await loadNow(at.sql, { step: stepPart(id) })
    if (step) isOver = endInVain(at, step, 'tool_failed') || isOver
  }
  return goingOn(at, isOver)
}

const goingOn = (at: At, isOver: boolean) =>
  isOver
    ? over(at, { kind: 'end', end: { status: 'failed', error: 'enqueue_failed' } })
    : again(at, at.gate.now)

const mayBeOut = ({ state, class: of }: Step): boolean =>
  state === 'running' && of === 'outside_write'

/**
 * A tool has failed, and its job goes on, as it does without a summary. True: without a thought
 * there is nothing to go on with.
 */
const endInVain = (at: At, step: Step, error: string): boolean => {
  if (mayBeOut(step)) endStep(at, step, 'unknown')
  else if (step.kind === 'tool') failInVain(at, step)
  else endStep(at, { ...step, error }, 'failed')
  return step.kind === 'model'
}

/** A child has not ended in time: it is called off, and its parent goes on without an answer. */
export const giveUpChild = async (at: At, { id }: StepHead): Promise<void> => {
  const { step } = await loadNow(at.sql, { step: stepPart(id) })
  const { active_ms } = at.changes.job
  callOffBelow(at)
  failTool(at, step!, 'the sub-agent did not end within 24 hours, and was called off')
  at.changes.set({ active_ms })
}

const endStep = ({ changes, gate }: At, step: Step, state: Step['state']): void =>
  changes.endedStep(changes.save({ ...step, state, ended_at: gate.now }))

/** How long it took in all is not the job's time. */
export const failInVain = (at: At, step: Step): void => {
  const { active_ms } = at.changes.job
  failTool(at, step, step.state === 'waiting' ? UNREADABLE : IN_VAIN)
  at.changes.set({ active_ms })
}
