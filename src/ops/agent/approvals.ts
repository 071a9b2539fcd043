import type { approvals } from '#contract/agent/approvals'
import type { ToolBox } from '#decisions/agent/toolbox'
import type { Reader } from '#domain/agent/conversation'
import { argumentsHash } from '#domain/agent/hash'
import { type Approval, decide, requireSeenCall } from '#domain/agent/job/approval'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { approvalView } from '#domain/agent/job/views'
import { fail, found } from '#kernel/errors'
import {
  type ApprovalRow,
  approvalPart,
  approvalsPage,
  shownApproval,
} from '#store/agent/approvals'
import { jobOfApproval } from '#store/agent/jobs'
import { servedToolOfApproval } from '#store/agent/mcp-tools'
import { hostRuleCount } from '#store/agent/rules'
import { stepOfApproval } from '#store/agent/steps'
import { threadOfApproval } from '#store/agent/thread'
import { visibilityOfApproval } from '#store/agent/visibility'
import { decidersPart } from '#store/app/members'
import { loadBy, when } from '#store/engine/load'
import { type Principal, partyOf, personOf, roleOf } from '#store/engine/principal'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import {
  checkedBy,
  editedBy,
  editedStep,
  requireFresh,
  requireSame,
  requireSeenByMost,
} from './approval/arguments.ts'
import { applyDecision } from './approval/deciding.ts'
import { approvalReader } from './approval/reading.ts'
import { rememberedRule } from './approval/remembering.ts'
import { mayRunTool, type DecidingReader as Standing, standing } from './approval/standing.ts'

const NO_SUCH = 'no such approval'

const requireApproval = (approval: Approval | undefined): Approval => found(approval, NO_SUCH)

const decidedParts = (id: string, as: Reader) => ({
  approval: approvalPart(id),
  job: jobOfApproval(id),
  step: stepOfApproval(id),
  hidden: visibilityOfApproval(id, as),
})

interface Deps {
  tools: ToolBox
  publicUrl: string
}

type All = Handlers<typeof approvals>

const readingHandlers = ({ tools, publicUrl }: Deps): Pick<All, 'list' | 'get'> => {
  const shown = (
    { job_taint: taint, is_hidden: isHidden, ...approval }: ApprovalRow,
    reader: Standing,
  ) => approvalView(approval, { publicUrl, taint, isHidden, ...standing(tools, approval, reader) })
  return {
    async list({ status, ...input }, { read, principal }) {
      const page = pageOf(input)
      const as = approvalReader(tools, principal)
      const { approvals, members } = await loadBy(read, {
        approvals: approvalsPage({ ...page, status, as }),
        members: decidersPart,
      })
      const { rows, next_cursor } = pageResult(approvals, page.limit)
      return { approvals: rows.map((row) => shown(row, { principal, members })), next_cursor }
    },

    async get({ id }, { read, principal }) {
      const as = approvalReader(tools, principal)
      const { approval, members } = await loadBy(read, {
        approval: shownApproval(id, as),
        members: decidersPart,
      })
      const { record_id, ...rest } = found(approval, NO_SUCH)
      return { approval: shown(rest, { principal, members }), record_id }
    },
  }
}

interface Decider {
  principal: Principal
  /** Whether the reader does not see the conversation. */
  hidden: boolean
  /** Whether the conversation was deleted. */
  gone: boolean
}

/**
 * Throws `forbidden`: only people who may run the operation themselves decide about a call. Nobody
 * else sees a call of a private conversation.
 */
const requireMay = (
  tools: ToolBox,
  { tool_name }: Approval,
  { principal, hidden, gone }: Decider,
): void => {
  if (gone) fail('not_found', NO_SUCH)
  if (mayRunTool(tools, tool_name, principal)) return
  if (hidden) fail('not_found', NO_SUCH)
  fail(
    'forbidden',
    `the role ${roleOf(principal)} cannot decide about ${tool_name}, because it cannot run it`,
  )
}

