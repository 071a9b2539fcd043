/** The calls of tools in an answer: each is checked, judged, and becomes a step. */
import { questionOf } from '#decisions/agent/asking'
import { approversPart, tellApprovers } from '#decisions/agent/channel-approvers'
import { definitionHash } from '#domain/agent/hash'
import type { Approval } from '#domain/agent/job/approval'
import type { Job } from '#domain/agent/job/job'
import { roomForApprovals } from '#domain/agent/job/limits'
import { newStep, type Step } from '#domain/agent/job/step'
import { decisionsOf } from '#domain/agent/job/verdict'
import { newId } from '#kernel/ids'
import { beginning, storable } from '#kernel/storable'
import type { ToolCall } from '#port/model/thinker'
import { insertApprovals, openApprovalCount, openApprovalsOf } from '#store/agent/approvals'
import { type BoundRule, toolDecisions } from '#store/agent/rules'
import { equalCalls } from '#store/agent/steps'
import { rolesToCome } from '#store/app/members'
import { type Loaded, loadNow, when } from '#store/engine/load'
import { invalid } from './answer.ts'
import { type At, again, giveWay } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { type Checked, checkCall, type Judged, judgeCall, type ThoughtAnswer } from './judging.ts'
import { withServed } from './served.ts'

/** Whether the rule is about the tool as it is now. */
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
  /** Of the same answer. */
  accepted: readonly Step[]
}

/**
 * How many calls before it are equal to it, and of how many of those it is not known whether they
 * happened.
 */
const equalTo = ({ name }: ToolCall, checked: Checked, { earlier, accepted }: Before) => {
  const isEqual = (other: Pick<Step, 'name' | 'args_hash'>) =>
    other.name === name && 'hash' in checked && other.args_hash === checked.hash
  const before = earlier.find(isEqual)
  return {
    calls: (before?.calls ?? 0) + accepted.filter(isEqual).length,
    unknown: before?.unknown ?? 0,
  }
}

/**
 * Each call of the answer becomes a step. An answer without a usable call counts against the job.
 */
export const acceptCalls = async (usual: AgentDeps, at: At, answer: ThoughtAnswer) => {
  const { calls } = answer.outcome.thought
  const names = calls.map(({ name }) => name)
  const deps = await withServed(
    usual,
    at,
    [...new Set(names)].filter((name) => answer.run.offered.includes(name)),
  )
  const all = calls.map((call) => checkCall(deps, at, call, answer))
  const hashes = all.flatMap((checked) => ('hash' in checked ? checked.hash : []))
  const loaded = await loadNow(at.sql, judgingParts(at.changes.job, hashes))
  const { rules, pending, earlier, taken } = loaded
  const room = roomForApprovals(pending)
  const unasked = new Map<string, number>()
  const judging = { rules: decisionsOf(rules.filter(isStillMeant(deps))), room, unasked, taken }
  const approvals: Approval[] = []
  const accepted: Step[] = []
  let usable = 0
  for (const [index, call] of calls.entries()) {
    const checked = all[index]!
    const equal = equalTo(call, checked, { earlier, accepted })
    const room = judging.room - approvals.length
    const verdict = await judgeCall(deps, at, call, {
      checked,
      answer,
      judging: { ...judging, room, equal, open: [...(loaded.open ?? []), ...approvals] },
    })
    const step = addStep(deps, at, { call, checked, verdict, ofStep: answer.step.number })
    if (verdict.error === undefined) accepted.push(step)
    if (verdict.state === 'ready') unasked.set(call.name, (unasked.get(call.name) ?? 0) + 1)
    if (verdict.approval) approvals.push(ask(deps, at, step, verdict.approval))
    if (!('error' in checked)) usable++
  }
  if (approvals.length > 0) await askPeople(deps, at, approvals)
  if (usable === 0) return invalid(at)
  at.changes.set({ invalid_answers: 0 })
  // Its calls are before those of the commands after it, which need not wait for their end.
  if (at.changes.job.typed) giveWay(at)
  return again(at, at.gate.now)
}

const askPeople = async (
  { publicUrl, toolBox }: AgentDeps,
  { sql, changes, gate }: At,
  approvals: Approval[],
): Promise<void> => {
  changes.also({ writes: [insertApprovals(approvals)] })
  const { approvers } = await loadNow(sql, approversPart)
  const roles = (tool: string) => toolBox().roles(tool)
  changes.also(
    tellApprovers({
      approvals,
      approvers,
      roles,
      by: changes.job.on_behalf,
      publicUrl,
      now: gate.now,
    }),
  )
}

interface Added {
  call: ToolCall
  checked: Checked
  verdict: Judged
  ofStep: number
}

const addStep = (
  deps: AgentDeps,
  { changes, gate }: At,
  { call, checked, verdict, ofStep }: Added,
): Step => {
  const { state, why, error } = verdict
  const step = changes.add((number) =>
    newStep(
      {
        id: newId(),
        job_id: changes.job.id,
        number,
        kind: 'tool',
        name: call.name,
        state,
        why,
        call: call.id,
        asked: beginning(storable(call.arguments), LONGEST_ASKED),
        of_step: ofStep,
        ...('error' in checked ? {} : { args: checked.args, args_hash: checked.hash }),
        class: deps.toolBox().tools.get(call.name)?.class ?? null,
        // It has never begun: a call that is refused counts as none.
        ...(error === undefined ? {} : { error, result: { text: error }, ended_at: gate.now }),
      },
      gate.now,
    ),
  )
  if (error !== undefined) changes.endedStep(step)
  return step
}

/** In characters: the longest arguments of a transcript. */
const LONGEST_ASKED = 20_000

const ask = (
  { publicUrl }: AgentDeps,
  { changes, gate, family: { goal } }: At,
  step: Step,
  said: Pick<Approval, 'summary' | 'subject'>,
): Approval => {
  const { approval, news, event } = questionOf({ ...changes.job, goal }, step, {
    ...said,
    direct_by: null,
    conversation_id: changes.conversationId,
    now: gate.now,
    publicUrl,
  })
  changes.event(news.type, news.data)
  changes.also({ events: [event] })
  return approval
}
