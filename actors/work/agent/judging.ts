import { refusalOf } from '#decisions/agent/refusal'
import type { Tool } from '#decisions/agent/toolbox'
import { argumentsHash } from '#domain/agent/hash'
import { type OpenApproval, openFor } from '#domain/agent/job/approval'
import { HandleBook } from '#domain/agent/job/handles'
import type { Checked, Judged } from '#domain/agent/job/model-answer'
import { tainted } from '#domain/agent/job/taint'
import { IN_VAIN } from '#domain/agent/job/tool-answer'
import { type RuleDecision, unseenArgument, verdictOf } from '#domain/agent/job/verdict'
import { RUN_MAKERS } from '#domain/agent/trigger/schedule'
import { nobodyDecides } from '#kernel/deciders'
import type { Role } from '#kernel/roles'
import type { ToolCall } from '#port/model/thinker'
import { unaskedCalls } from '#store/agent/steps'
import { loadNow } from '#store/engine/load'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import type { AgentOutcome } from './outcome.ts'
import type { Thinking } from './thought.ts'

/** An answer that calls tools. */
export interface ThoughtAnswer {
  run: Thinking
  outcome: Extract<AgentOutcome, { kind: 'thought' }>
  /** The letter failed three times, so no more records are read for a call. */
  isInVain: boolean
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    return undefined
  }
}

const NOT_AN_OBJECT = 'the arguments are not a JSON object'

/** Whether a person has just typed the command, without another agent in between. */
const isOwnAct = ({ job }: At, { byDesk }: ThoughtAnswer['outcome']): boolean =>
  byDesk && job.on_behalf.kind === 'session' && job.origin === 'manual' && job.kind !== 'delegate'

/** The answer itself may hold words of people outside. */
const taintOf = ({ job }: At, { foreign }: ThoughtAnswer['outcome']): string[] =>
  tainted(job.taint, foreign)

/** Whether the model was told about a field. */
const isOffered = ({ parameters }: Tool, field: string): boolean =>
  Object.hasOwn((parameters.properties ?? {}) as Record<string, unknown>, field)

/** The arguments in the operation's form: with ids instead of handles. */
export const checkCall = (
  deps: AgentDeps,
  at: At,
  { name, arguments: text }: ToolCall,
  { run, outcome }: ThoughtAnswer,
): Checked => {
  const box = deps.toolBox()
  if (!box.tools.has(name) || !run.offered.includes(name))
    return { error: `there is no tool ${name} in this job` }
  const given = parsed(text)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { error: NOT_AN_OBJECT }
  try {
    const isServed = box.tools.get(name)!.server !== undefined
    // An MCP server uses ids of its own.
    const args = box.checked(
      name,
      isServed
        ? given
        : new HandleBook(at.facts.thread?.handles ?? {}).resolve(given, outcome.typed),
    )
    const other = box.includes(name, args)
    if (other && !run.offered.includes(other.tool))
      return { error: `${other.field} needs the tool ${other.tool}, which this job does not have` }
    const unseen = unseenArgument(args, { taint: taintOf(at, outcome) })
    if (unseen) return { error: `${unseen.path} ${unseen.message}` }
    const peoples =
      isServed || isOwnAct(at, outcome)
        ? undefined
        : Object.keys(args).find((field) => !isOffered(box.tools.get(name)!, field))
    return peoples === undefined
      ? { args, hash: argumentsHash(args) }
      : { error: `${peoples} can only be given by a person, who decides about the call` }
  } catch (cause) {
    return { error: refusalOf(cause) ?? 'the arguments cannot be used' }
  }
}

interface Judging {
  rules: ReadonlyMap<string, RuleDecision>
  /** How many more approvals may be requested. */
  room: number
  /** Earlier calls with equal arguments, and those of them that may or may not have happened. */
  equal: { calls: number; unknown: number }
  /** Calls of its tool before it in the same answer that nobody is asked about. */
  unasked: number
  /** The roles that members have, or may soon have. */
  taken: readonly Role[]
  /** What jobs of the conversation already ask for, including earlier calls of this job. */
  open: readonly OpenApproval[]
}

