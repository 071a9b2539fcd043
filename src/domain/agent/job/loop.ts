/**
 * Decides what a job does next. Pure: this function is the loop of the agent; each claim of the
 * job's row of work calls it.
 */
import { CHILD_MS } from './delegation.ts'
import { isOver, type Job } from './job.ts'
import { jobLimits, nextPoll } from './limits.ts'
import { idleRounds } from './rounds.ts'
import { isFinished, type StepHead } from './step.ts'

export type JobEnd = { status: 'completed' | 'failed' | 'cancelled'; error: string | null }

/**
 * `end`: it is over. `execute`: a command, in this letter. `look`: at the record that a step waits
 * for. `give_up`: a child that a step has waited for too long. `read`, `reach`, `urgent`,
 * `outside`: beside the mailbox, of these steps. `think`: the model is called, or the summary that
 * it needs is made; `step`: the one that goes on; `last`: it must conclude. `park`: nothing can be
 * done until then.
 */
export type Next =
  | { kind: 'end'; end: JobEnd }
  | { kind: 'execute'; step: StepHead }
  | { kind: 'look'; step: StepHead }
  | { kind: 'give_up'; step: StepHead }
  | { kind: 'read'; steps: StepHead[] }
  | { kind: 'reach'; step: StepHead }
  | { kind: 'urgent'; step: StepHead }
  | { kind: 'outside'; step: StepHead }
  | { kind: 'think'; step: StepHead | undefined; last: boolean }
  | { kind: 'park'; until: Date; status: 'running' | 'waiting_approval' | 'waiting_child' }

export interface LoopBounds {
  /** Calls of the model of a root and all jobs below it; -1: as many as any job may have. */
  mostSteps: number
  /** The model calls made so far. */
  treeCalls: number
}

const failed = (error: string): Next => ({ kind: 'end', end: { status: 'failed', error } })

/** In the model's order: the first unfinished step decides, and adjacent reads run together. */
export const nextOf = (
  job: Job,
  heads: readonly StepHead[],
  bounds: LoopBounds,
  now: Date,
): Next => {
  if (isOver(job))
    return { kind: 'end', end: { status: job.status as JobEnd['status'], error: job.error } }
  const open = heads.filter((step) => step.kind === 'tool' && !isFinished(step))
  const [first] = open
  // An executable command runs whatever time is left, because people wait for what they approved.
  if (first?.state === 'ready' && first.way === 'command' && isDue(first, now))
    return { kind: 'execute', step: first }
  if (job.active_ms >= jobLimits.activeMs) return failed('deadline')
  if (first) return nextTool(open, now)
  return job.kind === 'action' ? endOfAction(heads) : nextThought(job, heads, bounds, now)
}

/** A direct call ends with its one step. */
const endOfAction = (heads: readonly StepHead[]): Next => {
  const state = heads.at(-1)?.state ?? 'failed'
  if (state === 'done') return { kind: 'end', end: { status: 'completed', error: null } }
  return failed(state === 'failed' ? 'capability_failed' : state)
}

const isDue = ({ not_before }: StepHead, now: Date): boolean => !not_before || not_before <= now

const nextTool = (open: readonly StepHead[], now: Date): Next => {
  const step = open[0]!
  if (step.state === 'asked')
    return step.expires_at && step.expires_at <= now
      ? failed('approval_expired')
      : parked(open, now)
  if (step.state === 'waiting')
    return step.awaits_kind === 'child' ? waiting(open, now) : { kind: 'look', step }
  if (!isDue(step, now)) return parked(open, now)
  if (step.way === 'read') return { kind: 'read', steps: readsOf(open, now) }
  return { kind: step.way === 'urgent' || step.way === 'outside' ? step.way : 'reach', step }
}

/** The end of the child wakes the job. */
const waiting = (open: readonly StepHead[], now: Date): Next => {
  const step = open[0]!
  return patienceOf(step, now) <= now ? { kind: 'give_up', step } : parked(open, now)
}

const patienceOf = ({ started_at }: StepHead, now: Date): Date =>
  new Date((started_at ?? now).getTime() + CHILD_MS)

const readsOf = (open: readonly StepHead[], now: Date): StepHead[] => {
  const end = open.findIndex(
    (step) => step.way !== 'read' || step.state !== 'ready' || !isDue(step, now),
  )
  return open.slice(0, Math.min(jobLimits.readsAtOnce, end === -1 ? open.length : end))
}

/**
 * Waits for the earliest change that time alone can bring. Changes by people or of records wake the
 * job by themselves.
 */
const parked = (open: readonly StepHead[], now: Date): Next => {
  const times = open.flatMap((step) => {
    if (step.state === 'asked') return step.expires_at ?? []
    if (step.awaits_kind === 'child') return patienceOf(step, now)
    if (step.state === 'waiting') return nextPoll(step.started_at ?? now, now)
    return step.state === 'ready' && step.not_before ? step.not_before : []
  })
  const until = new Date(Math.min(...times.flatMap((time) => (time > now ? time.getTime() : []))))
  return { kind: 'park', until, status: statusOf(open[0]!) }
}

const statusOf = ({ state, awaits_kind }: StepHead): Extract<Next, { kind: 'park' }>['status'] => {
  if (state === 'asked') return 'waiting_approval'
  return awaits_kind === 'child' ? 'waiting_child' : 'running'
}

/**
 * An answer in words has ended the job. After an unusable answer, the model is asked again. After
 * rounds that brought nothing new, it gets one more call, and must conclude with what was done and
 * found.
 */
const nextThought = (job: Job, heads: readonly StepHead[], bounds: LoopBounds, now: Date): Next => {
  const step = heads.findLast(({ kind }) => kind !== 'tool')
  const idle = idleRounds(heads)
  if (step?.state === 'ready')
    return isDue(step, now)
      ? thinking(job, step, { ...bounds, idle })
      : { kind: 'park', until: step.not_before!, status: 'running' }
  if (step?.state === 'failed' && step.kind === 'model') return failed('model_failed')
  const hasConcluded = idle === jobLimits.idleRounds && heads.at(-1)?.kind === 'model'
  return idle > jobLimits.idleRounds || hasConcluded
    ? failed(IN_CIRCLES)
    : thinking(job, undefined, { ...bounds, idle })
}

/** Why a job ended that brought nothing new and did not conclude. */
export const IN_CIRCLES = 'no_progress'

/**
 * A child leaves each job above it one model call, so that it can conclude with the child's answer.
 */
const thinking = (
  job: Job,
  step: StepHead | undefined,
  { mostSteps, treeCalls, idle }: LoopBounds & { idle: number },
): Next => {
  const most = mostSteps < 0 ? jobLimits.modelCalls : Math.min(mostSteps, jobLimits.modelCalls)
  const left = Math.min(most - treeCalls - job.depth, (job.most_steps ?? most) - job.model_calls)
  return left <= 0
    ? failed('max_steps')
    : { kind: 'think', step, last: left === 1 || idle >= jobLimits.idleRounds }
}
