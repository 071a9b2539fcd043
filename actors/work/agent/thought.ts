/** The beginning of a thought: what the model is shown, and what is reserved for it. */
import { Buffer } from 'node:buffer'
import type { Tool } from '#decisions/agent/toolbox'
import { isForStranger } from '#domain/agent/channel/trust'
import { beginThought } from '#domain/agent/job/beginning'
import { estimateTokens, historyBytes, reserve } from '#domain/agent/job/budget'
import { unchanged } from '#domain/agent/job/change'
import { LONGEST_UNMARKED } from '#domain/agent/job/command'
import type { Job } from '#domain/agent/job/job'
import type { Next } from '#domain/agent/job/loop'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { definedTools, offeredTools } from '#domain/agent/job/offer'
import { CHILD_RULES, strangersMessage, systemMessage } from '#domain/agent/job/prompt'
import type { Step, StepHead } from '#domain/agent/job/step'
import { taskSystem, taskText } from '#domain/agent/job/tasks/asking'
import { openMessages, type TranscriptMessage } from '#domain/agent/job/transcript'
import { stepOf } from '#domain/agent/job/transition'
import { failingMessage } from '#domain/agent/mcp/offer'
import { unpaid } from '#domain/app/plan'
import type { Profile } from '#domain/growth/drafting/profile'
import { openApprovalsOf } from '#store/agent/approvals'
import { heldWork } from '#store/agent/jobs'
import { memoryBytes } from '#store/agent/memories'
import { pinnedBytes } from '#store/agent/playbooks'
import { deniedTools } from '#store/agent/rules'
import { bytesSince, restartPatience, stepPart } from '#store/agent/steps'
import { historyOf } from '#store/agent/summaries'
import { messageBeginning } from '#store/agent/thread'
import type { Effects, Gate } from '#store/engine/letter'
import { type Loaded, loadNow, when } from '#store/engine/load'
import { profilePart } from '#store/growth/profiles'
import type { At, Begun } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { servedParts, withTools } from './served.ts'
import { beginSummarising, type Summarising } from './summary.ts'

export interface Of {
  job: Job
  caller: At['caller']
}

/** A model call. */
export interface Thinking extends Of {
  kind: 'think'
  step: Step
  system: string
  tools: Tool[]
  offered: string[]
  last: boolean
  /** An answer without the model: to a command, or because no model is configured. */
  byDesk: boolean
  maxTokens: number
  /** What the conversation already asks of people. */
  open: TranscriptMessage[]
  authors: At['authors']
}

/**
 * What a thought depends on; for a stranger's, nothing of the workspace. `before`: the step that
 * goes on.
 */
export const thoughtParts = (
  job: Job,
  heads: readonly StepHead[],
  before: StepHead | undefined,
) => {
  const asked = heads.findLast(({ kind, state }) => kind === 'model' && state === 'done')
  const isStrangers = isForStranger(job.on_behalf)
  return {
    step: when(before !== undefined, stepPart(before?.id ?? '')),
    known: when(asked !== undefined, stepPart(asked?.id ?? '')),
    own: bytesSince(job.id, asked?.number ?? 0),
    said: when(job.message_id !== null, historyOf(job.message_id ?? '')),
    profile: profilePart,
    denied: deniedTools,
    open: when(
      job.conversation_id !== null && !isStrangers,
      openApprovalsOf(job.conversation_id ?? '', job.on_behalf),
    ),
    words: when(job.message_id !== null, messageBeginning(job.message_id ?? '', LONGEST_COMMAND)),
    memories: when(!job.task && !isStrangers, memoryBytes(job.on_behalf.personId)),
    pinned: when(!job.task, pinnedBytes),
    ...servedParts(job),
  }
}

type ThoughtFacts = Loaded<ReturnType<typeof thoughtParts>>

/** `facts`: if they have been read already. */
export type NextThought = Extract<Next, { kind: 'think' }> & { facts?: ThoughtFacts | undefined }

interface First {
  system: string
  tools: unknown
  open: unknown
  loaded: {
    memories?: Bytes
    pinned?: Bytes
    said?: (Bytes & { summary_bytes: number }) | undefined
  }
  /** The size of the history. */
  most: number
}

type Bytes = { bytes: number } | undefined

/** The size of a job's first request. */
const firstBytes = (
  { message_id, task, goal }: Job,
  { system, tools, open, loaded: { memories, pinned, said }, most }: First,
): number =>
  Buffer.byteLength(system) +
  Buffer.byteLength(JSON.stringify(tools)) +
  Buffer.byteLength(message_id === null ? (task ? taskText(task) : goal) : '') +
  Buffer.byteLength(JSON.stringify(open)) +
  (memories?.bytes ?? 0) +
  (pinned?.bytes ?? 0) +
  Math.min((said?.bytes ?? 0) + (said?.summary_bytes ?? 0), most)