/** The rule of the first tool, unless a rule forbids one of them. */
const ruleFor = (
  rules: Judging['rules'],
  [name, ...others]: [string, ...(string | undefined)[]],
): RuleDecision | undefined =>
  others.some((other) => other !== undefined && rules.get(other) === 'deny')
    ? 'deny'
    : rules.get(name)

const MOST_EQUAL = 2
const REPEATED =
  'this was called twice with the same arguments already; use what it gave, or go on without it'

const failed = (error: string): Judged => ({ state: 'failed', why: [], error })

export const judgeCall = async (
  deps: AgentDeps,
  at: At,
  call: ToolCall,
  { checked, answer, judging }: { checked: Checked; answer: ThoughtAnswer; judging: Judging },
): Promise<Judged> => {
  if ('error' in checked) return failed(checked.error)
  const { name } = call
  const tool = deps.toolBox().tools.get(name)!
  const { job } = at
  const read = taintOf(at, answer.outcome)
  const taint = read.filter((source) => source !== tool.describedBy)
  const before =
    tool.class === 'outside_read'
      ? (await loadNow(at.sql, { unasked: unaskedCalls(job.root_id, name) })).unasked.calls
      : 0
  const asks = askedOf(deps, at, { name, args: checked.args, judging, before, taint: read })
  if (typeof asks === 'string') return failed(asks)
  const verdict = verdictOf({
    class: tool.class,
    offered: true,
    mayRun: deps.toolBox().mayRun(name, at.caller),
    taint,
    asks,
    rule: ruleFor(judging.rules, [name, deps.toolBox().includes(name, checked.args)?.tool]),
    isRepeat: judging.equal.unknown > 0,
    own: isOwnAct(at, answer.outcome),
    commits: deps.toolBox().commits(name, checked.args),
    makesRuns: job.scheduled && RUN_MAKERS.includes(name),
  })
  if (verdict.decision === 'deny') return failed(verdict.reason)
  if (judging.equal.calls >= MOST_EQUAL) return failed(REPEATED)
  if (answer.isInVain && verdict.decision === 'ask') return failed(IN_VAIN)
  return verdict.decision === 'allow'
    ? { state: 'ready', why: [] }
    : askFor(deps, at, { name, ...checked, why: verdict.why }, judging)
}

interface Asking {
  name: string
  args: Record<string, unknown>
  hash: string
  why: string[]
}

/** A call that a person must allow. If an equal call already waits, nobody is asked again. */
const askFor = async (
  deps: AgentDeps,
  { sql, gate }: At,
  { name, args, hash, why }: Asking,
  judging: Judging,
): Promise<Judged> => {
  const { open, room, taken } = judging
  const nobody = nobodyDecides(deps.toolBox().roles(name), taken)
  if (nobody !== undefined) return failed(nobody)
  try {
    const approval = await deps.toolBox().subject(name, args, sql)
    const call = { tool_name: name, arguments_hash: hash, subject: approval.subject }
    if (openFor(open, call, gate.now)) return failed(`${WAITS_ALREADY}: ${approval.summary}`)
    return room > 0
      ? { state: 'asked', why, approval }
      : failed('too many approvals wait for people already; decide those first')
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
  /** Calls that were made unasked before this answer. */
  before: number
  taint: readonly string[]
}

/** Why a person is asked about this particular call; an error if it can never run. */
const askedOf = (
  deps: AgentDeps,
  { job }: At,
  { name, args, judging, before, taint }: AskedOf,
): string[] | string => {
  try {
    return deps.toolBox().asks(name, args, {
      rules: judging.rules,
      taint,
      inChannel: job.on_behalf.kind === 'channel',
      unasked: before + judging.unasked,
    })
  } catch (cause) {
    return refusalOf(cause) ?? 'the call cannot be made'
  }
}

const WAITS_ALREADY =
  'an equal call waits for a person already, who was not asked again; it runs once, when that person allows it'
