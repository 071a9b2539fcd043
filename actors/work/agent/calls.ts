/** The calls of tools in an answer: each is checked, judged, and becomes a step. */
import { questionOf } from '#decisions/agent/asking'
import { approversPart, tellApprovers } from '#decisions/agent/channel-approvers'
import { refusalOf } from '#decisions/agent/refusal'
import type { Tool } from '#decisions/agent/toolbox'
import { argumentsHash, definitionHash } from '#domain/agent/hash'
import { type Approval, type OpenApproval, openFor, type Subject } from '#domain/agent/job/approval'
import { HandleBook } from '#domain/agent/job/handles'
import type { Job } from '#domain/agent/job/job'
import { roomForApprovals } from '#domain/agent/job/limits'
import { newStep, type Step } from '#domain/agent/job/step'
import { decisionsOf, type RuleDecision, unseenArgument, verdictOf } from '#domain/agent/job/verdict'
import { RUN_MAKERS } from '#domain/agent/trigger/schedule'
import { nobodyDecides } from '#kernel/deciders'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { beginning, storable } from '#kernel/storable'
import type { ToolCall } from '#port/model/thinker'
import { insertApprovals, openApprovalsOf, pendingCount } from '#store/agent/approvals'
import { type BoundRule, toolDecisions } from '#store/agent/rules'
import { equalCalls, unaskedCalls } from '#store/agent/steps'
import { rolesToCome } from '#store/app/members'
import { loadNow, when } from '#store/engine/load'
import { invalid } from './answer.ts'
import { type At, again, giveWay } from './at.ts'
import type { AgentDeps } from './deps.ts'
import type { AgentOutcome } from './outcome.ts'
import type { AgentRun } from './run.ts'
import { withServed } from './served.ts'
import { IN_VAIN } from './trying.ts'

interface Answer {
  run: Extract<AgentRun, { kind: 'think' }>
  step: Step
  outcome: Extract<AgentOutcome, { kind: 'thought' }>
  /** The letter failed three times: no further record is read for a call. */
  isInVain: boolean
}

type Checked = { args: Record<string, unknown>; hash: string } | { error: string }

/** What a call becomes. */
type Judged = Pick<Step, 'state' | 'why'> & { error?: string; approval?: { summary: string; subject: Subject } }

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    return undefined
  }
}

const NOT_AN_OBJECT = 'the arguments are not a JSON object'

/** A command that a person has typed just now, and no other agent. */
const isOwnAct = ({ changes: { job } }: At, { byDesk }: Answer['outcome']): boolean =>
  byDesk && job.on_behalf.kind === 'session' && job.origin === 'manual' && job.kind !== 'delegate'

/** Whether the model was told of a field. */
const isOffered = ({ parameters }: Tool, field: string): boolean =>
  Object.hasOwn((parameters.properties ?? {}) as Record<string, unknown>, field)

/** The arguments as the operation takes them: with ids in the place of handles. */
const checkedCall = (deps: AgentDeps, at: At, { name, arguments: text }: ToolCall, { run, outcome }: Answer): Checked => {
  const box = deps.toolBox()
  if (!box.tools.has(name) || !run.offered.includes(name)) return { error: `there is no tool ${name} in this job` }
  const given = parsed(text)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { error: NOT_AN_OBJECT }
  try {
    const isServed = box.tools.get(name)!.server !== undefined
    // A server's ids are its own.
    const args = box.checked(name, isServed ? given : new HandleBook(at.changes.handles).resolve(given, outcome.typed))
    const unseen = unseenArgument(args, at.changes.job)
    if (unseen) return { error: `${unseen.path} ${unseen.message}` }
    const peoples =
      isServed || isOwnAct(at, outcome) ? undefined : Object.keys(args).find((field) => !isOffered(box.tools.get(name)!, field))
    return peoples === undefined
      ? { args, hash: argumentsHash(args) }
      : { error: `${peoples} can only be given by a person, who decides about the call` }
  } catch (cause) {
    return { error: refusalOf(cause) ?? 'the arguments cannot be used' }
  }
}

interface Judging {
  rules: ReadonlyMap<string, RuleDecision>
  /** Approvals that may still be asked for. */
  room: number
  /** Calls before it with equal arguments, and those of them of which it is not known whether they happened. */
  equal: { calls: number; unknown: number }
  /** Calls before it in the same answer that nobody is asked about, by tool. */
  unasked: ReadonlyMap<string, number>
  /** Roles that members have, or may have soon. */
  taken: readonly Role[]
  /** What jobs of the conversation ask already, this one's before the call among them. */
  open: readonly OpenApproval[]
}

const failed = (error: string): Judged => ({ state: 'failed', why: [], error })

const judged = async (
  deps: AgentDeps,
  at: At,
  call: ToolCall,
  { checked, answer, judging }: { checked: Checked; answer: Answer; judging: Judging },
): Promise<Judged> => {
  if ('error' in checked) return failed(checked.error)
  const { name } = call
  const tool = deps.toolBox().tools.get(name)!
  const { job } = at.changes
  const taint = job.taint.filter((source) => source !== tool.describedBy)
  const before = tool.class === 'outside_read' ? (await loadNow(at.sql, { unasked: unaskedCalls(job.root_id, name) })).unasked.calls : 0
  const asks = askedOf(deps, at, { name, args: checked.args, judging, before })
  if (typeof asks === 'string') return failed(asks)
  const verdict = verdictOf({
    ...{ class: tool.class, offered: true, mayRun: deps.toolBox().mayRun(name, at.caller), taint, asks },
    ...{ rule: judging.rules.get(name), isRepeat: judging.equal.unknown > 0, own: isOwnAct(at, answer.outcome) },
    commits: deps.toolBox().commits(name, checked.args),
    makesRuns: job.scheduled && RUN_MAKERS.includes(name),
  })
  if (verdict.decision === 'deny') return failed(verdict.reason)
  if (judging.equal.calls >= MOST_EQUAL) return failed(REPEATED)
  if (answer.isInVain && verdict.decision === 'ask') return failed(IN_VAIN)
  return verdict.decision === 'allow' ? { state: 'ready', why: [] } : asked(deps, at, { name, ...checked, why: verdict.why }, judging)
}

