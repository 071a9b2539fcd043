/** What a job does outside of letters: calls of the model, and tools that read or fetch. */
import { Buffer } from 'node:buffer'
import type { Tool } from '#decisions/agent/toolbox'
import { estimateTokens, historyBytes, reserve } from '#domain/agent/budget'
import type { Job } from '#domain/agent/job'
import type { JobEnd, Next } from '#domain/agent/loop'
import { definedTools, offeredTools } from '#domain/agent/offer'
import { systemMessage } from '#domain/agent/prompt'
import { newStep, type Step, type StepHead } from '#domain/agent/step'
import { taskSystem, taskText } from '#domain/agent/tasks/asking'
import { openMessages, type TranscriptMessage } from '#domain/agent/transcript'
import type { Profile } from '#domain/growth/drafting/profile'
import { newId } from '#kernel/ids'
import { openApprovalsOf } from '#store/agent/approvals'
import { recallBytes } from '#store/agent/memories'
import { pinnedBytes } from '#store/agent/playbooks'
import { deniedTools } from '#store/agent/rules'
import { bytesSince, stepPart } from '#store/agent/steps'
import { bytesUntil } from '#store/agent/thread'
import type { Gate } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { profilePart } from '#store/growth/profiles'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { stepToRun } from './execute.ts'

interface Of {
  job: Job
  caller: At['caller']
}

/** A run of one tool. */
export interface Single extends Of {
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
  maxTokens: number
  /** What the conversation asks of people already. */
  open: TranscriptMessage[]
}

/** The work of a lane. */
export type AgentRun = Thinking | ({ kind: 'read'; steps: Step[] } & Of) | Single

type Outside = Extract<Next, { kind: 'think' | 'read' | 'reach' | 'urgent' | 'outside' }>

/** Messages of a conversation that the model is given. */
export const MOST_MESSAGES = 100

/** `refused`: nothing is to be run, and the results say why. */
type Begun = { run: AgentRun } | { end: JobEnd } | 'refused'

export const beginRun = async (deps: AgentDeps, at: At, heads: readonly StepHead[], next: Outside): Promise<Begun> => {
  await deps.failpoints('agent.beginning')
  at.changes.set({ status: 'running', started_at: at.changes.job.started_at ?? at.gate.now })
  if (next.kind === 'think') return beginThought(deps, at, heads, next)
  const steps: Step[] = []
  for (const head of next.kind === 'read' ? next.steps : [next.step]) {
    const step = await stepToRun(deps, at, head)
    if (!step) continue
    const running = at.changes.save({ ...step, state: 'running', started_at: at.gate.now })
    at.changes.started(running, deps.toolBox().tools.get(running.name)?.title ?? running.name)
    steps.push(running)
  }
  if (steps.length === 0) return 'refused'
  const { job } = at.changes
  if (next.kind === 'read') return { run: { kind: 'read', steps, job, caller: at.caller } }
  return { run: { kind: next.kind, step: steps[0]!, job, caller: at.caller } }
}

const beginThought = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  { step: before, last }: Extract<Next, { kind: 'think' }>,
): Promise<{ run: AgentRun } | { end: JobEnd }> => {
  const { gate, changes, sql } = at
  const { job } = changes
  const asked = heads.findLast(({ kind, state }) => kind === 'model' && state === 'done')
  const loaded = await loadNow(sql, {
    step: when(before !== undefined, stepPart(before?.id ?? '')),
    known: when(asked !== undefined, stepPart(asked?.id ?? '')),
    own: bytesSince(job.id, asked?.number ?? 0),
    said: when(job.message_id !== null, bytesUntil(job.message_id ?? '', MOST_MESSAGES)),
    profile: profilePart,
    denied: deniedTools,
    open: when(job.conversation_id !== null, openApprovalsOf(job.conversation_id ?? '')),
    recall: when(!job.task, recallBytes(job.on_behalf.personId)),
    pinned: when(!job.task, pinnedBytes),
  })
  const open = openMessages(loaded.open ?? [])
  const offered = job.task ? [] : offeredOf(deps, at, new Set(loaded.denied.map(({ tool_name }) => tool_name)))
  const tools = definedTools(offered, job)
  const system = job.task ? taskSystem(job.task) : systemFor(gate, offered, loaded.profile.profile)
  const first =
    Buffer.byteLength(system) +
    Buffer.byteLength(JSON.stringify(tools)) +
    Buffer.byteLength(job.task ? taskText(job.task) : '') +
    Buffer.byteLength(JSON.stringify(open)) +
    (loaded.recall?.bytes ?? 0) +
    (loaded.pinned?.bytes ?? 0) +
    Math.min(loaded.said?.bytes ?? 0, historyBytes(deps.contextTokens))
  const known = (loaded.known?.input_tokens ?? 0) + (loaded.known?.output_tokens ?? 0)
  const input = estimateTokens({ known, bytes: loaded.own.bytes + (known === 0 ? first : 0) })
  const isDesk = job.model === 'desk'
  const reserved = isDesk ? undefined : reserve(gate, { input, priceOf: deps.priceOf(job.model) })
  if (typeof reserved === 'string') return { end: { status: 'failed', error: `budget_exhausted:${reserved}` } }
  const step = beginStep(at, loaded.step, reserved)
  if (reserved) changes.also({ spend: reserved.spend })
  changes.set({ model_calls: job.model_calls + 1 })
  changes.started(step, job.model)
  const rest = { system, tools, offered: offered.map(({ name }) => name), last, open, maxTokens: reserved?.maxTokens ?? 0 }
  return { run: { kind: 'think', step, ...rest, job: changes.job, caller: at.caller } }
}

const systemFor = ({ plan, now }: Gate, offered: readonly Tool[], { time_zone: timeZone, ...profile }: Profile): string => {
  const { goal, audience, voice, language } = profile
  return systemMessage(offered, { goal, audience, voice, language, timeZone, plan: plan.plan }, now.toISOString().slice(0, 10))
}

const offeredOf = (deps: AgentDeps, { changes, caller, callerNow }: At, denied: ReadonlySet<string>): Tool[] => {
  const box = deps.toolBox()
  const mayRun = (name: string) => box.mayRun(name, caller)
  return offeredTools([...box.tools.values()], { job: changes.job, mayRun, readsOnly: callerNow.role === 'viewer', denied })
}

/** A step that was tried before keeps what its dead calls had reserved as spent: its reservation is replaced, never given back. */
const beginStep = (
  { changes, gate }: Pick<At, 'changes' | 'gate'>,
  before: Step | undefined,
  reserved: ReturnType<typeof reserve> | undefined,
): Step => {
  const taken =
    reserved && typeof reserved === 'object'
      ? { reserved_tokens: reserved.tokens, reserved_cost: reserved.cost, day: reserved.day, month: reserved.month }
      : { reserved_tokens: 0, reserved_cost: 0 }
  if (before) return changes.save({ ...before, ...taken, state: 'running', started_at: gate.now, not_before: null })
  return addThought({ changes, gate }, { state: 'running', started_at: gate.now, ...taken })
}

/** A further call of the model. */
export const addThought = ({ changes, gate }: Pick<At, 'changes' | 'gate'>, more: Pick<Step, 'state'> & Partial<Step>): Step => {
  const { id: job_id, model: name } = changes.job
  return changes.add((number) => newStep({ id: newId(), job_id, number, kind: 'model', name, ...more }, gate.now))
}
