/** The spans of letters and of rows of work, where there are traces. */
import {
  currentTrace,
  keptTrace,
  resumeTrace,
  type SpanFacts,
  type Tracer,
  type TraceSpan,
} from '#kernel/trace'
import { isUnasked, type Ownership } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Decision, Letter } from './letter.ts'
import type { LetterEnding } from './meter.ts'

/** The trace that a row goes on with once it is claimed. */
export interface WorkTrace {
  /** Of the span that the row's own spans belong to. */
  context: string
  /** What the row keeps. */
  kept: string
  /** The span that a new trace begins with, which ends when the claim is committed. */
  first?: TraceSpan
}

/**
 * A timer's letter, or a lane's, belongs to a trace only if it says so: it may be sent while that
 * of a request runs. All other letters belong to somebody's request.
 */
export const beginLetter = (
  tracer: Tracer,
  { tenantId: workspace }: Pick<Ownership, 'tenantId'>,
  { name, priority, provenance }: Pick<Letter<unknown>, 'name' | 'priority' | 'provenance'>,
): TraceSpan | undefined => {
  const parent = provenance.trace ?? (isUnasked(provenance) ? undefined : currentTrace())
  if (isUnasked(provenance) && parent === undefined) return undefined
  const facts = { workspace, priority }
  return tracer.begin({ name: `letter ${name}`, kind: 'internal', parent, facts })
}

export const endLetter = (span: TraceSpan, ending: LetterEnding): void =>
  span.end(ending, { isFailure: ending === 'failed' })

const factsOf = (
  workspace: string,
  { id, kind, ref_id, origin, attempt, failures }: Work,
): SpanFacts => ({ workspace, work: id, kind, record: ref_id, origin, attempt, failures })

/** Goes on with the trace of a row, or begins one that is linked to it. */
export const traceOfWork = (
  tracer: Tracer,
  { tenantId }: Pick<Ownership, 'tenantId'>,
  work: Work,
  now: Date,
): WorkTrace => {
  const known = resumeTrace(work.trace, now)
  if (known && !known.isOver) return known
  const first = tracer.begin({
    name: `due ${work.kind}`,
    kind: 'internal',
    link: known?.context,
    facts: factsOf(tenantId, work),
  })
  return { context: first.context, kept: keptTrace(first.context, now), first }
}

/** The claim is committed. */
export const beginWork = (
  tracer: Tracer,
  { tenantId }: Pick<Ownership, 'tenantId'>,
  work: Work,
  { context, first }: WorkTrace,
): TraceSpan => {
  first?.end('due')
  return tracer.begin({
    name: `work ${work.kind}`,
    kind: 'internal',
    parent: context,
    facts: factsOf(tenantId, work),
  })
}

/** The outcomes of lanes say by a word of the source what they are. */
export const outcomeWord = (outcome: unknown): string => {
  const kind = (outcome as { kind?: unknown } | null | undefined)?.kind
  return typeof kind === 'string' ? kind : 'done'
}

/** The work that a decision adds belongs to this trace. */
export const inItsTrace = <D extends Decision<unknown>>(
  decision: D,
  trace: WorkTrace | undefined,
): D =>
  trace && decision.effects?.work
    ? {
        ...decision,
        effects: {
          ...decision.effects,
          work: decision.effects.work.map((row) => ({ trace: trace.context, ...row })),
        },
      }
    : decision
