/**
 * Commands of a job, decided in the letter of its claim: their effects and their step's result are
 * one commit.
 */
import { commandEffects } from '#decisions/agent/job-effects'
import { refusalOf } from '#decisions/agent/refusal'
import type { Decided, Reached, ToolCaller, ToolContext } from '#decisions/agent/toolbox'
import { type Approval, isSameSubject, overtake } from '#domain/agent/job/approval'
import type { CallToBegin } from '#domain/agent/job/beginning'
import { agentLimit } from '#domain/agent/job/budget'
import { callingJob, type Job } from '#domain/agent/job/job'
import { GENERATION_WAIT_MS, TOOL_STATEMENT_MS } from '#domain/agent/job/limits'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { tooLate } from '#domain/agent/job/overtaking'
import type { Step, StepHead } from '#domain/agent/job/step'
import type { JobAnswer } from '#domain/agent/job/transition'
import { AppError } from '#kernel/errors'
import { approvalOfStep } from '#store/agent/approvals'
import { callerNow } from '#store/agent/callers'
import { callsWithinHour, stepPart } from '#store/agent/steps'
import type { Effects } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { limitPart, underLimit } from '#store/engine/statement-limit'
import { type At, answerJob } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { withServed } from './served.ts'

/** What was approved is not what would be done now. */
const STALE =
  'changed since it was shown to the person; nothing was done. Ask again if it is still wanted.'

const staleIn = (error: string, approval: Approval | undefined): Approval | undefined =>
  error === STALE ? approval : undefined

/**
 * Whose rights the call has: those of its approver, otherwise those of the job's caller. An error
 * if they are gone.
 */
const actingFor = async (
  deps: AgentDeps,
  { sql, caller }: At,
  step: Step,
  approval: Approval | undefined,
): Promise<ToolCaller | string> => {
  const { tools } = deps.toolBox()
  if (!tools.has(step.name))
    return approval ? STALE : 'the tool has changed, or its server is disconnected'
  if (!approval)
    return deps.toolBox().mayRun(step.name, caller) ? caller : 'the caller may not do this any more'
  const personId = approval.decided_by
  const { now } = await loadNow(sql, {
    now: callerNow({ kind: 'session', id: personId ?? '', personId }),
  })
  if (approval.status !== 'approved' || !now || personId === null)
    return 'who approved this has left the workspace'
  const person: ToolCaller = {
    ...caller,
    principal: { kind: 'session', id: personId, member: { personId, role: now.role! } },
    scopes: everybody,
  }
  if (!deps.toolBox().mayRun(step.name, person)) return 'who approved this may not do it any more'
  const { subject } = await deps.toolBox().subject(step.name, step.args ?? {}, sql)
  return isSameSubject(subject, approval.subject) ? person : STALE
}

const everybody: ToolCaller['scopes'] = new Set([
  'api:read',
  'api:write',
  'workspace:use',
  'session',
] as const)

/**
 * A typed command takes no place in the tool's hourly limit, because the kill switch must not wait
 * for one.
 */
const isTyped = (heads: At['heads'], ofStep: number | null, { origin, kind }: At['job']): boolean =>
  origin === 'manual' &&
  kind !== 'delegate' &&
  heads.some(({ number, name }) => number === ofStep && name === NO_MODEL)

/** Why a call must not be made now; undefined if nothing forbids it. */
const heldBack = (
  { gate, job, heads }: At,
  { of_step, way }: StepHead,
  calls: number,
): string | undefined => {
  if (gate.deletesAt && way !== 'read')
    return 'the workspace is about to be deleted; nothing can be changed'
  const limit = agentLimit(gate, 'agent_calls_hour')
  if (limit >= 0 && calls >= limit && !isTyped(heads, of_step, job))
    return `the tool was called ${calls} times within the last hour, which is its limit`
  return job.status === 'cancelled' ? 'the job was cancelled' : undefined
}

/** `approval`: the decision of the person who allowed the call, if one had to. */
const contextOf = (
  { sql, gate, job }: At,
  caller: ToolCaller,
  step: Step,
  approval?: Approval,
): ToolContext => ({
  sql,
  gate,
  caller,
  job: { ...callingJob(job, step), allowedBy: approval?.decided_by ?? undefined },
})

const USE_TOOLS = 'use_tools'

/**
 * Executes a command in this letter. If the letter fails, it is retried; the third failure becomes
 * the command's result.
 */
export const executeStep = async (usual: AgentDeps, at: At, head: StepHead) => {
  const { step, approval, hour } = await loadNow(at.sql, {
    step: stepPart(head.id),
    approval: approvalOfStep(head.id),
    hour: callsWithinHour(head.name),
    limit: limitPart(TOOL_STATEMENT_MS),
  })
  const deps =
    head.name === USE_TOOLS
      ? await withServed(usual, at, (step!.args?.names ?? []) as string[])
      : usual
  const { name, args } = step!
  const reached = (context: ToolContext) => deps.toolBox().decide(name, args ?? {}, context)
  return underLimit(at.sql, async () => {
    const error = heldBack(at, head, hour.calls)
    return error === undefined
      ? decideTool(deps, at, { step: step!, approval, reached })
      : answerJob(at, { kind: 'not made', step: step!, error })
  })
}

