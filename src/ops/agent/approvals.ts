import type { approvals } from '#contract/agent/approvals'
import { type News, withEvents } from '#decisions/agent/job-events'
import type { ToolBox } from '#decisions/agent/toolbox'
import { newWork } from '#decisions/work'
import type { Reader } from '#domain/agent/conversation'
import { argumentsHash } from '#domain/agent/hash'
import { type Approval, decide, EDITED, shownSummary } from '#domain/agent/job/approval'
import { mayAsMuch } from '#domain/agent/job/authors'
import { HandleBook, type Handles } from '#domain/agent/job/handles'
import { isOver, type Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { LESSER, unseenArgument, unseenIn } from '#domain/agent/job/verdict'
import { approvalView } from '#domain/agent/job/views'
import { AppError, fail, found } from '#kernel/errors'
import { type ApprovalReader, approvalPart, approvalsPage, type ShownApproval, saveApproval, shownApproval } from '#store/agent/approvals'
import { callerNow } from '#store/agent/callers'
import { eventEffects } from '#store/agent/events'
import { jobOfApproval, saveJob } from '#store/agent/jobs'
import { servedToolOfApproval } from '#store/agent/mcp-tools'
import { hostRuleCount } from '#store/agent/rules'
import { saveStep, stepOfApproval } from '#store/agent/steps'
import { saveThread, type Thread, threadOfApproval } from '#store/agent/thread'
import { visibilityOfApproval } from '#store/agent/visibility'
import { decidersPart } from '#store/app/members'
import type { Query } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { loadBy, loadNow, when } from '#store/engine/load'
import { type Principal, partyOf, personOf, roleOf } from '#store/engine/principal'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { rememberedRule } from './approval/remembering.ts'
import { mayRunTool, type Reader as Standing, standing } from './approval/standing.ts'

type Arguments = Record<string, unknown>

const NO_SUCH = 'no such approval'

const the = (approval: Approval | undefined): Approval => found(approval, NO_SUCH)

const deciding = (id: string, as: Reader) => ({
  ...{ approval: approvalPart(id), job: jobOfApproval(id), step: stepOfApproval(id), hidden: visibilityOfApproval(id, as) },
})

const approving = (id: string, as: Reader) => ({ ...deciding(id, as), thread: threadOfApproval(id), served: servedToolOfApproval(id) })

interface Deps {
  tools: ToolBox
  publicUrl: string
}

/** A program's key, which can decide about nothing, sees of private conversations what its person may decide. */
const approvalReader = (tools: ToolBox, principal: Principal): ApprovalReader => {
  const known = [...tools.tools.keys()]
  if (!principal.member) return { ...partyOf(principal), known, tools: [], served: false }
  const may = (name: string) => mayRunTool(tools, name, principal)
  // What is no operation is a tool of a server.
  return { ...partyOf(principal), known, tools: known.filter(may), served: may('') }
}

const readingHandlers = ({ tools, publicUrl }: Deps): Pick<Handlers<typeof approvals>, 'list' | 'get'> => {
  const shown = ({ job_taint: taint, is_hidden: isHidden, ...approval }: ShownApproval, reader: Standing) =>
    approvalView(approval, { publicUrl, taint, isHidden, ...standing(tools, approval, reader) })
  return {
    async list({ status, ...input }, { read, principal }) {
      const page = pageOf(input)
      const as = approvalReader(tools, principal)
      const { approvals, members } = await loadBy(read, { approvals: approvalsPage({ ...page, status, as }), members: decidersPart })
      const { rows, next_cursor } = pageResult(approvals, page.limit)
      return { approvals: rows.map((row) => shown(row, { principal, members })), next_cursor }
    },

    async get({ id }, { read, principal }) {
      const as = approvalReader(tools, principal)
      const { approval, members } = await loadBy(read, { approval: shownApproval(id, as), members: decidersPart })
      const { record_id, ...rest } = found(approval, NO_SUCH)
      return { approval: shown(rest, { principal, members }), record_id }
    },
  }
}

interface Told {
  job: Job | undefined
  hidden: Pick<Decider, 'hidden'>
}

export const approvalHandlers = ({ tools: usual, publicUrl }: Deps): Handlers<typeof approvals> => {
  // Decided now, it names nobody who can decide.
  const reply = (approval: Approval, { job, hidden: { hidden: isHidden } }: Told, principal: Principal) => {
    const known = { publicUrl, taint: job?.taint ?? null, isHidden, ...standing(usual, approval, { principal, members: [] }) }
    return { reply: { approval: approvalView(approval, known) } }
  }
  return {
    ...readingHandlers({ tools: usual, publicUrl }),

    approve: loading(
      ({ id, remember }, { principal }) => ({ ...approving(id, partyOf(principal)), hosts: when(remember !== undefined, hostRuleCount) }),
      async ({ arguments: given }, context, { approval: asked, job, hidden, step, thread, hosts, served }) => {
        const before = the(asked)
        const tools = served ? usual.and([served]) : usual
        requireMay(tools, before, { principal: context.principal, ...hidden })
        const changes = given && checkedBy(tools, before, { given, handles: thread?.handles ?? {}, job })
        if (changes && argumentsHash(changes) !== before.arguments_hash) await requireSeenByMost(changes, job, context)
        const approved = decide(before, 'approved', decisionOf(context))
        if (approved === before) {
          requireSame(before, changes, personOf(context.principal))
          return { ...reply(before, { job, hidden }, context.principal), unchanged: true }
        }
        const edited = changes && (await editedBy(tools, approved, changes, context))
        const approval = edited ?? approved
        const { names = [], ...told } = edited ? editedStep(edited, { step, thread }, context) : {}
        const rules = hosts ? rememberedRule(tools, { approval, hosts: hosts.count, served }, context) : {}
        return {
          ...reply(approval, { job, hidden }, context.principal),
          ...decided(approval, { job, step, rules, names }, { state: 'ready', ...told }, context),
        }
      },
    ),

    reject: loading(
      ({ id }, { principal }) => deciding(id, partyOf(principal)),
      ({ reason }, context, { approval: asked, job, hidden, step }) => {
        const before = the(asked)
        requireMay(usual, before, { principal: context.principal, ...hidden })
        const approval = decide(before, 'rejected', { ...decisionOf(context), reason: reason?.trim() || null })
        if (approval === before) return { ...reply(before, { job, hidden }, context.principal), unchanged: true }
        const text = approval.reason === null ? 'A person rejected this call.' : `A person rejected this call: ${approval.reason}`
        const going = { state: 'rejected', result: { text }, ended_at: context.gate.now } as const
        return { ...reply(approval, { job, hidden }, context.principal), ...decided(approval, { job, step }, going, context) }
      },
    ),
  }
}

interface Decider {
  principal: Principal
  /** Whether they do not see the conversation. */
  hidden: boolean
  /** Whether it was deleted. */
  gone: boolean
}

/** Throws `forbidden`: only those decide about a call who may run the operation themselves. Nobody else sees that of a private conversation. */
const requireMay = (tools: ToolBox, { tool_name }: Approval, { principal, hidden, gone }: Decider): void => {
  if (gone) fail('not_found', NO_SUCH)
  if (mayRunTool(tools, tool_name, principal)) return
  if (hidden) fail('not_found', NO_SUCH)
  fail('forbidden', `the role ${roleOf(principal)} cannot decide about ${tool_name}, because it cannot run it`)
}

const decisionOf = ({ gate, principal }: CommandContext) => ({
  decided_how: 'person' as const,
  decided_by: personOf(principal),
  now: gate.now,
})

interface Given {
  given: Arguments
  /** Of the conversation. */
  handles: Handles
  job: Job | undefined
}

/** The arguments that a person gives instead, with any ids, or handles of the conversation. Throws `invalid_input`, with their place. */
const checkedBy = (tools: ToolBox, { tool_name, arguments_hash }: Approval, { given, handles, job }: Given): Arguments => {
  try {
    const changes = tools.checked(tool_name, new HandleBook(handles).resolve(given, JSON.stringify(given)))
    if (job && argumentsHash(changes) !== arguments_hash) requireSeen(changes, job)
    return changes
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    if (cause.code === 'not_found')
      fail('invalid_input', `arguments: ${cause.detail}`, { details: [{ path: 'arguments', message: cause.detail }] })
    if (cause.code !== 'invalid_input') throw cause
    const details = (cause.details ?? []).map(({ path, message }) => ({ path: path ? `arguments.${path}` : 'arguments', message }))
    return fail('invalid_input', `arguments: ${cause.detail}`, { details })
  }
}

/** Throws `invalid_input`, with the place of what nobody would see. */
const requireSeen = (changes: Arguments, job: Job): void => {
  const flaw = unseenArgument(changes, job)
  if (flaw) fail('invalid_input', `${flaw.path} ${flaw.message}`, { details: [flaw] })
}

/** The same for the words of a decider who may not do all that the job's caller may: what they write counts as that of people outside. */
const requireSeenByMost = async (changes: Arguments, job: Job | undefined, { principal, sql }: CommandContext): Promise<void> => {
  const flaw = unseenIn(changes, LESSER)
  if (!flaw || !job) return
  const { now } = await loadNow(sql, { now: callerNow(job.on_behalf) })
  if (!now || mayAsMuch({ role: roleOf(principal), scopes: null, gone: false }, now)) return
  const { path, message } = flaw
  fail('invalid_input', `arguments: ${path} ${message}`, { details: [{ path: `arguments.${path}`, message }] })
}

/** The approval of other arguments than those asked about, bound to what they name. Undefined if they are the same. */
const editedBy = async (tools: ToolBox, approved: Approval, args: Arguments, { sql }: CommandContext): Promise<Approval | undefined> => {
  const arguments_hash = argumentsHash(args)
  if (arguments_hash === approved.arguments_hash) return undefined
  const said = { ...(await tools.subject(approved.tool_name, args, sql)), arguments: args }
  return { ...approved, ...said, summary: shownSummary(said), arguments_hash, edited: true }
}

interface Edited {
  step: Step | undefined
  thread: Thread | undefined
}

/** The step with a person's arguments, which the model is shown by the names that records have in the conversation. */
const editedStep = (
  { arguments: args, arguments_hash: args_hash }: Approval,
  { step, thread }: Edited,
  { gate: { now } }: CommandContext,
) => {
  const book = new HandleBook(thread?.handles ?? {})
  const asked = JSON.stringify(book.shorten(args))
  const isNew = thread !== undefined && Object.keys(book.added).length > 0
  const names = isNew ? [saveThread({ ...thread, handles: { ...thread.handles, ...book.added } }, now)] : []
  return { args, args_hash, asked, why: [...(step?.why ?? []), EDITED], names }
}

/** Throws `conflict` if the call was approved with other arguments than these, or than those that this person saw who gives none. */
const requireSame = (approval: Approval, changes: Arguments | undefined, by: string): void => {
  const isOther = changes ? argumentsHash(changes) !== approval.arguments_hash : approval.edited && approval.decided_by !== by
  if (isOther) fail('conflict', 'cannot approve: the call was already approved with other arguments')
}

interface Asking {
  job: Job | undefined
  step: Step | undefined
  /** That the person sets with the decision. */
  rules?: Effects
  /** Records that the conversation has a name for from now on. */
  names?: Query[]
}

/** The decision, what it does to the step, and the job's work, due now. */
const decided = (
  approval: Approval,
  { job, step, rules = {}, names = [] }: Asking,
  going: Partial<Step>,
  { gate: { now } }: CommandContext,
) => {
  if (!job || isOver(job)) fail('conflict', `cannot decide: the job is ${job?.status ?? 'gone'}`)
  if (step?.state !== 'asked') fail('conflict', `cannot decide: the call is ${step?.state ?? 'gone'}`)
  const next: Step = { ...step!, ...going, updated_at: now }
  const told = withEvents({ ...job!, updated_at: now }, newsOf(approval, next), now)
  const writes = [saveApproval(approval), saveStep(next), saveJob(told.job), ...names]
  const work = [newWork('agent', { root: told.job.root_id, refId: told.job.id, origin: told.job.origin, runAt: now })]
  const effects = merge({ writes, events: [settledEvent(approval)], work }, rules, eventEffects(told.events))
  const auditDetail = {
    tool: approval.tool_name,
    job_id: approval.job_id,
    edited: approval.edited,
    ...(rules.writes && { remember: 'workspace' }),
  }
  return { effects, auditDetail }
}

const settledEvent = ({ id, job_id, tool_name, status, edited }: Approval) => ({
  type: 'agent.approval.decided',
  data: { approval_id: id, job_id, tool_name, status, edited },
  subject: id,
})

const newsOf = ({ id, status, reason, tool_name, edited }: Approval, { number, kind, name, state }: Step): News[] => [
  { type: 'approval.decided', data: { approvalId: id, status, reason, tool: tool_name, edited, number } },
  ...(state === 'rejected' ? [{ type: 'step.ended' as const, data: { number, kind, name, state } }] : []),
]
