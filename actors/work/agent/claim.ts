/** A claim of a job's row of work does one thing of the job: what `nextOf` says. */
import { agentLimit } from '#domain/agent/budget'
import { BEHIND_MS, nextPoll } from '#domain/agent/limits'
import { type Next, nextOf } from '#domain/agent/loop'
import { STEP_RUNS, type StepHead } from '#domain/agent/step'
import { stepPart } from '#store/agent/steps'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Claimed } from '../../engine/lane.ts'
import { type At, again, giveWay, openJob, over } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { executeStep, lookAtStep } from './execute.ts'
import { type AgentRun, beginRun } from './run.ts'

const settledWork = (work: Work): Claimed<AgentRun> => ({ decision: { reply: undefined, effects: { settled: [work.id] } } })

export const claimJob = async (deps: AgentDeps, sql: Sql, gate: Gate, work: Work): Promise<Claimed<AgentRun>> => {
  const opened = await openJob(sql, gate, work)
  if (!opened) return settledWork(work)
  const { job, changes, order, at } = opened
  const bare = { sql, gate, work, changes, nextWork: order.next_work }
  if (!at) return over(bare, { kind: 'end', end: { status: 'failed', error: 'caller_gone' } })
  if (gate.deletesAt && job.origin === 'automatic') return over(bare, { kind: 'end', end: { status: 'cancelled', error: null } })
  if (job.status === 'queued' && order.is_busy) return again(at, new Date(gate.now.getTime() + BEHIND_MS))
  const heads = opened.heads.map((head) => ({ ...head, way: deps.toolBox().tools.get(head.name)?.way ?? null }))
  const dead = heads.filter(({ state }) => state === 'running')
  if (dead.length > 0) return revive(at, dead)
  const next = nextOf(job, heads, { mostSteps: agentLimit(gate, 'agent_max_steps') }, gate.now)
  return carryOut(deps, at, heads, next)
}

const carryOut = async (deps: AgentDeps, at: At, heads: readonly StepHead[], next: Next): Promise<Claimed<AgentRun>> => {
  switch (next.kind) {
    case 'end':
      return over(at, next)
    case 'park':
      return park(at, next)
    case 'execute':
      await executeStep(deps, at, next.step)
      return again(at, at.gate.now)
    case 'look': {
      const isSettled = await lookAtStep(deps, at, next.step)
      return again(at, isSettled ? at.gate.now : nextPoll(next.step.started_at ?? at.gate.now, at.gate.now))
    }
    default: {
      const begun = await beginRun(deps, at, heads, next)
      if (begun === 'refused') return again(at, at.gate.now)
      if ('end' in begun) return over(at, { kind: 'end', end: begun.end })
      return { job: begun.run, decision: { reply: undefined, effects: at.changes.effects() } }
    }
  }
}

const park = (at: At, { until, status }: Extract<Next, { kind: 'park' }>): Claimed<AgentRun> => {
  at.changes.set({ status })
  if (status === 'waiting_approval') giveWay(at)
  return again(at, until)
}

/** Steps whose process died: what only read is run again, what may have gone out never is. */
const revive = async (at: At, dead: readonly StepHead[]): Promise<Claimed<AgentRun>> => {
  let givenUp = false
  for (const { id } of dead) {
    const { step } = await loadNow(at.sql, { step: stepPart(id) })
    if (!step) continue
    const mayHaveGoneOut = step.class === 'outside_write'
    const attempt = step.attempt + 1
    const state = mayHaveGoneOut ? 'unknown' : attempt >= STEP_RUNS ? 'failed' : 'ready'
    const saved = at.changes.save({ ...step, state, attempt, ended_at: state === 'ready' ? null : at.gate.now })
    if (state !== 'ready') at.changes.endedStep(saved)
    givenUp ||= state === 'failed'
  }
  return givenUp ? over(at, { kind: 'end', end: { status: 'failed', error: 'enqueue_failed' } }) : again(at, at.gate.now)
}
