/** What a claim changes of a job when it begins something beside the mailbox. Pure. */
import type { AgentLimitKey } from '#contract/limits'
import type { PlanUsage } from '../../app/plan.ts'
import type { Approval } from './approval.ts'
import { type CallReservation, exhaustedNotice } from './budget.ts'
import {
  addStep,
  endStep,
  goOn,
  type JobChange,
  putStep,
  setJob,
  taintJob,
  tellStarted,
} from './change.ts'
import { endAsFailed } from './ending.ts'
import { NO_MODEL } from './model-choice.ts'
import type { Step } from './step.ts'
import { refuseCall } from './tool-answer.ts'

export const beginJob = (change: JobChange): JobChange =>
  setJob(change, { status: 'running', started_at: change.job.started_at ?? change.facts.now })

/** Billing is in order, or needs not be. */
const release = (change: JobChange): JobChange =>
  change.job.held_since === null ? change : setJob(change, { error: null, held_since: null })

interface Reserving {
  /** The step, if it was tried before. */
  before: Step | undefined
  kind: 'model' | 'summary'
  name: string
  /** Undefined: the call costs nothing. */
  reserved: CallReservation | undefined
}

/**
 * The step of a call of the model. One that was tried before keeps what its dead calls had reserved
 * as spent: its reservation is replaced, never given back.
 */
const beginCall = (
  change: JobChange,
  { before, kind, name, reserved }: Reserving,
): { change: JobChange; step: Step } => {
  const { tokens = 0, cost = 0, spend = [], day, month } = reserved ?? {}
  const { reserved_tokens, reserved_cost } = change.job
  const taken = {
    state: 'running' as const,
    started_at: change.facts.now,
    reserved_tokens: tokens,
    reserved_cost: cost,
    ...(reserved && { day, month }),
  }
  const paid = setJob(
    { ...change, spend: [...change.spend, ...spend] },
    { reserved_tokens: reserved_tokens + tokens, reserved_cost: reserved_cost + cost },
  )
  if (before) {
    const begun = putStep(paid, { ...before, ...taken, not_before: null })
    return { change: begun, step: begun.steps.at(-1)! }
  }
  const begun = addStep(paid, { kind, name, ...taken })
  return { change: begun, step: begun.added.at(-1)! }
}

export interface ThoughtToBegin {
  /** The step, if it was tried before. */
  before: Step | undefined
  /** A summary that was tried before, and is not wanted any more. */
  dropped: Step | undefined
  byDesk: boolean
  /** Undefined: it costs nothing. The key of a budget: it is used up. */
  reserved: CallReservation | AgentLimitKey | undefined
  /** Where words of people outside come from that it is given. */
  sources: readonly string[]
  usage: PlanUsage
}

/** Without a step the job is over: its budget is not enough. */
export const beginThought = (
  job: JobChange,
  { before, dropped, byDesk, reserved, sources, usage }: ThoughtToBegin,
): { change: JobChange; step: Step | undefined } => {
  const begun = beginJob(release(job))
  const clean = dropped ? endStep(begun, { ...dropped, state: 'cancelled' }) : begun
  const change = taintJob(clean, sources)
  if (typeof reserved === 'string') {
    const notice = exhaustedNotice(usage, reserved)
    const over = endAsFailed(change, `budget_exhausted:${reserved}`, notice)
    return { change: over, step: undefined }
  }
  const { model, model_calls } = change.job
  const call = beginCall(change, { before, kind: 'model', name: model, reserved })
  const counted = setJob(call.change, { model_calls: model_calls + 1 })
  return { change: tellStarted(counted, call.step, byDesk ? NO_MODEL : model), step: call.step }
}

export const beginSummary = (
  job: JobChange,
  { before, name, reserved }: Omit<Reserving, 'kind'>,
): { change: JobChange; step: Step } => {
  const call = { before, kind: 'summary', name, reserved } as const
  const { change, step } = beginCall(beginJob(release(job)), call)
  return { change: tellStarted(change, step, 'Summarise earlier messages'), step }
}

export interface CallToBegin {
  step: Step
  /** Of the tool, for people. */
  title: string
  /** Why it must not be made. */
  error: string | undefined
  stale?: Approval | undefined
}

/** Of calls of tools those that run, as they are now. Without any the job goes on. */
export const beginCalls = (
  job: JobChange,
  calls: readonly CallToBegin[],
): { change: JobChange; steps: Step[] } => {
  const change = calls.reduce((before, { step, title, error, stale }) => {
    if (error !== undefined) return refuseCall(before, { step, error, stale })
    const running: Step = { ...step, state: 'running', started_at: before.facts.now }
    return tellStarted(putStep(before, running), running, title)
  }, beginJob(job))
  const steps = change.steps.filter(({ state }) => state === 'running')
  return { change: steps.length === 0 ? goOn(change) : change, steps }
}
