/** What becomes of steps that were begun or claimed, and did not end. */
import { anew, STEP_RUNS, type Step, type StepHead } from '#domain/agent/step'
import { stepPart } from '#store/agent/steps'
import { loadNow } from '#store/engine/load'
import { type At, again, over } from './at.ts'
import { failTool } from './execute.ts'
import { callOffBelow } from './family.ts'

/** Said of a tool that was tried in vain. */
export const IN_VAIN = 'tool_failed: it failed three times'
/** Said of one that was carried out. */
export const UNREADABLE = 'tool_failed: it was called, and its result could not be read'

/**
 * Their process died, or their claim failed: they are tried again after a pause, except what may have gone out, which never is. A tool that
 * was tried in vain has failed, and its job goes on, as it does without a summary; without a thought there is nothing to go on with.
 */
export const tryAgain = async (at: At, heads: readonly StepHead[], { error, pauseMs = 0 }: { error: string; pauseMs?: number }) => {
  const { changes, gate } = at
  const runAt = new Date(gate.now.getTime() + pauseMs)
  const not_before = pauseMs > 0 ? runAt : null
  let isGivenUp = false
  for (const { id } of heads) {
    const { step } = await loadNow(at.sql, { step: stepPart(id) })
    if (!step) continue
    const last = { ...step, attempt: step.attempt + 1 }
    if (step.state === 'running' && step.class === 'outside_write') endStep(at, last, 'unknown')
    else if (last.attempt < STEP_RUNS) changes.save({ ...anew(step, error, gate.now), not_before })
    else if (step.kind === 'tool') failInVain(at, last)
    else {
      endStep(at, { ...last, error }, 'failed')
      isGivenUp = step.kind === 'model'
    }
  }
  return isGivenUp ? over(at, { kind: 'end', end: { status: 'failed', error: 'enqueue_failed' } }) : again(at, runAt)
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
