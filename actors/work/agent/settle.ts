/** Settles the outcome of a run in one letter. */

import { STEP_RUNS, type Step } from '#domain/agent/job/step'
import { settledLate } from '#domain/agent/job/tool-answer'
import { type JobAnswer, stepOf } from '#domain/agent/job/transition'
import { saveStep } from '#store/agent/steps'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Loaded } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Decision } from '../../engine/letter.ts'
import { answerJob, jobDecision } from './at.ts'
import { asking, judgeCalls } from './calls.ts'
import type { AgentDeps } from './deps.ts'
import { reachedStep } from './execute.ts'
import { openRunning, runningParts, type Settling } from './open.ts'
import type { AgentOutcome, Read } from './outcome.ts'
import type { AgentRun } from './run.ts'
import { within } from './served.ts'
import { summaryAnswer } from './summary.ts'
import type { Thinking } from './thought.ts'

interface Finished {
  work: Work
  job: AgentRun
  outcome: AgentOutcome
  failures: number
}

/** The records that the letter reads with its gate. */
export const settleParts = ({ job: run }: Pick<Finished, 'job'>) =>
  runningParts(run.job, run.kind === 'read' ? run.steps : [run.step])

export type SettleParts = ReturnType<typeof settleParts>

export const settleRun = async (
  usual: AgentDeps,
  letter: { sql: Sql; gate: Gate },
  { work, job: run, outcome, failures }: Finished,
  loaded: Loaded<SettleParts>,
): Promise<Decision<void>> => {
  const deps = within(usual, run)
  // Where the caller has gone, the next claim ends the job.
  const at = await openRunning(deps, { ...letter, work }, loaded)
  if (!at) {
    const writes = lateWrites(deps, letter.gate, { run, outcome, steps: loaded.steps })
    return { reply: undefined, effects: { settled: [work.id], writes } }
  }
  const isInVain = failures >= STEP_RUNS
  const { decision } = await settled(deps, at, run, { outcome, isInVain })
  return decision
}

/** The job was cancelled meanwhile, with all its steps. */
const lateWrites = (
  deps: AgentDeps,
  { now }: Gate,
  { run, outcome, steps: [step] }: { run: AgentRun; outcome: AgentOutcome; steps: Step[] },
) => {
  if (run.kind !== 'outside' || outcome.kind !== 'read') return []
  const [given] = outcome.results
  const late = step && given && settledLate(step, { forms: deps.toolBox(), given, now })
  return late ? [saveStep(late)] : []
}

interface Ended {
  outcome: AgentOutcome
  /** Whether settling has failed in vain, so that whatever may be to blame is left out. */
  isInVain: boolean
}

const settled = async (deps: AgentDeps, at: Settling, run: AgentRun, ended: Ended) => {
  const { outcome, isInVain } = ended
  if (outcome.kind === 'stopped') {
    return answerJob(at, { kind: 'stopped', steps: runningOf(at), isThought: run.kind === 'think' })
  }
  if (outcome.kind === 'thought' || outcome.kind === 'failed') {
    if (run.kind === 'think') return settleThought(deps, at, run, { outcome, isInVain })
    if (run.kind === 'summary') return answerJob(at, await summaryAnswer(deps, at, run, outcome))
  }
  if (outcome.kind === 'read') return answerJob(at, givenAnswer(deps, at, outcome.results))
  const isOneTool = run.kind === 'reach' || run.kind === 'urgent' || run.kind === 'outside'
  // The urgent tool's own letter has written the step.
  if (outcome.kind === 'done' || !isOneTool) return answerJob(at, { kind: 'nothing' })
  return settleReach(deps, at, ended)
}

const runningOf = ({ steps }: Settling): Step[] => steps.filter(({ state }) => state === 'running')

const givenAnswer = (deps: AgentDeps, at: Settling, results: readonly Read[]): JobAnswer => {
  const all = runningOf(at).flatMap((step) => {
    const given = results.find(({ id }) => id === step.id)
    return given ? [{ step, given }] : []
  })
  return { kind: 'given', forms: deps.toolBox(), all }
}

const settleReach = async (deps: AgentDeps, at: Settling, { outcome, isInVain }: Ended) => {
  const [step] = runningOf(at)
  if (!step) return answerJob(at, { kind: 'nothing' })
  if (isInVain) return answerJob(at, { kind: 'call in vain', step })
  if (outcome.kind === 'reached') return reachedStep(deps, at, step, outcome.reached)
  const error = outcome.kind === 'refused' ? outcome.error : 'tool_failed'
  return answerJob(at, { kind: 'refused', step, error })
}

interface EndedThought extends Ended {
  outcome: Extract<AgentOutcome, { kind: 'thought' | 'failed' }>
}

const settleThought = async (
  deps: AgentDeps,
  at: Settling,
  run: Thinking,
  { outcome, isInVain }: EndedThought,
) => {
  const [step] = runningOf(at)
  if (!step) return answerJob(at, { kind: 'nothing' })
  if (outcome.kind === 'failed') return answerJob(at, { ...outcome, kind: 'no thought', step })
  const { job, facts, gate: usage, heads, goal } = at
  const calls = job.task ? [] : await judgeCalls(deps, at, { run, outcome, isInVain })
  const change = stepOf(
    job,
    {
      ...outcome,
      step,
      calls,
      priceOf: deps.priceOf(step.name),
      usage,
      heads,
      goal,
      publicUrl: deps.publicUrl,
    },
    facts,
  )
  return jobDecision(at, change, await asking(deps, at, change))
}