const decisionOf = ({ gate, principal }: CommandContext) => ({
  decided_how: 'person' as const,
  decided_by: personOf(principal),
  now: gate.now,
})

interface Told {
  job: Job | undefined
  /** As it is after the decision. */
  step: Pick<Step, 'state' | 'error'> | undefined
  hidden: Pick<Decider, 'hidden'>
}

const READY = { state: 'ready', error: null } as const

/** A call that was decided names nobody who can decide it. */
const replyOf = (
  { tools, publicUrl }: Deps,
  approval: Approval,
  { job, step, hidden: { hidden: isHidden } }: Told,
  principal: Principal,
) => {
  const known = {
    publicUrl,
    taint: job?.taint ?? null,
    isHidden,
    ...standing(tools, approval, { principal, members: [] }),
  }
  const shown = { ...approval, step: step ? { state: step.state, error: step.error } : null }
  return { reply: { approval: approvalView(shown, known) } }
}

const approve = (deps: Deps): All['approve'] =>
  loading(
    ({ id, remember }, { principal }) => ({
      ...decidedParts(id, partyOf(principal)),
      thread: threadOfApproval(id),
      served: servedToolOfApproval(id),
      hosts: when(remember !== undefined, hostRuleCount),
    }),
    async (
      { arguments: given, expect_sha256: seen },
      context,
      { approval: asked, job, hidden, step, thread, hosts, served },
    ) => {
      const { principal } = context
      const before = requireApproval(asked)
      const tools = served ? deps.tools.and([served]) : deps.tools
      requireMay(tools, before, { principal, ...hidden })
      const changes =
        given && checkedBy(tools, before, { given, handles: thread?.handles ?? {}, job })
      if (changes && argumentsHash(changes) !== before.arguments_hash)
        await requireSeenByMost(changes, job, context)
      const approved = decide(before, 'approved', decisionOf(context))
      if (approved === before) {
        requireSame(before, changes, personOf(principal))
        return { ...replyOf(deps, before, { job, step, hidden }, principal), unchanged: true }
      }
      if (seen !== undefined) {
        requireSeenCall(before, seen)
        await requireFresh(tools, before, context)
      }
      const edited = changes && (await editedBy(tools, approved, changes, context))
      const approval = edited ?? approved
      const { going, names } = edited
        ? editedStep(edited, step?.why ?? [], thread?.handles ?? {})
        : { going: {}, names: {} }
      const rules = hosts
        ? rememberedRule(tools, { approval, hosts: hosts.count, served }, context)
        : {}
      return {
        ...replyOf(deps, approval, { job, step: READY, hidden }, principal),
        ...applyDecision(
          { job, thread, rules },
          { approval, step, going: { state: 'ready', ...going }, names },
          context,
        ),
      }
    },
  )

const reject = (deps: Deps): All['reject'] =>
  loading(
    ({ id }, { principal }) => decidedParts(id, partyOf(principal)),
    ({ reason, expect_sha256: seen }, context, { approval: asked, job, hidden, step }) => {
      const { principal, gate } = context
      const before = requireApproval(asked)
      requireMay(deps.tools, before, { principal, ...hidden })
      const approval = decide(before, 'rejected', {
        ...decisionOf(context),
        reason: reason?.trim() || null,
      })
      if (approval === before)
        return { ...replyOf(deps, before, { job, step, hidden }, principal), unchanged: true }
      // Refusing changes no record, so it does not matter whether one has changed.
      if (seen !== undefined) requireSeenCall(before, seen)
      const text =
        approval.reason === null
          ? 'A person rejected this call.'
          : `A person rejected this call: ${approval.reason}`
      const going = { state: 'rejected', result: { text }, ended_at: gate.now } as const
      return {
        ...replyOf(deps, approval, { job, step, hidden }, principal),
        ...applyDecision({ job }, { approval, step, going }, context),
      }
    },
  )

export const approvalHandlers = (deps: Deps): All => ({
  ...readingHandlers(deps),
  approve: approve(deps),
  reject: reject(deps),
})
