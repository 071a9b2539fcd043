/** A collector of traces: a real HTTP server that reads OTLP's JSON. */
import { eventually } from '../eventually.ts'
import { openReceiver, type Receiver } from './receiver.ts'

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: string }
}

interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  links?: { traceId: string; spanId: string }[]
  status?: { code: number }
}

interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[]
  }[]
}

type Facts = Record<string, string | number>

export interface CollectedSpan extends Omit<OtlpSpan, 'attributes'> {
  /** Without the product's prefix. */
  facts: Facts
  /** The process that it is of. */
  instance: unknown
}

export interface Collector extends Pick<Receiver, 'answer' | 'requests'>, AsyncDisposable {
  /** For the variable of this name. */
  endpoint: string
  spans(): CollectedSpan[]
  /** The spans, once they are as a test needs them. */
  until(holds: (spans: CollectedSpan[]) => boolean): Promise<CollectedSpan[]>
}

const factsOf = (attributes: Attribute[]): Facts =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [
      key.replace(/^tendril\./, ''),
      stringValue ?? Number(intValue),
    ]),
  )

const spansIn = (body: string): CollectedSpan[] =>
  (JSON.parse(body) as OtlpRequest).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const { 'service.instance.id': instance } = factsOf(resource.attributes)
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, ...span }) => ({ ...span, facts: factsOf(attributes), instance })),
    )
  })

export const openCollector = async (): Promise<Collector> => {
  const receiver = await openReceiver()
  receiver.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }
  const spans = () => receiver.requests.flatMap(({ body }) => spansIn(body))
  return {
    endpoint: `http://127.0.0.1:${receiver.port}`,
    spans,
    until: (holds) => eventually(async () => spans(), holds),
    get requests() {
      return receiver.requests
    },
    get answer() {
      return receiver.answer
    },
    set answer(answer) {
      receiver.answer = answer
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}
