/** How a thought of a job begins: what the model is shown, and what is set aside for it. */
import { Buffer } from 'node:buffer'
import type { Tool } from '#decisions/agent/toolbox'
import { isForStranger } from '#domain/agent/channel/trust'
import { estimateTokens, exhaustedNotice, historyBytes, reserve } from '#domain/agent/job/budget'
import { LONGEST_UNMARKED } from '#domain/agent/job/command'
import type { Job } from '#domain/agent/job/job'
import type { JobEnd, Next } from '#domain/agent/job/loop'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { definedTools, offeredTools } from '#domain/agent/job/offer'
import { CHILD_RULES, strangersMessage, systemMessage } from '#domain/agent/job/prompt'
import type { Step, StepHead } from '#domain/agent/job/step'
import { taskSystem, taskText } from '#domain/agent/job/tasks/asking'
import { openMessages, type TranscriptMessage } from '#domain/agent/job/transcript'
import { failingMessage } from '#domain/agent/mcp/offer'
import { unpaid } from '#domain/app/plan'
import type { Profile } from '#domain/growth/drafting/profile'
import { openApprovalsOf } from '#store/agent/approvals'
import { memoryBytes } from '#store/agent/memories'
import { pinnedBytes } from '#store/agent/playbooks'
import { deniedTools } from '#store/agent/rules'
import { bytesSince, stepPart } from '#store/agent/steps'
import { historyOf } from '#store/agent/summaries'
import { messageBeginning } from '#store/agent/thread'
import type { Gate } from '#store/engine/letter'
import { type Loaded, loadNow, when } from '#store/engine/load'
import { profilePart } from '#store/growth/profiles'
import type { At } from './at.ts'
import { beginStep } from './begun.ts'
import type { AgentDeps } from './deps.ts'
import { release } from './hold.ts'
import { servedParts, taintByWords, withTools } from './served.ts'
import { beginSummary, type Summarising } from './summary.ts'

export interface Of {
  job: Job
  caller: At['caller']
}

/** A call of the model. */
export interface Thinking extends Of {
  kind: 'think'
  step: Step
  system: string
  tools: Tool[]
  offered: string[]
  last: boolean
  /** Without the model: a command, or no model is set. */
  byDesk: boolean
  maxTokens: number
  /** What the conversation asks of people already. */
  open: TranscriptMessage[]
  authors: At['authors']
}

export const begins = ({ changes, gate }: At): void =>
  changes.set({ status: 'running', started_at: changes.job.started_at ?? gate.now })

/** What a thought depends on: nothing of the workspace for a stranger's. */
const thoughtParts = (job: Job, before: StepHead | undefined, asked: StepHead | undefined) => {
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

interface First {
  system: string
  tools: unknown
  open: unknown
  loaded: {
    memories?: Bytes
    pinned?: Bytes
    said?: (Bytes & { summary_bytes: number }) | undefined
  }
  /** Of the history. */
  most: number
}

type Bytes = { bytes: number } | undefined

/** Of the first request of a job. */
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

/** What the model is shown, besides the words of the conversation. */
const shownTo = (deps: AgentDeps, at: At, { served, denied, open, ...loaded }: ThoughtFacts) => {
  const { job } = at.changes
  const offered = job.task ? [] : offeredOf(withTools(deps, served), at, denied)
  const rules = job.task ? taskSystem(job.task) : rulesFor(at, offered, loaded)
  return {
    system: job.parent_id === null ? rules : `${rules}\n\n${CHILD_RULES}`,
    tools: definedTools(offered, job),
    offered: offered.map(({ name }) => name),
    open: openMessages(open ?? []),
  }
}

/** Tokens and money set aside for the call; or the budget that is used up. */
const reserveFor = (
  deps: AgentDeps,
  { gate, changes: { job } }: At,
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

export const beginThought = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  { step: before, last }: Extract<Next, { kind: 'think' }>,
): Promise<{ run: Thinking | Summarising } | { end: JobEnd } | { held: string }> => {
  const { gate, changes, sql } = at
  const asked = heads.findLast(({ kind, state }) => kind === 'model' && state === 'done')
  const loaded = await loadNow(sql, thoughtParts(changes.job, before, asked))
  const byDesk = await isByDesk(deps, changes.job, loaded.words)
  const held = byDesk ? undefined : unpaid(gate.plan)
  if (held !== undefined) return { held }
  await release(at)
  begins(at)
  const { job } = changes
  const summary = byDesk
    ? undefined
    : await beginSummary(deps, at, heads, { tried: loaded.step, history: loaded.said })
  if (summary) return { run: summary }
  const shown = shownTo(deps, at, loaded)
  taintByWords(changes, shown.tools)
  const first = firstBytes(job, { ...shown, loaded, most: historyBytes(deps.contextTokens) })
  const reserved = byDesk ? undefined : reserveFor(deps, at, loaded, first)
  if (typeof reserved === 'string') return exhausted(at, reserved)
  const step = beginStep(at, before?.kind === 'model' ? loaded.step : undefined, reserved)
  changes.set({ model_calls: job.model_calls + 1 })
  changes.started(step, byDesk ? NO_MODEL : job.model)
  const rest = { ...shown, last, byDesk, maxTokens: reserved?.maxTokens ?? 0, authors: at.authors }
  return { run: { kind: 'think', step, ...rest, job: changes.job, caller: at.caller } }
}

const exhausted = (
  { changes, gate }: At,
  key: Parameters<typeof exhaustedNotice>[1],
): { end: JobEnd } => {
  changes.explain(exhaustedNotice(gate, key))
  return { end: { status: 'failed', error: `budget_exhausted:${key}` } }
}

/** What a command is told by its beginning; the whole of one without a mark. */
const LONGEST_COMMAND = LONGEST_UNMARKED + 1_000

/** Whether a command of a person is to be carried out, which no budget keeps waiting. */
const isByDesk = async (
  { desk }: AgentDeps,
  job: Job,
  words: { content: string } | undefined,
): Promise<boolean> => {
  if (job.model === NO_MODEL) return true
  if (job.task || isForStranger(job.on_behalf)) return false
  return desk.takes(words?.content ?? (job.parent_id === null ? job.goal : ''))
}

/** What a stranger's job is told says nothing of the workspace. */
const rulesFor = (
  { gate, changes, authors }: At,
  offered: readonly Tool[],
  {
    profile: { profile },
    failing,
  }: { profile: { profile: Profile }; failing: Parameters<typeof failingMessage>[0] },
): string => {
  if (isForStranger(changes.job.on_behalf)) return strangersMessage(offered, dayOf(gate))
  return `${systemFor(gate, offered, { profile, person: authors.self.label })}${failingMessage(failing)}`
}

const dayOf = ({ now }: Gate): string => now.toISOString().slice(0, 10)

/** `person`: who has asked. */
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
  { changes, caller, callerNow }: At,
  rules: readonly { tool_name: string }[],
): Tool[] => {
  const denied = new Set(rules.map(({ tool_name }) => tool_name))
  const box = deps.toolBox()
  const mayRun = (name: string) => box.mayRun(name, caller)
  return offeredTools([...box.tools.values()], {
    job: changes.job,
    mayRun,
    readsOnly: callerNow.role === 'viewer',
    denied,
  })
}
