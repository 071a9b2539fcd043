/** The spans of requests and of calls over MCP, where there are traces. */
import type { NamedOp } from '#contract/op'
import { AppError } from '#kernel/errors'
import { isUuid } from '#kernel/ids'
import { foreignTrace, inTrace, type Tracer, type TraceSpan } from '#kernel/trace'
import type { Call } from '#ops/engine/call'
import type { Incoming } from './incoming.ts'
import { requestIdOf } from './respond.ts'
import { surfaceOf } from './visit.ts'

/** A client may have chosen the id, and it may be a text. */
const ownId = (requestId: string): string | undefined => (isUuid(requestId) ? requestId : undefined)

const linkOf = (request: Request): string | undefined =>
  foreignTrace(request.headers.get('traceparent'))

const endFailed = (span: TraceSpan, cause: unknown, workspace?: string): void => {
  const { code, status } = AppError.from(cause)
  span.end(code, { workspace, status, isFailure: status >= 500 })
}

/** The span that every request of an operation over HTTP begins its trace with. */
export const tracedRequest = async (
  tracer: Tracer,
  o: Pick<NamedOp, 'id'>,
  incoming: Incoming,
  respond: () => Promise<Response>,
): Promise<Response> => {
  const { request } = incoming
  const span = tracer.begin({
    name: o.id,
    kind: 'server',
    link: linkOf(request),
    facts: { surface: surfaceOf(request), request: ownId(requestIdOf(request)) },
  })
  const workspace = () => incoming.asked?.workspace
  try {
    const response = await inTrace(span.context, respond)
    const { status } = response
    span.end('answered', { workspace: workspace(), status, isFailure: status >= 500 })
    return response
  } catch (cause) {
    endFailed(span, cause, workspace())
    throw cause
  }
}

interface TracedCall {
  call: Call
  request: Request
}

/** The span of one call of an operation over MCP. */
export const tracedCall = async <A extends { status: number }>(
  tracer: Tracer,
  o: Pick<NamedOp, 'id'>,
  { call: { tenantId: workspace, surface, requestId }, request }: TracedCall,
  run: () => Promise<A>,
): Promise<A> => {
  const facts = { workspace, surface, request: ownId(requestId) }
  const span = tracer.begin({ name: o.id, kind: 'server', link: linkOf(request), facts })
  try {
    const answer = await inTrace(span.context, run)
    span.end('answered', { status: answer.status })
    return answer
  } catch (cause) {
    endFailed(span, cause)
    throw cause
  }
}
