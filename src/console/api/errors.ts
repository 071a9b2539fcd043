/** What can go wrong with a request, as the pages tell it. */

/** The server's word for an error, as `src/kernel/errors.ts` lists them, and its circumstances. */
export interface Refusal {
  code: string
  message: string
  /** Of a conflict: which one. */
  reason?: string
  /** Who acted first. */
  by?: { kind: string; id: string; name: string | null }
  at?: string
  /** Of a taken slot: the next free one; null if there is none. */
  next_free_at?: string | null
  details?: { path: string; message: string }[]
  request_id?: string
}

/** The server refused, or failed. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    readonly status: number,
    readonly refusal: Refusal,
    /** Seconds until a retry can succeed. */
    readonly retryAfter?: number,
  ) {
    super(refusal.message)
  }
  get code(): string {
    return this.refusal.code
  }
  get reason(): string | undefined {
    return this.refusal.reason
  }
}

/** No answer came: nobody knows whether the request arrived. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

const RETRIED = ['unavailable', 'idempotency_in_flight']

/** Whether the same request, sent again, may succeed by itself. */
export const mayPass = (cause: unknown): boolean =>
  cause instanceof Unreachable || (cause instanceof ApiError && RETRIED.includes(cause.code))

const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

/** An error in words for a person. */
export const errorWords = (cause: unknown): string => {
  if (cause instanceof Unreachable)
    return navigator.onLine
      ? 'The server did not answer. What you asked for may or may not have happened.'
      : 'You are offline. Nothing was sent.'
  return cause instanceof Error ? sentence(cause.message) : 'Something went wrong.'
}

/** Where to find it in the server's log. */
export const failedRequestId = (cause: unknown): string | undefined =>
  cause instanceof ApiError ? cause.refusal.request_id : undefined