/** What the model is shown besides the conversation. */
const shownTo = (deps: AgentDeps, at: At, { served, denied, open, ...loaded }: ThoughtFacts) => {
  const { job } = at
  const offered = job.task ? [] : offeredOf(withTools(deps, served), at, denied)
  const rules = job.task ? taskSystem(job.task) : rulesFor(at, offered, loaded)
  return {
    system: job.parent_id === null ? rules : `${rules}\n\n${CHILD_RULES}`,
    tools: definedTools(offered, job),
    offered: offered.map(({ name }) => name),
    open: openMessages(open ?? []),
  }
}

/** Tokens and money reserved for the call, or the budget that is used up. */
const reserveFor = (
  deps: AgentDeps,
  { gate, job }: At,
  { known, own }: ThoughtFacts,
  firstBytes: number,
) => {
  const before = (known?.input_tokens ?? 0) + (known?.output_tokens ?? 0)
  const input = estimateTokens({
    known: before,
    bytes: own.bytes + (before === 0 ? firstBytes : 0),
  })
  return reserve(gate, { input, priceOf: deps.priceOf(job.model) })
}

export const beginThinking = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  { step: before, last, facts: known }: NextThought,
): Promise<Begun<Thinking | Summarising>> => {
  const { gate, job, sql, facts, caller, authors } = at
  const loaded = known ?? (await loadNow(sql, thoughtParts(job, heads, before)))
  const byDesk = await isByDesk(deps, job, loaded.words)
  const why = byDesk ? undefined : unpaid(gate.plan)
  if (why !== undefined) return { change: stepOf(job, { kind: 'unpaid', why }, facts) }
  const effects = await releaseOthers(at)
  const tried = loaded.step
  const summary = byDesk
    ? undefined
    : await beginSummarising(deps, at, heads, { tried, history: loaded.said })
  if (summary) return { ...summary, effects }
  const shown = shownTo(deps, at, loaded)
  const first = firstBytes(job, { ...shown, loaded, most: historyBytes(deps.contextTokens) })
  const reserved = byDesk ? undefined : reserveFor(deps, at, loaded, first)
  const { change, step } = beginThought(unchanged(job, facts), {
    before: before?.kind === 'model' ? tried : undefined,
    dropped: before?.kind === 'summary' && !byDesk ? tried : undefined,
    byDesk,
    reserved,
    // Descriptions are text of people outside, though a person has read them.
    sources: shown.tools.flatMap(({ describedBy }) => describedBy ?? []),
    usage: gate,
  })
  if (!step) return { change, effects }
  const maxTokens = typeof reserved === 'object' ? reserved.maxTokens : 0
  const told = { ...shown, last, byDesk, maxTokens, authors }
  return { change, run: { kind: 'think', step, ...told, job: change.job, caller }, effects }
}

/**
 * The job is not held any more: all other held jobs are due, too, and jobs that wait for this one
 * begin to wait anew.
 */
const releaseOthers = async ({ job, sql, gate }: At): Promise<Effects> => {
  if (job.held_since === null) return {}
  const { others } = await loadNow(sql, { others: heldWork(job.id) })
  return {
    requeued: others.map(({ work }) => ({ id: work, runAt: gate.now })),
    writes: job.parent_id === null ? [] : [restartPatience(job.id, gate.now)],
  }
}

/**
 * How much of a message is read to recognise a command: its beginning, or all of one without a
 * mark.
 */
const LONGEST_COMMAND = LONGEST_UNMARKED + 1_000

/** Whether to carry out a person's command, which no budget delays. */
const isByDesk = async (
  { desk }: AgentDeps,
  job: Job,
  words: { content: string } | undefined,
): Promise<boolean> => {
  if (job.model === NO_MODEL) return true
  if (job.task || isForStranger(job.on_behalf)) return false
  return desk.takes(words?.content ?? (job.parent_id === null ? job.goal : ''))
}

/** What a stranger's job is told reveals nothing of the workspace. */
const rulesFor = (
  { gate, job, authors }: At,
  offered: readonly Tool[],
  {
    profile: { profile },
    failing,
  }: { profile: { profile: Profile }; failing: Parameters<typeof failingMessage>[0] },
): string => {
  if (isForStranger(job.on_behalf)) return strangersMessage(offered, dayOf(gate))
  return `${systemFor(gate, offered, { profile, person: authors.self.label })}${failingMessage(failing)}`
}

const dayOf = ({ now }: Gate): string => now.toISOString().slice(0, 10)

/** `person`: the person who asked. */
const systemFor = (
  gate: Gate,
  offered: readonly Tool[],
  { profile, person }: { profile: Profile; person: string },
): string => {
  const { goal, audience, voice, language, time_zone: timeZone } = profile
  return systemMessage(
    offered,
    { goal, audience, voice, language, timeZone, plan: gate.plan.plan, person },
    dayOf(gate),
  )
}

const offeredOf = (
  deps: AgentDeps,
  { job, caller, callerNow }: At,
  rules: readonly { tool_name: string }[],
): Tool[] => {
  const denied = new Set(rules.map(({ tool_name }) => tool_name))
  const box = deps.toolBox()
  const mayRun = (name: string) => box.mayRun(name, caller)
  return offeredTools([...box.tools.values()], {
    job,
    mayRun,
    readsOnly: callerNow.role === 'viewer',
    denied,
  })
}
