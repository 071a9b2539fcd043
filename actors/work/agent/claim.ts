/** Each claim of a job's row of work does one thing of the job: what `nextOf` says. */
import { kindsOfWork } from '#decisions/work'
import { agentLimit } from '#domain/agent/job/budget'
import { askerOf, type Job } from '#domain/agent/job/job'
import { BEHIND_MS, nextPoll } from '#domain/agent/job/limits'
import { IN_CIRCLES, type JobEnd, type Next, nextOf } from '#domain/agent/job/loop'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { circlesNotice } from '#domain/agent/job/rounds'
import type { StepHead } from '#domain/agent/job/step'
import { failJob } from '#store/agent/jobs'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Claimed } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { type At, answerJob, type Head, jobDecision } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { executeStep, lookAtStep } from './execute.ts'
import { openJob, stepsNow } from './open.ts'
import { type AgentRun, beginRun } from './run.ts'
import { waitingAnswer } from './telling.ts'
import { type NextThought, thoughtParts } from './thought.ts'

const settledWork = (work: Work): { decision: Decision<void> } => ({
  decision: { reply: undefined, effects: { settled: [work.id] } },
})

const withWays = (deps: Pick<AgentDeps, 'toolBox'>, heads: readonly Head[]): StepHead[] =>
  heads.map((head) => ({
    ...head,
    way:
      deps.toolBox().tools.get(head.name)?.way ??
      (head.class === 'outside_write' ? 'outside' : null),
  }))

const nextIn = (
  { job, gate, treeCalls }: Pick<At, 'job' | 'gate' | 'treeCalls'>,
  heads: readonly StepHead[],
): Next =>
  nextOf(job, heads, { mostSteps: agentLimit(gate, 'agent_max_steps'), treeCalls }, gate.now)

/**
 * What a thought depends on, if one probably comes next. It does not if the job's tree has used up
 * its calls, which are not known yet.
 */
const thoughtAhead = (deps: AgentDeps, gate: Gate) => (job: Job, found: readonly Head[]) => {
  const heads = withWays(deps, found)
  const next = heads.some(isRunning) ? undefined : nextIn({ job, gate, treeCalls: 0 }, heads)
  return next?.kind === 'think' ? thoughtParts(job, heads, next.step) : undefined
}

const isRunning = ({ state }: StepHead): boolean => state === 'running'

const endIn = (at: At, end: JobEnd) => answerJob(at, { kind: 'end', end })
const later = ({ gate }: At, ms: number): Date => new Date(gate.now.getTime() + ms)

export const claimJob = async (
  deps: AgentDeps,
  sql: Sql,
  gate: Gate,
  work: Work,
): Promise<Claimed<AgentRun>> => {
  const opened = await openJob(deps, { sql, gate, work }, thoughtAhead(deps, gate))
  if (!opened) return settledWork(work)
  const { at, ahead } = opened
  const { job } = at
  if (at.isGone) return endIn(at, { status: 'failed', error: 'caller_gone' })
  if (gate.deletesAt && job.origin === 'automatic')
    return endIn({ ...at, channel: undefined }, { status: 'cancelled', error: null })
  if (job.status === 'queued' && at.isBehind)
    return answerJob(at, { kind: 'nothing', until: later(at, BEHIND_MS) })
  if (job.task && job.model === NO_MODEL) return answerJob(at, { kind: 'rules' })
  const heads = withWays(deps, at.heads)
  const dead = heads.filter(isRunning)
  if (dead.length > 0) return answerJob(at, { kind: 'died', steps: await stepsNow(at, dead) })
  const next = nextIn(at, heads)
  return carryOut(deps, at, heads, next.kind === 'think' ? { ...next, facts: ahead } : next)
}

/** The pause between two tries to call a server that is busy with another call. */
const SERVER_PAUSE_MS = 1_000

/** The pause before a parent checks again whether its child is still held by billing. */
const HELD_BELOW_MS = 3_600_000

/**
 * Its claims or its outcome have failed in vain. The step that was about to run is given up, and
 * the job goes on without it, or without a summary. Without a thought, or if this fails too, the
 * job ends.
 */
export const giveUpJob = async (
  deps: AgentDeps,
  sql: Sql,
  gate: Gate,
  work: Work,
): Promise<Decision<void>> => {
  const again = work.failures - kindsOfWork.agent.failures
  if (again > 1)
    return {
      reply: undefined,
      effects: { settled: [work.id], writes: [failJob(work.ref_id, gate.now)] },
    }
  const opened = await openJob(deps, { sql, gate, work })
  if (!opened) return settledWork(work).decision
  const { at } = opened
  if (at.isGone) return endIn(at, { status: 'failed', error: 'caller_gone' }).decision
  if (again > 0) return endIn(at, { status: 'failed', error: 'enqueue_failed' }).decision
  const heads = withWays(deps, at.heads)
  const dead = heads.filter(isRunning)
  const given = dead.length > 0 ? dead : headsOf(nextIn(at, heads))
  return answerJob(at, { kind: 'in vain', steps: await stepsNow(at, given) }).decision
}

const headsOf = (next: Next): StepHead[] =>
  'steps' in next ? next.steps : 'step' in next && next.step ? [next.step] : []

const carryOut = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  next: Exclude<Next, { kind: 'think' }> | NextThought,
): Promise<Claimed<AgentRun>> => {
  const { now } = at.gate
  switch (next.kind) {
    case 'end': {
      const notice = next.end.error === IN_CIRCLES ? circlesNotice(heads) : undefined
      return answerJob(at, { kind: 'end', end: next.end, notice })
    }
    case 'park': {
      const asks = at.job.status !== next.status && heads.some(({ state }) => state === 'asked')
      const { tells, effects = {} } = asks ? await waitingAnswer(deps, at) : {}
      return answerJob(at, { ...next, tells }, effects)
    }
    case 'execute':
      return executeStep(deps, at, next.step)
    case 'give_up': {
      // A job below this one that is held cannot end in time.
      if (at.below?.some(({ held_since }) => held_since !== null))
        return answerJob(at, { kind: 'nothing', until: later(at, HELD_BELOW_MS) })
      const [step] = await stepsNow(at, [next.step])
      return answerJob(at, { kind: 'late child', step: step! })
    }
    case 'look': {
      const settled = await lookAtStep(deps, at, next.step)
      return answerJob(
        at,
        settled ?? { kind: 'nothing', until: nextPoll(next.step.started_at ?? now, now) },
      )
    }
    default: {
      const begun = await beginRun(deps, at, heads, next)
      if (begun === 'busy')
        return answerJob(at, { kind: 'nothing', until: later(at, SERVER_PAUSE_MS) })
      const { change, run, effects = {} } = begun
      const decided = jobDecision(at, change, effects)
      const asker = askerOf(at.job.on_behalf)
      return run ? { job: run, place: placeOf(at, run), asker, ...decided } : decided
    }
  }
}

/**
 * A command, whether typed or called directly, does not wait for model calls. A command that only
 * the database answers, such as the kill switch, does not wait for other calls either.
 */
const placeOf = ({ job }: At, { kind }: AgentRun): 'typed' | 'brief' | undefined => {
  if (!job.typed && job.kind !== 'action') return undefined
  return kind === 'reach' || kind === 'outside' ? 'typed' : 'brief'
}
