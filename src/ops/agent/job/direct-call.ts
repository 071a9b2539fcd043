/**
 * Makes a job of one step from a direct tool call: the call is carried out in its letter, begun, or
 * asked of a person.
 */
import { askEffects } from '#decisions/agent/asking'
import { approversPart } from '#decisions/agent/channel-approvers'
import { factsAt, jobEffects } from '#decisions/agent/job-effects'
import { refusalOf } from '#decisions/agent/refusal'
import type { Decided, Tool, ToolBox, ToolCaller } from '#decisions/agent/toolbox'
import { argumentsHash } from '#domain/agent/hash'
import { type Approval, approvalUrl, directCaller, newApproval } from '#domain/agent/job/approval'
import { unchanged } from '#domain/agent/job/change'
import { callingJob, isOver, type Job, newAction, type OnBehalf } from '#domain/agent/job/job'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { askedNews, type News, statusNews } from '#domain/agent/job/news'
import { keptResult, newStep, type Step } from '#domain/agent/job/step'
import { AppError, type ErrorCode } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { AwaitedResult, CommandContext, HandlerResult } from '../../engine/call.ts'

export interface Acting {
  tools: ToolBox
  publicUrl: string
  context: CommandContext
  tool: Tool
  args: Record<string, unknown>
  by: OnBehalf
  caller: ToolCaller
}

type Called = HandlerResult<{ result: unknown }>

/** The call's job with its one step. */
const startCall = (
  { context, tool, args, by }: Acting,
  state: Step['state'],
  more: Partial<Step> = {},
): { job: Job; step: Step } => {
  const { now } = context.gate
  const job = newAction(newId(), {
    goal: tool.title,
    tool: tool.name,
    on_behalf: by,
    model: NO_MODEL,
    now,
  })
  const call = { name: tool.name, class: tool.class, args, args_hash: argumentsHash(args) }
  return {
    job,
    step: newStep(
      { id: newId(), job_id: job.id, number: 1, kind: 'tool', state, ...call, ...more },
      now,
    ),
  }
}

/** Both rows, and what happened. `due`: its work is, unless it is over. */
const recordCall = (job: Job, step: Step, news: readonly News[], due?: Date): Effects => {
  const change = unchanged(job, factsAt(job.updated_at))
  return jobEffects({ ...change, isNew: true, added: [step], news, due })
}

/** A call that is finished within its letter. */
const endCall = (job: Job, step: Step): Effects => {
  const { number, kind, name, state, error, ended_at } = step
  const end =
    state === 'done'
      ? { status: 'completed', error: null }
      : { status: 'failed', error: error && 'capability_failed' }
  const ended = { ...job, ...end, tool_calls: 1, started_at: step.started_at, ended_at } as Job
  return recordCall(ended, step, [
    { type: 'step.ended', data: { number, kind, name, state, ms: 0 } },
    statusNews(ended),
  ])
}

/** Refusals that mean that the call itself was wrong, so that no call was made. */
const CALLERS: readonly ErrorCode[] = ['invalid_input', 'plan_invalid']

/** Carries the call out in this letter. A refusal by the handler is recorded too. */
export const execute = async (acting: Acting): Promise<Called> => {
  const { tools, tool, args, caller, context } = acting
  const { now } = context.gate
  const { job, step } = startCall(acting, 'done', { started_at: now, ended_at: now })
  try {
    const { sql, gate, lanes } = context
    const decided = await tools.decide(tool.name, args, {
      sql,
      gate,
      lanes,
      caller,
      job: callingJob(job, step),
    })
    return finishCall(acting, { job, step, decided })
  } catch (cause) {
    const refusal =
      cause instanceof AppError && CALLERS.includes(cause.code) ? undefined : refusalOf(cause)
    if (refusal === undefined) throw cause
    return {
      reply: { result: null },
      effects: endCall(job, {
        ...step,
        state: 'failed',
        error: refusal,
        result: { text: refusal },
      }),
      refId: job.id,
      auditDetail: { tool: tool.name },
      refusal: { error: new AppError('capability_failed', refusal), refId: job.id },
    }
  }
}

