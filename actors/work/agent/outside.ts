/** Runs, beside the mailbox, what a claim has begun. */

import { refusalOf } from '#decisions/agent/refusal'
import { isForStranger } from '#domain/agent/channel/trust'
import { keptAnswer, type Thought } from '#domain/agent/job/answer'
import { callingJob } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { ThinkError } from '#port/model/thinker'
import type { LaneContext } from '../../engine/lane.ts'
import type { AgentDeps } from './deps.ts'
import type { AgentOutcome, Read } from './outcome.ts'
import { quoting } from './quoting.ts'
import type { AgentRun, Single } from './run.ts'
import { within } from './served.ts'
import { type Summarising, summaryTurn } from './summary.ts'
import type { Thinking } from './thought.ts'
import { turnOf } from './turn.ts'
import { urgentLetter } from './urgent.ts'

export const runOutside = async (
  usual: AgentDeps,
  run: AgentRun,
  context: LaneContext,
): Promise<AgentOutcome> => {
  const deps = within(usual, run)
  try {
    await deps.failpoints('agent.claimed')
    if (context.signal.aborted) return { kind: 'stopped' }
    if (run.kind === 'think') return await think(deps, run, context)
    if (run.kind === 'summary') return await summarise(deps, run, context)
    if (run.kind === 'read')
      return {
        kind: 'read',
        results: await Promise.all(run.steps.map((step) => read(deps, run, step))),
      }
    if (run.kind === 'urgent') return await urgent(deps, run, context)
    return run.kind === 'outside'
      ? await outside(deps, run, context)
      : await reach(deps, run, context)
  } catch (cause) {
    if (context.signal.aborted) return { kind: 'stopped' }
    throw cause
  }
}

const think = async (
  deps: AgentDeps,
  run: Thinking,
  context: LaneContext,
): Promise<AgentOutcome> => {
  const { tenantId, signal } = context
  const { turn, typed, memoryIds, playbooks } = await turnOf(deps, run, tenantId)
  const asksFromOutside = isForStranger(run.job.on_behalf) ? typed : undefined
  const { byDesk } = run
  const thinker = byDesk ? deps.desk : deps.thinker
  if (!thinker) return { kind: 'failed', failure: 'no_model', retryAfterMs: undefined, ms: 0 }
  // Waiting for a turn does not count.
  let began = performance.now()
  const ms = () => Math.round(performance.now() - began)
  let at = 0
  const onText = (text: string) => {
    deps.bus.text(run.job, { step: run.step.number, at, text })
    at += text.length
  }
  const quoted = quoting(deps, run, tenantId)
  deps.bus.reset(run.job, run.step.number)
  try {
    const call = () => {
      began = performance.now()
      return thinker.think(turn, { signal, onText, search: quoted.search, asksFromOutside })
    }
    const thought = byDesk ? await call() : await inTurn(deps, context, call)
    await deps.failpoints('agent.thought')
    const given = byDesk ? quoted.given() : { memoryIds, playbooks, foreign: [] }
    return {
      kind: 'thought',
      thought: keptAnswer(thought, run.job.model),
      typed,
      ...given,
      byDesk,
      ms: ms(),
    }
  } catch (cause) {
    if (signal.aborted) return { kind: 'stopped' }
    return failed(deps, cause, { model: turn.model, ms: ms() })
  } finally {
    deps.bus.silent(run.job)
  }
}

interface Called {
  model: string
  ms: number
}

/** Any failure counts as the model's. */
const failed = ({ log }: AgentDeps, cause: unknown, { ms, ...call }: Called): AgentOutcome => {
  if (cause instanceof ThinkError)
    return { kind: 'failed', failure: cause.failure, retryAfterMs: cause.retryAfterMs, ms }
  log.error({ err: cause, ...call }, 'a call of the model failed in an unknown way')
  return { kind: 'failed', failure: 'provider_error', retryAfterMs: undefined, ms }
}

