/**
 * Commands of a job, decided in the letter of its claim: their effects and their step's result are
 * one commit.
 */
import { refusalOf } from '#decisions/agent/refusal'
import type { Decided, Reached, ToolCaller, ToolContext } from '#decisions/agent/toolbox'
import { type Approval, isSameSubject } from '#domain/agent/job/approval'
import { agentLimit } from '#domain/agent/job/budget'
import { callingJob } from '#domain/agent/job/job'
import { GENERATION_WAIT_MS, TOOL_STATEMENT_MS } from '#domain/agent/job/limits'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import type { Step, StepHead } from '#domain/agent/job/step'
import { approvalOfStep, saveApproval } from '#store/agent/approvals'
import { callerNow } from '#store/agent/callers'
import { callsWithinHour, stepPart } from '#store/agent/steps'
import { loadNow } from '#store/engine/load'
import { limitPart, underLimit } from '#store/engine/statement-limit'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { withServed } from './served.ts'
import { decidedTool, failTool, finishTool, refuseTool } from './tool-result.ts'

/** A refusal in the place of what was to be found out. */
const refusable = <T>(finding: Promise<T>): Promise<T | string> =>
  finding.catch((cause) => {
    const refusal = refusalOf(cause)
    if (refusal === undefined) throw cause
    return refusal
  })

interface Acting {
  caller: ToolCaller
  approval: Approval | undefined
}

/**
 * Whose rights the call needs: those of who approved it, else those of the job's caller. An error,
 * if they are gone.
 */
const actingFor = async (
  deps: AgentDeps,
  { sql, caller, changes }: At,
  step: Step,
  approval: Approval | undefined,
): Promise<Acting | string> => {
  const { tools } = deps.toolBox()
  if (!tools.has(step.name))
    return approval
      ? stale(changes, approval)
      : 'the tool has changed, or its server is disconnected'
  if (!approval)
    return deps.toolBox().mayRun(step.name, caller)
      ? { caller, approval }
      : 'the caller may not do this any more'
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
  return isSameSubject(subject, approval.subject)
    ? { caller: person, approval }
    : stale(changes, approval)
}

const stale = (changes: At['changes'], approval: Approval): string => {
  changes.also({
    writes: [saveApproval({ ...approval, decided_how: 'stale', updated_at: changes.now })],
  })
  return 'changed since it was shown to the person; nothing was done. Ask again if it is still wanted.'
}

const everybody: ToolCaller['scopes'] = new Set([
  'api:read',
  'api:write',
  'workspace:use',
  'session',
] as const)

/**
 * A command that a person has typed needs no place in the tool's hour: the kill switch must not
 * wait for one.
 */
const isTyped = (
  heads: At['heads'],
  ofStep: number | null,
  { origin, kind }: At['changes']['job'],
): boolean =>
  origin === 'manual' &&
  kind !== 'delegate' &&
  heads.some(({ number, name }) => number === ofStep && name === NO_MODEL)

/** Why a call must not be made now; undefined if nothing is against it. */
const heldBack = (
  { gate, changes, heads }: At,
  { of_step, way }: StepHead,
  calls: number,
): string | undefined => {
  if (gate.deletesAt && way !== 'read')
    return 'the workspace is about to be deleted; nothing can be changed'
  const limit = agentLimit(gate, 'agent_calls_hour')
  if (limit >= 0 && calls >= limit && !isTyped(heads, of_step, changes.job))
    return `the tool was called ${calls} times within the last hour, which is its limit`
  return changes.job.status === 'cancelled' ? 'the job was cancelled' : undefined
}

const contextOf = ({ sql, gate, changes }: At, caller: ToolCaller, step: Step): ToolContext => ({
  ...{ sql, gate, caller, job: callingJob(changes.job, step) },
})

const USE_TOOLS = 'use_tools'

/**
 * Executes a command in this letter. If the letter fails it is tried again; the third failure is
 * the command's result.
 */
export const executeStep = async (usual: AgentDeps, at: At, head: StepHead): Promise<void> => {
  const { step, approval, hour } = await loadNow(at.sql, {
    step: stepPart(head.id),
    approval: approvalOfStep(head.id),
    hour: callsWithinHour(head.name),
    limit: limitPart(TOOL_STATEMENT_MS),
  })
  at.changes.set({ status: 'running', started_at: at.changes.job.started_at ?? at.gate.now })
  const deps =
    head.name === USE_TOOLS
      ? await withServed(usual, at, (step!.args?.names ?? []) as string[])
      : usual
  const decide = (context: ToolContext) =>
    deps.toolBox().decide(step!.name, step!.args ?? {}, context)
  await underLimit(at.sql, async () => {
    const held = heldBack(at, head, hour.calls)
    if (held) return void refuseTool(at, step!, held)
    await decideTool(deps, at, { step: step!, approval, decide })
  })
}

interface DecidingStep {
  step: Step
  approval: Approval | undefined
  decide(context: ToolContext): Promise<Decided>
}

const decideTool = async (
  deps: AgentDeps,
  at: At,
  { step, approval, decide }: DecidingStep,
): Promise<void> => {
  try {
    const acting = await actingFor(deps, at, step, approval)
    if (typeof acting === 'string') return void refuseTool(at, step, acting)
    const decided = await decide(contextOf(at, acting.caller, step))
    await deps.failpoints('agent.executing')
    return decidedTool(deps, at, { step, decided, approval })
  } catch (cause) {
    const refusal = refusalOf(cause)
    if (refusal === undefined) throw cause
    failTool(at, step, refusal)
  }
}

/**
 * A step that is to run beside the mailbox. If it must not, its refusal is written, and the result
 * is undefined.
 */
export const stepToRun = async (
  deps: AgentDeps,
  at: At,
  head: StepHead,
): Promise<Step | undefined> => {
  const { step, approval, hour } = await loadNow(at.sql, {
    step: stepPart(head.id),
    approval: approvalOfStep(head.id),
    hour: callsWithinHour(head.name),
  })
  const acting = await refusable(actingFor(deps, at, step!, approval))
  const refusal =
    heldBack(at, head, hour.calls) ?? (typeof acting === 'string' ? acting : undefined)
  if (refusal === undefined) return step
  refuseTool(at, step!, refusal)
  return undefined
}

/** Decides with what was fetched outside. */
export const reachedStep = async (
  deps: AgentDeps,
  at: At,
  step: Step,
  reached: Reached,
): Promise<void> => {
  const { approval } = await loadNow(at.sql, {
    approval: approvalOfStep(step.id),
    limit: limitPart(TOOL_STATEMENT_MS),
  })
  await underLimit(at.sql, () => decideTool(deps, at, { step, approval, decide: reached }))
}

/** Looks at the record that a step waits for. False: it is not settled yet. */
export const lookAtStep = async (deps: AgentDeps, at: At, head: StepHead): Promise<boolean> => {
  const { step } = await loadNow(at.sql, { step: stepPart(head.id) })
  const context = contextOf(at, at.caller, step!)
  const { value, settled } = await deps
    .toolBox()
    .look(head.name, step!.args ?? {}, step!.awaits!, context)
  const waited = at.gate.now.getTime() - (step!.started_at ?? at.gate.now).getTime()
  if (!settled && !(head.awaits_kind === 'generation' && waited >= GENERATION_WAIT_MS)) return false
  // The time of waiting is not the job's.
  const { active_ms } = at.changes.job
  finishTool(deps, at, step!, value)
  at.changes.set({ active_ms })
  return true
}
