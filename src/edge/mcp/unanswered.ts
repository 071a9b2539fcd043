/** The requests of a session that have no answer. */
import { ProtocolErrorCode, type RequestId } from '@modelcontextprotocol/server'
import { rpcError } from './rpc-error.ts'

const LONGEST_ID = 200
/** The SDK keeps each of them in memory until the session ends or is unloaded. */
const MAX_UNANSWERED = 1_000

/** Ids of requests that have no answer. Cancelled requests never get one. */
export class Unanswered extends Set<RequestId> {
  /**
   * If another request arrives with the same id, the SDK forgets the first one and never ends its
   * stream. So the second one is refused.
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
