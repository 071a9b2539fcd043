/**
 * Summarises a conversation that has grown too long for the model before the next thought, in a
 * step of its own whose commit contains the summary. If that fails, the thought runs without the
 * oldest messages.
 */
import { Buffer } from 'node:buffer'
import { Authors } from '#domain/agent/job/authors'
import { beginSummary } from '#domain/agent/job/beginning'
import { estimateTokens, historyBytes, reserve } from '#domain/agent/job/budget'
import { type JobChange, unchanged } from '#domain/agent/job/change'
import {
  type History,
  isTooLong,
  type MessageSpan,
  MOST_SUMMARIES,
  type Summary,
  summarisedUpTo,
  summaryRequest,
  summarySystem,
} from '#domain/agent/job/compaction'
import type { Job } from '#domain/agent/job/job'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import type { Step, StepHead } from '#domain/agent/job/step'
import type { JobAnswer } from '#domain/agent/job/transition'
import type { ThinkRequest } from '#port/model/thinker'
import { stepPart } from '#store/agent/steps'
import {
  authorsBetween,
  headsBefore,
  type StoredSummary,
  saidBetween,
  summaryBefore,
  untrustedBetween,
} from '#store/agent/summaries'
import { loadBy, loadNow } from '#store/engine/load'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import type { AgentOutcome } from './outcome.ts'

export interface Summarising {
  kind: 'summary'
  job: Job
  caller: At['caller']
  step: Step
  span: MessageSpan
  maxTokens: number
  callerNow: At['callerNow']
  authors: At['authors']
}

/**
 * Whether the job may summarise: model calls must be left for thinking, and a failed summary is not
 * retried.
 */
const mayBegin = ({ model, task, message_id }: Job, heads: readonly StepHead[]): boolean => {
  const before = heads.filter(({ kind }) => kind === 'summary')
  return (
    model !== NO_MODEL &&
    !task &&
    message_id !== null &&
    before.length < MOST_SUMMARIES &&
    !before.some(({ state }) => state === 'failed')
  )
}

/** The messages to summarise now. */
const spanOf = async (
  { sql, job }: At,
  history: History,
  room: number,
): Promise<{ span: MessageSpan; bytes: number } | undefined> => {
  const messageId = job.message_id!
  const { before, heads } = await loadNow(sql, {
    before: summaryBefore(messageId),
    heads: headsBefore(messageId),
  })
  const to = summarisedUpTo(heads, room)
  if (!before || to === undefined) return undefined
  const bytes = heads.reduce(
    (sum, head) => sum + (head.seq <= to ? head.bytes : 0),
    history.summary_bytes,
  )
  return { span: { conversationId: before.conversation_id, from: before.summarised_to, to }, bytes }
}

interface Before {
  /** The call that was interrupted by a stop, a death or an error of the provider. */
  tried: Step | undefined
  history: History | undefined
}

/** Undefined if the job can think at once. */
export const beginSummarising = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  { tried, history }: Before,
): Promise<{ change: JobChange; run: Summarising } | undefined> => {
  // A thought that was tried before continues with what it had.
  if (tried?.kind === 'model' || !history) return undefined
  const { gate, job, facts, caller, callerNow, authors } = at
  const models = deps.models()
  const room = historyBytes(deps.contextTokens)
  const others = heads.filter(({ id }) => id !== tried?.id)
  if (models === NO_MODEL || !isTooLong(history, room) || !mayBegin(job, others)) return undefined
  const found = await spanOf(at, history, room)
  if (!found) return undefined
  const name = models.fast
  const bytes = found.bytes + Buffer.byteLength(summarySystem(room))
  const input = estimateTokens({ known: 0, bytes })
  const reserved = reserve(gate, { input, priceOf: deps.priceOf(name) })
  if (typeof reserved === 'string') return undefined
  const begun = { before: tried, name, reserved }
  const { change, step } = beginSummary(unchanged(job, facts), begun)
  const { span } = found
  const { maxTokens } = reserved
  const of = { job: change.job, caller, callerNow, authors }
  return { change, run: { kind: 'summary', step, span, maxTokens, ...of } }
}

/** Undefined if there is none. */
export const summaryIn = (
  { summary, ...before }: StoredSummary,
  authors: Authors,
): Summary | undefined =>
  summary === null
    ? undefined
    : {
        text: summary,
        untrusted: before.summary_untrusted || authors.anyLesser(before.summary_authors),
      }

export const summaryTurn = async (
  deps: AgentDeps,
  run: Summarising,
  tenantId: string,
): Promise<ThinkRequest> => {
  const { job, step, span, maxTokens } = run
  const { before, said, ...found } = await loadBy((query) => deps.db.read({ tenantId }, query), {
    before: summaryBefore(job.message_id!),
    said: saidBetween(span),
    authors: authorsBetween(span),
  })
  const authors = new Authors(found.authors, job.on_behalf, run.callerNow)
  const messages = summaryRequest(before && summaryIn(before, run.authors), said, authors)
  return {
    model: step.name,
    system: summarySystem(historyBytes(deps.contextTokens)),
    messages,
    tools: [],
    choice: 'none',
    maxTokens,
  }
}

/** What a call of the model has made of it. */
export const summaryAnswer = async (
  deps: AgentDeps,
  { sql, gate: usage }: At,
  { step: { id, name }, job, span }: Summarising,
  outcome: Extract<AgentOutcome, { kind: 'thought' | 'failed' }>,
): Promise<JobAnswer> => {
  const { step, before, outside } = await loadNow(sql, {
    step: stepPart(id),
    before: summaryBefore(job.message_id!),
    outside: untrustedBetween(span),
  })
  if (step?.state !== 'running') return { kind: 'nothing' }
  if (outcome.kind === 'failed') return { ...outcome, kind: 'no summary', step }
  return {
    ...outcome,
    kind: 'summary',
    step,
    span,
    summarisedTo: before?.summarised_to,
    untrusted: outside.any || (before?.summary_untrusted ?? false),
    room: historyBytes(deps.contextTokens),
    priceOf: deps.priceOf(name),
    usage,
  }
}
