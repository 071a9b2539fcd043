/** What a job does outside of letters: calls of the model, and tools that read or fetch. */
import { Buffer } from 'node:buffer'
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
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
import { recallBytes } from '#store/agent/memories'
import { pinnedBytes } from '#store/agent/playbooks'
import { deniedTools } from '#store/agent/rules'
import { bytesSince, stepPart } from '#store/agent/steps'
import { historyOf } from '#store/agent/summaries'
import { messageBeginning } from '#store/agent/thread'
import type { Gate } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { profilePart } from '#store/growth/profiles'
import type { At } from './at.ts'
import { beginStep } from './begun.ts'
import type { AgentDeps } from './deps.ts'
import { stepToRun } from './execute.ts'
import { release } from './hold.ts'
import { servedParts, taintByWords, waitsForServer, withServed, withTools } from './served.ts'
import { beginSummary, type Summarising } from './summary.ts'

interface Of {
  job: Job
  caller: At['caller']
}

interface OfTools extends Of {
  /** With the tools of servers that it calls. */
  box: ToolBox
}

/** A run of one tool. */
export interface Single extends OfTools {
  kind: 'reach' | 'urgent' | 'outside'
  step: Step
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

/** The work of a lane. */
export type AgentRun = Thinking | Summarising | ({ kind: 'read'; steps: Step[] } & OfTools) | Single

type Outside = Extract<Next, { kind: 'think' | 'read' | 'reach' | 'urgent' | 'outside' }>

/**
 * `refused`: nothing is to be run, and the results say why. `busy`: the server outside has something else to do. `held`: why no model is
 * called.
 */
type Begun = { run: AgentRun } | { end: JobEnd } | { held: string } | 'refused' | 'busy'

export const beginRun = async (usual: AgentDeps, at: At, heads: readonly StepHead[], next: Outside): Promise<Begun> => {
  const deps = next.kind === 'outside' ? await withServed(usual, at, [next.step.name]) : usual
  if (next.kind === 'outside' && (await waitsForServer(deps, at, next.step.name))) return 'busy'
  await deps.failpoints('agent.beginning')
  if (next.kind === 'think') return beginThought(deps, at, heads, next)
  begins(at)
  const steps: Step[] = []
  for (const head of next.kind === 'read' ? next.steps : [next.step]) {
    const step = await stepToRun(deps, at, head)
    if (!step) continue
    const running = at.changes.save({ ...step, state: 'running', started_at: at.gate.now })
    at.changes.started(running, deps.toolBox().tools.get(running.name)?.title ?? running.name)
    steps.push(running)
  }
  if (steps.length === 0) return 'refused'
  const of = { job: at.changes.job, caller: at.caller, box: deps.toolBox() }
  return next.kind === 'read' ? { run: { kind: 'read', steps, ...of } } : { run: { kind: next.kind, step: steps[0]!, ...of } }
}

const begins = ({ changes, gate }: At): void => changes.set({ status: 'running', started_at: changes.job.started_at ?? gate.now })

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
    open: when(job.conversation_id !== null && !isStrangers, openApprovalsOf(job.conversation_id ?? '', job.on_behalf)),
    words: when(job.message_id !== null, messageBeginning(job.message_id ?? '', LONGEST_COMMAND)),
    recall: when(!job.task && !isStrangers, recallBytes(job.on_behalf.personId)),
    pinned: when(!job.task, pinnedBytes),
    ...servedParts(job),
  }
}

interface First {
  system: string
  tools: unknown
  open: unknown
  loaded: { recall?: Bytes; pinned?: Bytes; said?: (Bytes & { summary_bytes: number }) | undefined }
  /** Of the history. */
  most: number
}

type Bytes = { bytes: number } | undefined

/** Of the first request of a job. */
const firstBytes = ({ message_id, task, goal }: Job, { system, tools, open, loaded: { recall, pinned, said }, most }: First): number =>
  Buffer.byteLength(system) +
  Buffer.byteLength(JSON.stringify(tools)) +
  Buffer.byteLength(message_id === null ? (task ? taskText(task) : goal) : '') +
  Buffer.byteLength(JSON.stringify(open)) +
  (recall?.bytes ?? 0) +
  (pinned?.bytes ?? 0) +
  Math.min((said?.bytes ?? 0) + (said?.summary_bytes ?? 0), most)