interface Asking {
  name: string
  args: Record<string, unknown>
  hash: string
  why: string[]
}

/** A call that a person must allow: of an equal one that waits already nobody is asked again. */
const asked = async (deps: AgentDeps, { sql, gate }: At, { name, args, hash, why }: Asking, judging: Judging): Promise<Judged> => {
  const { open, room, taken } = judging
  const nobody = nobodyDecides(deps.toolBox().roles(name), taken)
  if (nobody !== undefined) return failed(nobody)
  try {
    const approval = await deps.toolBox().subject(name, args, sql)
    const call = { tool_name: name, arguments_hash: hash, subject: approval.subject }
    if (openFor(open, call, gate.now)) return failed(`${WAITS_ALREADY}: ${approval.summary}`)
    return room > 0 ? { state: 'asked', why, approval } : failed('too many approvals wait for people already; decide those first')
  } catch (cause) {
    const error = refusalOf(cause)
    if (error === undefined) throw cause
    return failed(error)
  }
}

interface AskedOf {
  name: string
  args: Record<string, unknown>
  judging: Judging
  /** Calls made unasked, before this answer. */
  before: number
}

/** Why a person is asked of this very call; an error if it can never run. */
const askedOf = (deps: AgentDeps, { changes }: At, { name, args, judging, before }: AskedOf): string[] | string => {
  try {
    const unasked = before + (judging.unasked.get(name) ?? 0)
    const { taint, on_behalf } = changes.job
    return deps.toolBox().asks(name, args, { rules: judging.rules, taint, inChannel: on_behalf.kind === 'channel', unasked })
  } catch (cause) {
    return refusalOf(cause) ?? 'the call cannot be made'
  }
}

const WAITS_ALREADY = 'an equal call waits for a person already, who was not asked again; it runs once, when that person allows it'

/** Whether the rule is about the tool as it is now. */
const isStillMeant =
  (deps: AgentDeps) =>
  ({ tool_name, definition_hash }: BoundRule): boolean => {
    const tool = deps.toolBox().tools.get(tool_name)
    return definition_hash === null || (tool !== undefined && (tool.hash ?? definitionHash(tool)) === definition_hash)
  }

const MOST_EQUAL = 2
const REPEATED = 'this was called twice with the same arguments already; use what it gave, or go on without it'

/** What the calls of an answer are judged by. */
const judgingParts = ({ id, conversation_id: conversation, on_behalf: by, origin }: Job, hashes: string[]) => ({
  ...{ rules: toolDecisions, pending: pendingCount(id, { on_behalf: by, origin }), earlier: equalCalls(id, hashes), taken: rolesToCome },
  open: when(conversation !== null, openApprovalsOf(conversation ?? '', by)),
})

/** Each call of the answer becomes a step. An answer without a usable call counts against the job. */
export const acceptCalls = async (usual: AgentDeps, at: At, answer: Answer) => {
  const { calls } = answer.outcome.thought
  const names = calls.map(({ name }) => name)
  const deps = await withServed(
    usual,
    at,
    [...new Set(names)].filter((name) => answer.run.offered.includes(name)),
  )
  const all = calls.map((call) => checkedCall(deps, at, call, answer))
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
    const isEqual = (other: Pick<Step, 'name' | 'args_hash'>) =>
      other.name === call.name && 'hash' in checked && other.args_hash === checked.hash
    const before = earlier.find(isEqual)
    const equal = { calls: (before?.calls ?? 0) + accepted.filter(isEqual).length, unknown: before?.unknown ?? 0 }
    const room = judging.room - approvals.length
    const verdict = await judged(deps, at, call, {
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

const askPeople = async ({ publicUrl, toolBox }: AgentDeps, { sql, changes, gate }: At, approvals: Approval[]): Promise<void> => {
  changes.also({ writes: [insertApprovals(approvals)] })
  const { approvers } = await loadNow(sql, approversPart)
  const roles = (tool: string) => toolBox().roles(tool)
  changes.also(tellApprovers({ approvals, approvers, roles, by: changes.job.on_behalf, publicUrl, now: gate.now }))
}

interface Added {
  call: ToolCall
  checked: Checked
  verdict: Judged
  ofStep: number
}

const addStep = (deps: AgentDeps, { changes, gate }: At, { call, checked, verdict, ofStep }: Added): Step => {
  const { state, why, error } = verdict
  const step = changes.add((number) =>
    newStep(
      {
        ...{ id: newId(), job_id: changes.job.id, number, kind: 'tool', name: call.name, state, why },
        ...{ call: call.id, asked: beginning(storable(call.arguments), LONGEST_ASKED), of_step: ofStep },
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
    ...{ ...said, direct_by: null, conversation_id: changes.conversationId, now: gate.now, publicUrl },
  })
  changes.event(news.type, news.data)
  changes.also({ events: [event] })
  return approval
}
