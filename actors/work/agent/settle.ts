/** What becomes of the outcome of a run: in one letter. */
import { isCommand } from '#domain/agent/job/command'
import { anew, keptResult, STEP_RUNS, type Step } from '#domain/agent/job/step'
import type { ThinkFailure } from '#port/model/thinker'
import { useMemories } from '#store/agent/memories'
import { saveStep, stepPart } from '#store/agent/steps'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import type { Decision } from '../../engine/letter.ts'
import { answered } from './answer.ts'
import { type At, again, openJob, over } from './at.ts'
import { booked, unbooked } from './booking.ts'
import { acceptCalls } from './calls.ts'
import type { AgentDeps } from './deps.ts'
import { reachedStep } from './execute.ts'
import type { AgentOutcome, Read } from './outcome.ts'
import type { AgentRun } from './run.ts'
import { auditCall, within } from './served.ts'
import { settleSummary } from './summary.ts'
import { answeredTask, faultOf } from './task.ts'
import type { Thinking } from './thought.ts'
import { failTool, finishTool } from './tool-result.ts'
import { failInVain, UNREADABLE } from './trying.ts'

interface Finished {
  work: Work
  job: AgentRun
  outcome: AgentOutcome
  failures: number
}

export const settleRun = async (
  usual: AgentDeps,
  sql: Sql,
  gate: Gate,
  { work, job: run, ...finished }: Finished,
): Promise<Decision<void>> => {
  const deps = within(usual, run)
  const opened = await openJob(deps, sql, gate, work)
  if (!opened)
    return {
      reply: undefined,
      effects: {
        settled: [work.id],
        writes: await lateWrites(deps, sql, gate, { run, outcome: finished.outcome }),
      },
    }
  const { changes, order, run: schedule, heads, family, authors } = opened
  // A caller who has gone may do nothing; the next claim ends the job.
  const gone = {
    caller: { ...run.caller, scopes: new Set<never>() },
    callerNow: { role: null, scopes: [], name: null },
  }
  const rest = {
    sql,
    gate,
    work,
    changes,
    heads,
    run: schedule,
    family,
    authors,
    next: order.next,
    channel: undefined,
  }
  const at = opened.at ?? { ...gone, ...rest }
  const { decision } = await settled(deps, at, run, {
    ...finished,
    isInVain: finished.failures >= STEP_RUNS,
  })
  return decision
}

/**
 * The job was cancelled meanwhile, with all its steps. What became of a call outside is still
 * written down.
 */
const lateWrites = async (
  deps: AgentDeps,
  sql: Sql,
  gate: Gate,
  { run, outcome }: { run: AgentRun; outcome: AgentOutcome },
) => {
  if (run.kind !== 'outside' || outcome.kind !== 'read') return []
  const { step } = await loadNow(sql, { step: stepPart(run.step.id) })
  const [result] = outcome.results
  if (step?.state !== 'unknown' || !result || 'unknown' in result) return []
  const ended = { ended_at: gate.now, updated_at: gate.now }
  if ('error' in result)
    return [
      saveStep({
        ...step,
        ...ended,
        state: 'failed',
        error: result.error,
        result: { text: result.error },
      }),
    ]
  const tools = deps.toolBox()
  return [
    saveStep({
      ...step,
      ...ended,
      state: 'done',
      ...keptResult(tools.text(step.name, tools.kept(step.name, result.value))),
    }),
  ]
}

interface Ended {
  outcome: AgentOutcome
  /** Whether this was tried in vain, so that what may be to blame is left out. */
  isInVain: boolean
}

const settled = async (deps: AgentDeps, at: At, run: AgentRun, { outcome, isInVain }: Ended) => {
  if (outcome.kind === 'stopped') return undo(at, run)
  if (run.kind === 'think') return settleThought(deps, at, run, { outcome, isInVain })
  if (run.kind === 'summary') return settleSummary(deps, at, run, outcome)
  if (outcome.kind === 'read') await settleReads(deps, at, outcome.results)
  // The letter of the urgent tool has written the step.
  else if (outcome.kind !== 'done' && run.kind !== 'read')
    await settleReach(deps, at, run.step, { outcome, isInVain })
  return again(at, at.gate.now)
}

/** An orderly stop is no death: the steps are as before. */
const undo = async (at: At, run: AgentRun) => {
  for (const { id } of run.kind === 'read' ? run.steps : [run.step]) {
    const { step } = await loadNow(at.sql, { step: stepPart(id) })
    if (step?.state === 'running') at.changes.save({ ...step, state: 'ready' })
  }
  if (run.kind === 'think') at.changes.set({ model_calls: at.changes.job.model_calls - 1 })
  return again(at, at.gate.now)
}

const settleReads = async (deps: AgentDeps, at: At, results: readonly Read[]): Promise<void> => {
  for (const result of results) {
    const { step } = await loadNow(at.sql, { step: stepPart(result.id) })
    if (step?.state !== 'running') continue
    const tool = deps.toolBox().tools.get(step.name)
    if ('unknown' in result)
      at.changes.endedStep(at.changes.save({ ...step, state: 'unknown', ended_at: at.gate.now }))
    // A program outside words its errors itself.
    else if ('error' in result)
      failTool(
        at,
        step,
        result.error,
        step.class === 'outside_write' ? (tool?.source ?? step.name) : null,
      )
    else settleRead(deps, at, step, result.value)
    auditCall(
      at,
      tool,
      step,
      'unknown' in result ? 'unknown' : 'error' in result ? 'failed' : 'done',
    )
  }
}

