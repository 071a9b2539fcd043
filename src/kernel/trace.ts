/**
 * Traces: what became of a request, as spans of time. A trace goes on over processes and restarts,
 * because the work that it leads to keeps its context. What spans are made of says what can be in
 * them: there is no field for a text.
 */
import { fieldNow, withFields } from './log.ts'

/** What is known of a span beside its name, its time and how it ended. Ids are this product's. */
export interface SpanFacts {
  workspace?: string | undefined
  /** The record that it is about. */
  record?: string | undefined
  /** The id of a row of work. */
  work?: string | undefined
  /** The id of a request. */
  request?: string | undefined
  surface?: string | undefined
  priority?: string | undefined
  kind?: string | undefined
  origin?: string | undefined
  attempt?: number | undefined
  failures?: number | undefined
  network?: string | undefined
  channel?: string | undefined
  /** A model's name in the settings. */
  model?: string | undefined
  /** Of HTTP. */
  status?: number | undefined
  lateMs?: number | undefined
  inputTokens?: number | undefined
  outputTokens?: number | undefined
}

export interface NewSpan {
  /** From the source, never from a request. */
  name: string
  /** `server`: somebody asked this process. `client`: this process asks somebody. */
  kind: 'internal' | 'server' | 'client'
  /** The context of the span that it is a part of. Undefined: it begins a trace. */
  parent?: string | undefined
  /** The context of a span of another trace that led to this one. */
  link?: string | undefined
  facts?: SpanFacts
}

/** A span that never ends is in no trace. */
export interface TraceSpan {
  /** W3C's traceparent, by which other spans become parts of this one. */
  readonly context: string
  /** `outcome`: a word of the source. */
  end(outcome: string, more?: SpanFacts & { isFailure?: boolean }): void
}

/** Must not throw. */
export interface Tracer {
  begin(span: NewSpan): TraceSpan
}

const CONTEXT = '00-([0-9a-f]{32})-([0-9a-f]{16})-01'
/** A context and nothing else. */
export const CONTEXT_PATTERN = `^${CONTEXT}$`
export const contextOf = (traceId: string, spanId: string): string => `00-${traceId}-${spanId}-01`
export const traceIdOf = (context: string): string => context.slice(3, 35)
export const spanIdOf = (context: string): string => context.slice(36, 52)

/** Spans that `run` begins are parts of this one, and its log lines name it. */
export const inTrace = <T>(context: string, run: () => T): T => withFields({ trace: context }, run)

/** The context of the span that the caller runs in. */
export const currentTrace = (): string | undefined => fieldNow('trace') as string | undefined

/** Runs a call to the outside within a span, where there are traces. */
export const inSpan = async <T>(
  tracer: Tracer | undefined,
  { name, facts = {} }: Pick<NewSpan, 'name' | 'facts'>,
  run: () => Promise<T>,
  endOf: (result: T) => { outcome: string; isFailure?: boolean } & SpanFacts,
): Promise<T> => {
  if (!tracer) return run()
  const span = tracer.begin({ name, kind: 'client', parent: currentTrace(), facts })
  try {
    const result = await run()
    const { outcome, ...more } = endOf(result)
    span.end(outcome, more)
    return result
  } catch (cause) {
    span.end('error', { isFailure: true })
    throw cause
  }
}

/** The context in a traceparent header. It is a stranger's, so it can only be linked to. */
export const foreignTrace = (header: string | null): string | undefined => {
  const [, traceId, spanId] = FOREIGN.exec(header ?? '') ?? []
  return traceId && spanId && !NOTHING.test(traceId) && !NOTHING.test(spanId)
    ? contextOf(traceId, spanId)
    : undefined
}
const FOREIGN = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const NOTHING = /^0+$/

/** After so long without a span, a trace is over: what goes on begins a new one, linked to it. */
const OVER_AFTER_MS = 3_600_000
/** So is one of a row that runs again and again, such as a rule's. */
const LONGEST_MS = 24 * 3_600_000

/** What a row of work keeps of its trace. */
export const keptTrace = (context: string, now: Date, since = now): string =>
  `${context}@${since.getTime()}@${now.getTime()}`

const KEPT = new RegExp(`^${CONTEXT}@(\\d{1,15})@(\\d{1,15})$`)

/** What a row kept: the context, what to keep from now on, and whether its trace is over. */
export const resumeTrace = (
  kept: string | null,
  now: Date,
): { context: string; kept: string; isOver: boolean } | undefined => {
  const [, traceId, spanId, since, last] = KEPT.exec(kept ?? '') ?? []
  if (!traceId || !spanId) return undefined
  const context = contextOf(traceId, spanId)
  const at = now.getTime()
  const isOver = at - Number(last) > OVER_AFTER_MS || at - Number(since) > LONGEST_MS
  return { context, kept: keptTrace(context, now, new Date(Number(since))), isOver }
}