const finishCall = (
  { tools, tool }: Acting,
  { job, step, decided }: { job: Job; step: Step; decided: Decided },
): Called => {
  const { audit, ...effects } = decided.effects
  const value = tools.kept(tool.name, decided.value)
  const untrusted = tools.isForeign(tool.name, value) ? tool.name : null
  const kept: Step = { ...step, untrusted, ...keptResult(tools.text(tool.name, value), { value }) }
  return {
    reply: { result: decided.value },
    refId: job.id,
    effects: merge(effects, endCall({ ...job, taint: untrusted ? [untrusted] : [] }, kept)),
    auditDetail: {
      ...audit?.detail,
      tool: tool.name,
      ...(audit?.refId ? { record: audit.refId } : {}),
    },
  }
}

/** Leaves the call to the lane, because it takes longer than a letter may. */
export const begin = (acting: Acting): AwaitedResult => {
  const { job, step } = startCall(acting, 'ready')
  return {
    awaits: job.id,
    effects: recordCall(job, step, [statusNews(job)], job.created_at),
  }
}

/** Asks a person: the call waits for the decision, and the caller is told where. */
export const ask = async (acting: Acting, why: string[], who: string): Promise<Called> => {
  const { tools, tool, args, by, publicUrl, context } = acting
  const said = await tools.subject(tool.name, args, context.sql)
  const { job: begun, step } = startCall(acting, 'asked', { why })
  const job: Job = { ...begun, status: 'waiting_approval', goal: said.summary }
  const { now } = context.gate
  const asked = { ...said, direct_by: directCaller(by), conversation_id: null, now }
  const approval = newApproval(newId(), job, step, asked)
  const { approvers } = await loadNow(context.sql, approversPart)
  const roles = (name: string) => tools.roles(name)
  const news = [askedNews(approval, step, publicUrl), statusNews(job)]
  return {
    reply: { result: null },
    effects: merge(
      recordCall(job, step, news, approval.expires_at),
      askEffects({ approvals: [approval], approvers, roles, by, publicUrl, now }),
    ),
    refId: job.id,
    auditDetail: { tool: tool.name, approval_id: approval.id },
    refusal: approvalRequired(approval, publicUrl, who),
  }
}

/**
 * The refusal that names the approval, its job, the page where a person decides, and who can
 * decide.
 */
export const approvalRequired = (
  { id, job_id }: Approval,
  publicUrl: string,
  who: string,
): NonNullable<Called['refusal']> => {
  const url = approvalUrl(publicUrl, id)
  const named = { approval: id, job: job_id, url }
  const details = Object.entries(named).map(([path, message]) => ({ path, message }))
  return {
    error: new AppError('approval_required', `a person must allow this call at ${url}; ${who}`, {
      details,
    }),
    refId: job_id,
  }
}

const REASONS: Record<string, string> = {
  approval_expired: 'nobody approved it within 24 hours',
  caller_gone: 'whoever called has no access to the workspace any more',
  unknown: 'it may have happened; the process that ran it died',
}

/**
 * The outcome of a call; `open` while it is not over. Throws `approval_required` and
 * `capability_failed`.
 */
export const callOutcome = (
  job: Job,
  { state, error, result }: Step,
  { approval, publicUrl, who }: { approval: Approval | undefined; publicUrl: string; who: string },
): 'open' | { result: unknown } => {
  if (job.status === 'completed') return { result: result?.value ?? null }
  if (isOver(job)) {
    const reason = state === 'rejected' && job.error !== 'approval_expired' ? result?.text : error
    throw new AppError(
      'capability_failed',
      reason ?? REASONS[job.error ?? ''] ?? `the call was ${job.status}`,
    )
  }
  if (approval?.status === 'pending') throw approvalRequired(approval, publicUrl, who).error
  return 'open'
}
