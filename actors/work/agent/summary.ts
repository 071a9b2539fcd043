/**
 * A conversation that has grown too long for the model is summarised before the next thought: by a
 * step of its own, whose commit holds the summary. If it fails, the thought goes without the oldest
 * messages.
 */
import { Buffer } from 'node:buffer'
import { Authors } from '#domain/agent/job/authors'
import { estimateTokens, historyBytes, reserve } from '#domain/agent/job/budget'
import {
  type History,
  isTooLong,
  keptSummary,
  MOST_SUMMARIES,
  type Summary,
  summarisedUpTo,
  summaryRequest,
  summarySystem,
} from '#domain/agent/job/compaction'
import type { Job } from '#domain/agent/job/job'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import type { Step, StepHead } from '#domain/agent/job/step'
import { CONVERSATION } from '#domain/agent/job/taint'
import type { ThinkRequest } from '#port/model/thinker'
import { stepPart } from '#store/agent/steps'
import {
  authorsBetween,
  headsBefore,
  type MessageSpan,
  type StoredSummary,
  saidBetween,
  saveSummary,
  summaryBefore,
  untrustedBetween,
} from '#store/agent/summaries'
import { loadBy, loadNow } from '#store/engine/load'
import { type At, again } from './at.ts'
import { beginStep } from './begun.ts'
import { booked, unbooked } from './booking.ts'
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

const STARTED = 'Summarise earlier messages'

/**
 * Whether the job may summarise: some must be left to think about, and one that failed is not tried
 * again.
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

/** What is to be summarised now. */
const spanOf = async (
  { sql, changes: { job } }: At,
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
  /** The call that a stop, a death or a fault of the provider has interrupted. */
  tried: Step | undefined
  history: History | undefined
}

/** Undefined if the job can think at once. */
export const beginSummary = async (
  deps: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  { tried, history }: Before,
): Promise<Summarising | undefined> => {
  // A thought that was tried before goes on with what it had.
  if (tried?.kind === 'model' || !history) return undefined
  const { gate, changes, caller, callerNow, authors } = at
  const models = deps.models()
  const room = historyBytes(deps.contextTokens)
  const others = heads.filter(({ id }) => id !== tried?.id)
  const isNeeded = isTooLong(history, room) && models !== NO_MODEL && mayBegin(changes.job, others)
  const found = isNeeded ? await spanOf(at, history, room) : undefined
  const name = models === NO_MODEL ? NO_MODEL : models.fast
  const input = estimateTokens({
    known: 0,
    bytes: (found?.bytes ?? 0) + Buffer.byteLength(summarySystem(room)),
  })
  const reserved = found && reserve(gate, { input, priceOf: deps.priceOf(name) })
  if (!found || typeof reserved !== 'object') {
    if (tried) changes.endedStep(changes.save({ ...tried, state: 'cancelled', ended_at: gate.now }))
    return undefined
  }
  const step = beginStep(at, tried, reserved, { kind: 'summary', name })
  changes.started(step, STARTED)
  return {
    kind: 'summary',
    job: changes.job,
    caller,
    callerNow,
    authors,
    step,
    span: found.span,
    maxTokens: reserved.maxTokens,
  }
}

/** Undefined: there is none. */
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

export const settleSummary = async (
  deps: AgentDeps,
  at: At,
  { step: { id }, job, span }: Summarising,
  outcome: AgentOutcome,
) => {
  const { changes, gate } = at
  const loaded = await loadNow(at.sql, {
    step: stepPart(id),
    before: summaryBefore(job.message_id!),
    outside: untrustedBetween(span),
  })
  const { step, before } = loaded
  if (step?.state !== 'running') return again(at, gate.now)
  if (outcome.kind === 'failed') {
    unbooked(at, step, outcome)
    changes.endedStep(
      changes.save({ ...step, state: 'failed', error: outcome.failure, ended_at: gate.now }),
    )
    return again(at, gate.now)
  }
  if (outcome.kind !== 'thought') throw new Error(`a summary cannot end as ${outcome.kind}`)
  const done = booked(deps, at, step, outcome)
  const text = keptSummary(outcome.thought.text, historyBytes(deps.contextTokens))
  const isEmpty = text === '' || outcome.thought.ending === 'refused'
  const untrusted = loaded.outside.any || (before?.summary_untrusted ?? false)
  const kept = { result: { text }, untrusted: untrusted ? CONVERSATION : null }
  changes.endedStep(
    changes.save(
      isEmpty ? { ...done, state: 'failed', error: 'model_invalid' } : { ...done, ...kept },
    ),
  )
  // Another job of the conversation may have summarised meanwhile.
  if (!isEmpty && before?.summarised_to === span.from)
    changes.also({ writes: [saveSummary(span, { text, untrusted })] })
  return again(at, gate.now)
}