interface DecidingStep {
  step: Step
  approval: Approval | undefined
  reached: Reached
}

const decideTool = async (deps: AgentDeps, at: At, { step, approval, reached }: DecidingStep) => {
  const { answer, effects = {} } = await answerCommand(
    deps,
    at.job,
    { step, approval },
    async () => {
      const acting = await actingFor(deps, at, step, approval)
      if (typeof acting === 'string') return acting
      const decided = await reached(contextOf(at, acting, step, approval))
      await deps.failpoints('agent.executing')
      return decided
    },
  )
  return answerJob(at, answer, effects)
}

/**
 * What a command decides, as the answer of its tool, and the effects. `decide` gives an error if it
 * must not be carried out; what it throws as a refusal is a result.
 */
export const answerCommand = async (
  { toolBox }: Pick<AgentDeps, 'toolBox'>,
  job: Job,
  { step, approval }: Omit<DecidingStep, 'reached'>,
  decide: () => Promise<Decided | string>,
): Promise<{ answer: JobAnswer; effects?: Effects }> => {
  try {
    const decided = await decide()
    if (typeof decided === 'string') {
      const stale = staleIn(decided, approval)
      return { answer: { kind: 'not made', step, error: decided, stale } }
    }
    const { value, awaits, shown, effects } = decided
    const carried = { value, awaits, shown, ref: effects.audit?.refId }
    return {
      answer: { kind: 'carried out', step, forms: toolBox(), carried },
      effects: commandEffects(job, { step, decided, approval }),
    }
  } catch (cause) {
    const error = refusalOf(cause)
    if (error === undefined) throw cause
    const moot = approval && overtakenBy(approval, cause, job)
    return { answer: moot ? { kind: 'moot', step, ...moot } : { kind: 'refused', step, error } }
  }
}

/**
 * The approval of a call that is refused because somebody has decided about its record since it was
 * asked: it was allowed, and is needless.
 */
const overtakenBy = (approval: Approval, cause: unknown, { id, updated_at: now }: Job) => {
  const { reason, by, at } = (cause instanceof AppError && cause.conflict) || {}
  if (reason !== 'wrong_state' || !by || !at || new Date(at) <= approval.created_at)
    return undefined
  if (by.kind === 'agent' && by.id === id) return undefined
  return { approval: overtake(approval, { by, now }), text: tooLate(by, cause as AppError) }
}

/** A step that is to run beside the mailbox, and why it must not, if so. */
export const callToBegin = async (
  deps: AgentDeps,
  at: At,
  head: StepHead,
): Promise<CallToBegin> => {
  const { step, approval, hour } = await loadNow(at.sql, {
    step: stepPart(head.id),
    approval: approvalOfStep(head.id),
    hour: callsWithinHour(head.name),
  })
  const title = deps.toolBox().tools.get(head.name)?.title ?? head.name
  const acting = await actingFor(deps, at, step!, approval).catch((cause) => {
    const refusal = refusalOf(cause)
    if (refusal === undefined) throw cause
    return refusal
  })
  const refusal = typeof acting === 'string' ? acting : undefined
  return {
    step: step!,
    title,
    error: heldBack(at, head, hour.calls) ?? refusal,
    stale: staleIn(refusal ?? '', approval),
  }
}

/** Decides, using what was fetched from outside. */
export const reachedStep = async (deps: AgentDeps, at: At, step: Step, reached: Reached) => {
  const { approval } = await loadNow(at.sql, {
    approval: approvalOfStep(step.id),
    limit: limitPart(TOOL_STATEMENT_MS),
  })
  return underLimit(at.sql, () => decideTool(deps, at, { step, approval, reached }))
}

/** Looks at the record that a step waits for. Undefined: it is not settled yet. */
export const lookAtStep = async (
  deps: AgentDeps,
  at: At,
  head: StepHead,
): Promise<JobAnswer | undefined> => {
  const { step } = await loadNow(at.sql, { step: stepPart(head.id) })
  const { args, awaits, started_at } = step!
  const context = contextOf(at, at.caller, step!)
  const forms = deps.toolBox()
  const { value: answer, settled } = await forms.look(head.name, args ?? {}, awaits!, context)
  const waited = at.gate.now.getTime() - (started_at ?? at.gate.now).getTime()
  const isLate = head.awaits_kind === 'generation' && waited >= GENERATION_WAIT_MS
  return settled || isLate ? { kind: 'settled', step: step!, forms, answer } : undefined
}
