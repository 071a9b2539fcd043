/** The calls of tools in an answer: each is checked and judged. */
import { askEffects } from '#decisions/agent/asking'
import { approversPart } from '#decisions/agent/channel-approvers'
import { definitionHash } from '#domain/agent/hash'
import type { OpenApproval } from '#domain/agent/job/approval'
import type { JobChange } from '#domain/agent/job/change'
import type { Job } from '#domain/agent/job/job'
import { APPROVAL_MS, roomForApprovals } from '#domain/agent/job/limits'
import type { AcceptedCall, Checked } from '#domain/agent/job/model-answer'
import { decisionsOf } from '#domain/agent/job/verdict'
import type { ToolCall } from '#port/model/thinker'
import { openApprovalCount, openApprovalsOf } from '#store/agent/approvals'
import { type BoundRule, toolDecisions } from '#store/agent/rules'
import { equalCalls } from '#store/agent/steps'
import { rolesToCome } from '#store/app/members'
import type { Effects } from '#store/engine/letter'
import { type Loaded, loadNow, when } from '#store/engine/load'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { checkCall, judgeCall, type ThoughtAnswer } from './judging.ts'
import { withServed } from './served.ts'

/** Whether the rule was set for the tool as it is now. */
const isStillMeant =
  (deps: AgentDeps) =>
  ({ tool_name, definition_hash }: BoundRule): boolean => {
    const tool = deps.toolBox().tools.get(tool_name)
    return (
      definition_hash === null ||
      (tool !== undefined && (tool.hash ?? definitionHash(tool)) === definition_hash)
    )
  }

/** What the calls of an answer are judged by. */
const judgingParts = (
  { id, conversation_id: conversation, on_behalf: by, origin }: Job,
  hashes: string[],
) => ({
  rules: toolDecisions,
  pending: openApprovalCount(id, { on_behalf: by, origin }),
  earlier: equalCalls(id, hashes),
  taken: rolesToCome,
  open: when(conversation !== null, openApprovalsOf(conversation ?? '', by)),
})

interface Before {
  earlier: Loaded<ReturnType<typeof judgingParts>>['earlier']
  /** Calls of the same answer. */
  accepted: readonly AcceptedCall[]
}

/** How many earlier calls are equal to it, and how many of those may or may not have happened. */
const equalTo = ({ name }: ToolCall, checked: Checked, { earlier, accepted }: Before) => {
  if ('error' in checked) return { calls: 0, unknown: 0 }
  const { hash } = checked
  const before = earlier.find((other) => other.name === name && other.args_hash === hash)
  const beside = accepted.filter(
    (other) =>
      other.judged.error === undefined &&
      other.call.name === name &&
      'hash' in other.checked &&
      other.checked.hash === hash,
  )
  return { calls: (before?.calls ?? 0) + beside.length, unknown: before?.unknown ?? 0 }
}

/** What a call of the same answer asks of people, as an approval that is open already. */
const openAs = ({ call, checked, judged }: AcceptedCall, now: Date): OpenApproval[] =>
  judged.approval && 'hash' in checked
    ? [
        {
          ...judged.approval,
          tool_name: call.name,
          arguments_hash: checked.hash,
          expires_at: new Date(now.getTime() + APPROVAL_MS),
        },
      ]
    : []

/** The calls of an answer, each with what becomes of it. */
export const judgeCalls = async (
  usual: AgentDeps,
  at: At,
  answer: ThoughtAnswer,
): Promise<AcceptedCall[]> => {
  const { calls } = answer.outcome.thought
  if (calls.length === 0) return []
  const names = calls.map(({ name }) => name)
  const deps = await withServed(
    usual,
    at,
    [...new Set(names)].filter((name) => answer.run.offered.includes(name)),
  )
  const all = calls.map((call) => checkCall(deps, at, call, answer))
  const hashes = all.flatMap((checked) => ('hash' in checked ? checked.hash : []))
  const loaded = await loadNow(at.sql, judgingParts(at.job, hashes))
  const { earlier, taken } = loaded
  const rules = decisionsOf(loaded.rules.filter(isStillMeant(deps)))
  const room = roomForApprovals(loaded.pending)
  const accepted: AcceptedCall[] = []
  for (const [index, call] of calls.entries()) {
    const checked = all[index]!
    const asked = accepted.flatMap((one) => openAs(one, at.gate.now))
    const unasked = accepted.filter(
      ({ call: { name }, judged }) => name === call.name && judged.state === 'ready',
    ).length
    const judged = await judgeCall(deps, at, call, {
      checked,
      answer,
      judging: {
        rules,
        taken,
        unasked,
        room: room - asked.length,
        equal: equalTo(call, checked, { earlier, accepted }),
        open: [...(loaded.open ?? []), ...asked],
      },
    })
    const of = deps.toolBox().tools.get(call.name)?.class ?? null
    accepted.push({ call, class: of, checked, judged })
  }
  return accepted
}

/** People are asked about some of the calls, and those who may decide are told. */
export const asking = async (
  { publicUrl, toolBox }: AgentDeps,
  { sql, job, gate: { now } }: At,
  { asked: approvals }: JobChange,
): Promise<Effects> => {
  if (approvals.length === 0) return {}
  const { approvers } = await loadNow(sql, approversPart)
  const roles = (tool: string) => toolBox().roles(tool)
  return askEffects({ approvals, approvers, roles, by: job.on_behalf, publicUrl, now })
}