/** Its text is not shown as it arrives. */
const summarise = async (
  deps: AgentDeps,
  run: Summarising,
  context: LaneContext,
): Promise<AgentOutcome> => {
  const { thinker } = deps
  const { tenantId, signal } = context
  if (!thinker) return { kind: 'failed', failure: 'no_model', retryAfterMs: undefined, ms: 0 }
  const turn = await summaryTurn(deps, run, tenantId)
  const began = performance.now()
  const ms = () => Math.round(performance.now() - began)
  try {
    const thought = await inTurn(deps, context, () =>
      thinker.think(turn, { signal, onText: () => {} }),
    )
    await deps.failpoints('agent.thought')
    const nothing = { typed: '', memoryIds: [], playbooks: [], foreign: [], byDesk: false }
    return { kind: 'thought', thought: keptAnswer(thought, run.step.name), ...nothing, ms: ms() }
  } catch (cause) {
    if (signal.aborted) return { kind: 'stopped' }
    return failed(deps, cause, { model: turn.model, ms: ms() })
  }
}

/**
 * Throws `busy` if no turn among the process's model calls comes in time. If a turn comes after the
 * lane has stopped, it goes to the next one.
 */
const inTurn = async (
  deps: AgentDeps,
  { tenantId, signal }: LaneContext,
  call: () => Promise<Thought>,
): Promise<Thought> => {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  const turn = (async () => deps.modelCalls.enter(tenantId))()
  try {
    await Promise.race([turn, stopped])
  } catch (cause) {
    if (!signal.aborted) throw new ThinkError('busy', undefined, { cause })
    turn.then(() => deps.modelCalls.leave(tenantId)).catch(() => {})
    throw cause
  }
  try {
    return await call()
  } finally {
    deps.modelCalls.leave(tenantId)
  }
}

class Late extends Error {}

/** A tool that takes too long has failed: nobody waits for its answer. */
const inTime = async <T>(
  { toolMs }: Pick<AgentDeps, 'toolMs'>,
  running: Promise<T>,
): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Late(`it did not answer within ${toolMs / 1_000} seconds`)),
    toolMs,
  )
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

const read = async (
  deps: AgentDeps,
  { job, caller }: AgentRun,
  step: Pick<Step, 'id' | 'number' | 'name' | 'args'>,
): Promise<Read> => {
  const { id, name, args } = step
  try {
    return {
      id,
      value: await inTime(
        deps,
        deps.toolBox().read(name, args ?? {}, caller, callingJob(job, step)),
      ),
    }
  } catch (cause) {
    return { id, error: errorOf(cause) }
  }
}

const errorOf = (cause: unknown): string =>
  refusalOf(cause) ??
  `tool_failed: ${cause instanceof Late ? cause.message : 'the tool could not be run'}`

const reach = async (
  deps: AgentDeps,
  { step, caller }: Single,
  { signal }: LaneContext,
): Promise<AgentOutcome> => {
  try {
    const reached = await inTime(deps, deps.toolBox().reach(step.name, step.args ?? {}, caller))
    // If the command was recalled, what was fetched for it must not decide it.
    return signal.aborted ? { kind: 'stopped' } : { kind: 'reached', reached }
  } catch (cause) {
    return { kind: 'refused', error: errorOf(cause) }
  }
}

/**
 * The kill switch gets a letter of its own, ahead of all others; its commit contains the step's
 * result.
 */
const urgent = async (
  deps: AgentDeps,
  run: Single,
  context: LaneContext,
): Promise<AgentOutcome> => {
  // From here on, its own pause must not recall it.
  if (!context.commit()) return { kind: 'stopped' }
  await deps.ask(context.tenantId, urgentLetter(deps, run))
  return { kind: 'done' }
}

/** Begins at most once: its step is recorded as running, and nothing runs it again. */
const outside = async (
  deps: AgentDeps,
  { job, step, caller }: Single,
  context: LaneContext,
): Promise<AgentOutcome> => {
  if (!context.commit()) return { kind: 'stopped' }
  const { id, name, args } = step
  try {
    const value = await inTime(
      deps,
      deps.toolBox().read(name, args ?? {}, caller, callingJob(job, step)),
    )
    await deps.failpoints('agent.outside.read')
    return { kind: 'read', results: [{ id, value }] }
  } catch (cause) {
    const refusal = refusalOf(cause)
    return {
      kind: 'read',
      results: [refusal === undefined ? { id, unknown: true } : { id, error: refusal }],
    }
  }
}
