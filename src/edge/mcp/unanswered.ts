/** The requests of a session without an answer. */
import { ProtocolErrorCode, type RequestId } from '@modelcontextprotocol/server'
import { rpcError } from './rpc-error.ts'

const LONGEST_ID = 200
/** The SDK keeps each of them in memory until the session ends or is unloaded. */
const MAX_UNANSWERED = 1_000

/** Ids of requests without an answer. Cancelled ones never get one. */
export class Unanswered extends Set<RequestId> {
  /**
   * The SDK forgets a request when another arrives with the same id, and never ends the first one's
   * stream. Refuses the second.
   */
  refusalOf(ids: RequestId[]): Response | undefined {
    const twice = ids.find((id, index) => this.has(id) || ids.indexOf(id) !== index)
    if (twice !== undefined)
      return rpcError(
        400,
        ProtocolErrorCode.InvalidRequest,
        'Bad Request: this request id is in use',
      )
    if (ids.some((id) => String(id).length > LONGEST_ID))
      return rpcError(
        400,
        ProtocolErrorCode.InvalidRequest,
        `Bad Request: an id has at most ${LONGEST_ID} characters`,
      )
    if (this.size + ids.length <= MAX_UNANSWERED) return undefined
    return rpcError(
      429,
      ProtocolErrorCode.InvalidRequest,
      'Too many requests were cancelled: start a new session',
      { 'retry-after': '1' },
    )
  }
}

export const idsIn = (body: unknown): RequestId[] =>
  [body].flat().flatMap((one) => {
    const { id, method } = (one ?? {}) as { id?: unknown; method?: unknown }
    return method !== undefined && (typeof id === 'string' || typeof id === 'number') ? [id] : []
  })
