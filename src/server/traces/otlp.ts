/** OTLP's JSON for a request with spans. */
import { type SpanFacts, spanIdOf, traceIdOf } from '#kernel/trace'
import type { EndedSpan } from './tracer.ts'

/** What all spans of a process say about it. */
export interface TraceResource {
  service: string
  /** The commit that it was built from. */
  version: string | undefined
  /** Other than that of every other process. */
  instance: string
}

const KINDS: Record<EndedSpan['kind'], number> = { internal: 1, server: 2, client: 3 }
const ERROR = 2

/** The names of what is known of a span. A fact without a name does not compile. */
const NAMES: Record<keyof SpanFacts, string> = {
  workspace: 'tendril.workspace',
  record: 'tendril.record',
  work: 'tendril.work',
  request: 'tendril.request',
  surface: 'tendril.surface',
  priority: 'tendril.priority',
  kind: 'tendril.kind',
  origin: 'tendril.origin',
  attempt: 'tendril.attempt',
  failures: 'tendril.failures',
  network: 'tendril.network',
  channel: 'tendril.channel',
  model: 'tendril.model',
  status: 'http.response.status_code',
  lateMs: 'tendril.late_ms',
  inputTokens: 'tendril.input_tokens',
  outputTokens: 'tendril.output_tokens',
}

interface Attribute {
  key: string
  value: { stringValue: string } | { intValue: string }
}

const attribute = (key: string, value: string | number): Attribute => ({
  key,
  value:
    typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
})

const attributesOf = ({ outcome, facts }: EndedSpan): Attribute[] => {
  const all = [attribute('tendril.outcome', outcome)]
  for (const name in facts) {
    const value = facts[name as keyof SpanFacts]
    if (value !== undefined) all.push(attribute(NAMES[name as keyof SpanFacts], value))
  }
  return all
}

const jsonOf = (span: EndedSpan) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId && { parentSpanId: span.parentId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: `${span.from}000`,
  endTimeUnixNano: `${span.to}000`,
  attributes: attributesOf(span),
  ...(span.link && {
    links: [{ traceId: traceIdOf(span.link), spanId: spanIdOf(span.link) }],
  }),
  ...(span.isFailure && { status: { code: ERROR } }),
})

export const traceRequest = (
  { service, version, instance }: TraceResource,
  spans: readonly EndedSpan[],
): string => {
  const attributes = [
    attribute('service.name', service),
    attribute('service.instance.id', instance),
    ...(version === undefined ? [] : [attribute('service.version', version)]),
  ]
  const scopeSpans = [{ scope: { name: 'tendril' }, spans: spans.map(jsonOf) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans }] })
}