/** An answer that cannot be shown must not take the others with it. */
const settleRead = (deps: AgentDeps, at: At, step: Step, value: unknown): void => {
  try {
    finishTool(deps, at, step, value)
  } catch {
    failTool(at, step, UNREADABLE)
  }
}

const settleReach = async (
  deps: AgentDeps,
  at: At,
  { id }: Step,
  { outcome, isInVain }: Ended,
): Promise<void> => {
  const { step } = await loadNow(at.sql, { step: stepPart(id) })
  if (step?.state !== 'running') return
  if (isInVain) failInVain(at, step)
  else if (outcome.kind === 'reached') await reachedStep(deps, at, step, outcome.reached)
  else failTool(at, step, outcome.kind === 'refused' ? outcome.error : 'tool_failed')
}

const settleThought = async (
  deps: AgentDeps,
  at: At,
  run: Thinking,
  { outcome, isInVain }: Ended,
) => {
  const { step } = await loadNow(at.sql, { step: stepPart(run.step.id) })
  if (step?.state !== 'running') return again(at, at.gate.now)
  if (outcome.kind === 'failed') return thinkFailed(at, step, outcome)
  if (outcome.kind !== 'thought') throw new Error(`a thought cannot end as ${outcome.kind}`)
  const { thought, memoryIds, foreign } = outcome
  const { job } = at.changes
  // The steps of a job are given the same memories.
  if (memoryIds.length > 0 && job.model_calls === 1)
    at.changes.also({ writes: [useMemories(memoryIds, at.gate.now)] })
  const done: Step = {
    ...booked(deps, at, step, outcome),
    error: faultOf(at, thought),
    answer: answerOf(outcome),
    untrusted: foreign[0] ?? null,
  }
  at.changes.taint(foreign)
  const saved = at.changes.save(done)
  at.changes.endedStep(saved)
  if (job.task) return answeredTask(at, thought)
  if (thought.calls.length > 0)
    return acceptCalls(deps, at, { run, step: saved, outcome, isInVain })
  const helpless = helplessEnd(at, outcome)
  return helpless === undefined
    ? answered(at, thought)
    : over(at, { kind: 'end', end: { status: 'failed', error: helpless } })
}

const answerOf = ({
  thought: { text, calls, refused, reasoning },
  playbooks,
}: Extract<AgentOutcome, { kind: 'thought' }>): Step['answer'] => ({
  ...{ text, calls: calls.length, ...(reasoning ? { reasoning } : {}) },
  ...(playbooks.length > 0 ? { playbooks } : {}),
  ...(refused.calls.length > 0 ? { refused } : {}),
})

/**
 * Why a job that nobody watches cannot begin: its goal is no command, and the desk has only words
 * for it.
 */
const helplessEnd = (
  { changes: { job }, heads }: At,
  { byDesk, typed }: Extract<AgentOutcome, { kind: 'thought' }>,
): string | undefined => {
  if (!byDesk || job.origin === 'manual' || heads.some(({ kind }) => kind === 'tool'))
    return undefined
  return isCommand(typed) ? 'unknown_command' : 'model_required'
}

/** Causes that time may mend, with the pauses before each further try. */
const passing: readonly ThinkFailure[] = [
  'rate_limited',
  'timeout',
  'unreachable',
  'broken',
  'provider_error',
  'busy',
]
const PAUSES_MS = [2_000, 8_000, 30_000]
const LONGEST_PAUSE_MS = 300_000

const hints: Record<Exclude<ThinkFailure, 'no_model'>, string> = {
  rate_limited: 'the model provider is rate limiting; try again later',
  out_of_credit: 'the account at the model provider has no credit left',
  unauthorized: 'the model provider refused the API key; check OPENAI_API_KEY',
  unknown_model:
    'the model provider does not know the model; check MODEL_FAST, MODEL_REASONING and OPENAI_BASE_URL',
  no_tools: 'the model at OPENAI_BASE_URL takes no tools',
  too_long: 'the conversation is too long for the model; begin a new one',
  unsupported: 'the model provider refused the request',
  timeout: 'the model did not answer in time',
  unreachable: 'the model provider cannot be reached; check OPENAI_BASE_URL and the network',
  too_large: 'the answer of the model was far too long',
  broken: 'the answer of the model broke off',
  provider_error: 'the model provider failed; try again later',
  busy: 'too many calls of the model wait in this server; try again later',
}

const thinkFailed = (at: At, step: Step, outcome: Extract<AgentOutcome, { kind: 'failed' }>) => {
  const { failure, retryAfterMs } = outcome
  const { changes, gate } = at
  const attempt = step.attempt + 1
  const pause = passing.includes(failure) ? PAUSES_MS[attempt - 1] : undefined
  unbooked(at, step, outcome)
  if (pause === undefined) {
    changes.endedStep(
      changes.save({ ...step, state: 'failed', attempt, error: failure, ended_at: gate.now }),
    )
    const error = failure === 'no_model' ? 'model_required' : `model_failed: ${hints[failure]}`
    return over(at, { kind: 'end', end: { status: 'failed', error } })
  }
  const not_before = new Date(
    gate.now.getTime() + Math.min(LONGEST_PAUSE_MS, Math.max(pause, retryAfterMs ?? 0)),
  )
  changes.save({ ...anew(step, failure, gate.now), not_before })
  changes.set({ model_calls: changes.job.model_calls - 1 })
  return again(at, not_before)
}
