/** A claim of a job's row of work does one thing of the job: what `nextOf` says. */
import { kindsOfWork } from '#decisions/work'
import { agentLimit } from '#domain/agent/job/budget'
import { askerOf } from '#domain/agent/job/job'
import { BEHIND_MS, nextPoll } from '#domain/agent/job/limits'
import { IN_CIRCLES, type Next, nextOf } from '#domain/agent/job/loop'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { circlesNotice } from '#domain/agent/job/rounds'
import type { StepHead } from '#domain/agent/job/step'
import { failJob } from '#store/agent/jobs'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Claimed } from '../../engine/lane.ts'
import type { Decision } from '../../engine/letter.ts'
import { type At, again, giveWay, openJob, over } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { executeStep, lookAtStep } from './execute.ts'
import { hold, isHeldBelow } from './hold.ts'
import { type AgentRun, beginRun } from './run.ts'
import { endByRules } from './task.ts'
import { tellWaiting } from './telling.ts'
import { giveUp, giveUpChild, tryAgain } from './trying.ts'

const settledWork = (work: Work): Claimed<AgentRun> => ({
  decision: { reply: undefined, effects: { settled: [work.id] } },
})

type Ways = Pick<AgentDeps, 'toolBox'>

const withWays = (deps: Ways, heads: readonly Omit<StepHead, 'way'>[]): StepHead[] =>
  heads.map((head) => ({
    ...head,
    way:
      deps.toolBox().tools.get(head.name)?.way ??
      (head.class === 'outside_write' ? 'outside' : null),
  }))

const nextIn = ({ changes, gate, family }: At, heads: readonly StepHead[]): Next =>
  nextOf(
    changes.job,
    heads,
    { mostSteps: agentLimit(gate, 'agent_max_steps'), treeCalls: family.calls },
    gate.now,
  )

export const claimJob = async (
  deps: AgentDeps,
  sql: Sql,
  gate: Gate,
  work: Work,
): Promise<Claimed<AgentRun>> => {
  const opened = await openJob(deps, sql, gate, work)
  if (!opened) return settledWork(work)
  const { job, changes, order, run, family, at } = opened
  const bare = { sql, gate, work, changes, run, family, next: order.next, channel: undefined }
  if (!at) return over(bare, { kind: 'end', end: { status: 'failed', error: 'caller_gone' } })
  if (gate.deletesAt && job.origin === 'automatic')
    return over(bare, { kind: 'end', end: { status: 'cancelled', error: null } })
  if (job.status === 'queued' && order.is_busy)
    return again(at, new Date(gate.now.getTime() + BEHIND_MS))
  if (job.task && job.model === NO_MODEL) return endByRules(at)
  const heads = withWays(deps, opened.heads)
  const dead = heads.filter(({ state }) => state === 'running')
  if (dead.length > 0) return tryAgain(at, dead)
  return carryOut(deps, at, heads, nextIn(at, heads))
}

/** Between two tries to call a server that has something else to do. */
const SERVER_PAUSE_MS = 1_000

/** Until a parent looks again whether its child is held by more than patience. */
const HELD_BELOW_MS = 3_600_000

/**
 * Its claims or its outcome have failed in vain. What was about to be done is given up, and the job
 * goes on without it, as it does without a summary; without a thought, or if that fails too, it
 * ends.
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
  const opened = await openJob(deps, sql, gate, work)
  if (!opened) return settledWork(work).decision
  const { changes, order, run, family, at } = opened
  if (!at || again > 0) {
    const bare = at ?? { gate, work, changes, run, family, next: order.next, channel: undefined }
    return over(bare, {
      kind: 'end',
      end: { status: 'failed', error: at ? 'enqueue_failed' : 'caller_gone' },
    }).decision
  }
  const heads = withWays(deps, opened.heads)
  const dead = heads.filter(({ state }) => state === 'running')
  const { decision } = await giveUp(at, dead.length > 0 ? dead : stepsOf(nextIn(at, heads)))
  return decision
}

const stepsOf = (next: Next): StepHead[] =>
  'steps' in next ? next.steps : 'step' in next && next.step ? [next.step] : []

const carryOut = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  next: Next,
): Promise<Claimed<AgentRun>> => {
  switch (next.kind) {
    case 'end':
      if (next.end.error === IN_CIRCLES) at.changes.explain(circlesNotice(heads))
      return over(at, next)
    case 'park':
      if (at.changes.job.status !== next.status && heads.some(({ state }) => state === 'asked'))
        await tellWaiting(deps, at)
      return park(at, next)
    case 'execute':
      await executeStep(deps, at, next.step)
      return again(at, at.gate.now)
    case 'give_up':
      if (isHeldBelow(at)) return again(at, new Date(at.gate.now.getTime() + HELD_BELOW_MS))
      await giveUpChild(at, next.step)
      return again(at, at.gate.now)
    case 'look': {
      const isSettled = await lookAtStep(deps, at, next.step)
      return again(
        at,
        isSettled ? at.gate.now : nextPoll(next.step.started_at ?? at.gate.now, at.gate.now),
      )
    }
    default: {
      const begun = await beginRun(deps, at, heads, next)
      if (begun === 'refused') return again(at, at.gate.now)
      if (begun === 'busy') return again(at, new Date(at.gate.now.getTime() + SERVER_PAUSE_MS))
      if ('held' in begun) return hold(at, begun.held)
      if ('end' in begun) return over(at, { kind: 'end', end: begun.end })
      const asker = askerOf(at.changes.job.on_behalf)
      return {
        job: begun.run,
        place: placeOf(at, begun.run),
        asker,
        decision: { reply: undefined, effects: at.changes.effects() },
      }
    }
  }
}

/**
 * A command, typed or called, waits for no call of a model; and what only the database answers,
 * such as the kill switch, for no other call.
 */
const placeOf = ({ changes: { job } }: At, { kind }: AgentRun): 'typed' | 'brief' | undefined => {
  if (!job.typed && job.kind !== 'action') return undefined
  return kind === 'reach' || kind === 'outside' ? 'typed' : 'brief'
}

const park = (at: At, { until, status }: Extract<Next, { kind: 'park' }>): Claimed<AgentRun> => {
  at.changes.set({ status })
  if (status !== 'running') giveWay(at)
  return again(at, until)
}