const beginThought = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  { step: before, last }: Extract<Next, { kind: 'think' }>,
): Promise<Exclude<Begun, string>> => {
  const { gate, changes, sql } = at
  const asked = heads.findLast(({ kind, state }) => kind === 'model' && state === 'done')
  const loaded = await loadNow(sql, thoughtParts(changes.job, before, asked))
  const byDesk = await isByDesk(deps, changes.job, loaded.words)
  const held = byDesk ? undefined : unpaid(gate.plan)
  if (held !== undefined) return { held }
  await release(at)
  begins(at)
  const { job } = changes
  const summary = byDesk ? undefined : await beginSummary(deps, at, heads, { tried: loaded.step, history: loaded.said })
  if (summary) return { run: summary }
  const open = openMessages(loaded.open ?? [])
  const offered = job.task ? [] : offeredOf(withTools(deps, loaded.served), at, loaded.denied)
  const tools = definedTools(offered, job)
  taintByWords(changes, tools)
  const rules = job.task ? taskSystem(job.task) : rulesFor(at, offered, loaded)
  const system = job.parent_id === null ? rules : `${rules}\n\n${CHILD_RULES}`
  const first = firstBytes(job, { system, tools, open, loaded, most: historyBytes(deps.contextTokens) })
  const known = (loaded.known?.input_tokens ?? 0) + (loaded.known?.output_tokens ?? 0)
  const input = estimateTokens({ known, bytes: loaded.own.bytes + (known === 0 ? first : 0) })
  const reserved = byDesk ? undefined : reserve(gate, { input, priceOf: deps.priceOf(job.model) })
  if (typeof reserved === 'string') return exhausted(at, reserved)
  const step = beginStep(at, before?.kind === 'model' ? loaded.step : undefined, reserved)
  changes.set({ model_calls: job.model_calls + 1 })
  changes.started(step, byDesk ? NO_MODEL : job.model)
  const rest = {
    system,
    tools,
    offered: offered.map(({ name }) => name),
    last,
    byDesk,
    open,
    maxTokens: reserved?.maxTokens ?? 0,
    authors: at.authors,
  }
  return { run: { kind: 'think', step, ...rest, job: changes.job, caller: at.caller } }
}

const exhausted = ({ changes, gate }: At, key: Parameters<typeof exhaustedNotice>[1]): { end: JobEnd } => {
  changes.explain(exhaustedNotice(gate, key))
  return { end: { status: 'failed', error: `budget_exhausted:${key}` } }
}

/** What a command is told by its beginning; the whole of one without a mark. */
const LONGEST_COMMAND = LONGEST_UNMARKED + 1_000

/** Whether a command of a person is to be carried out, which no budget keeps waiting. */
const isByDesk = async ({ desk }: AgentDeps, job: Job, words: { content: string } | undefined): Promise<boolean> => {
  if (job.model === NO_MODEL) return true
  if (job.task || isForStranger(job.on_behalf)) return false
  return desk.takes(words?.content ?? (job.parent_id === null ? job.goal : ''))
}

/** What a stranger's job is told says nothing of the workspace. */
const rulesFor = (
  { gate, changes, authors }: At,
  offered: readonly Tool[],
  { profile: { profile }, failing }: { profile: { profile: Profile }; failing: Parameters<typeof failingMessage>[0] },
): string => {
  if (isForStranger(changes.job.on_behalf)) return strangersMessage(offered, dayOf(gate))
  return `${systemFor(gate, offered, { profile, person: authors.self.label })}${failingMessage(failing)}`
}

const dayOf = ({ now }: Gate): string => now.toISOString().slice(0, 10)

/** `person`: who has asked. */
const systemFor = (gate: Gate, offered: readonly Tool[], { profile, person }: { profile: Profile; person: string }): string => {
  const { goal, audience, voice, language, time_zone: timeZone } = profile
  return systemMessage(offered, { goal, audience, voice, language, timeZone, plan: gate.plan.plan, person }, dayOf(gate))
}

const offeredOf = (deps: AgentDeps, { changes, caller, callerNow }: At, rules: readonly { tool_name: string }[]): Tool[] => {
  const denied = new Set(rules.map(({ tool_name }) => tool_name))
  const box = deps.toolBox()
  const mayRun = (name: string) => box.mayRun(name, caller)
  return offeredTools([...box.tools.values()], { job: changes.job, mayRun, readsOnly: callerNow.role === 'viewer', denied })
}
