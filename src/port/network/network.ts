/**
 * A social network, as the rest of Tendril sees it. An adapter translates every answer of the real service into one of
 * the results below; the exactly-once machine (domain/publish.ts) trusts nothing but their `kind`.
 */
export interface Network {
  /** `sandbox`, `x`, `bluesky`. */
  readonly name: string
  readonly capabilities: Capabilities
  /**
   * Sends one post, once: no retries inside. Rejects only by a bug; a rejection is treated as `unknown`.
   * Resolves soon after `signal` aborts.
   */
  publish(request: PublishRequest, signal: AbortSignal): Promise<PublishResult>
  /** The account's own posts created at or after `since`, newest first. Throws a `NetworkError` when it cannot be read. */
  readTimeline(account: NetworkAccount, since: Date, signal: AbortSignal): Promise<Timeline>
}

export interface Capabilities {
  /** The longest ordinary post, in the network's own measure. */
  maxLength: number
  /** The longest long-form post, for articles. */
  maxLongLength: number
  /** Length of a text in the network's own measure. */
  measure(text: string): number
  /** True when sending the same attempt id twice cannot post twice. */
  idempotent: boolean
}

export interface NetworkAccount {
  /** Our id of the connection. */
  id: string
  /** The network's own id of the account; survives reconnecting. */
  externalId: string
  handle: string
}

export interface PublishRequest {
  account: NetworkAccount
  text: string
  /** An article: the network's limit for long posts holds. */
  isLong?: boolean
  /** The id of this publish attempt; networks with idempotent writes derive their key from it. */
  attemptId: string
  /** Milliseconds after which the caller gives up. */
  deadlineMs: number
}

export type PublishResult =
  /** The network confirmed the post. */
  | { kind: 'posted'; externalId: string; url: string | null }
  /** The network refused the content for good: nothing was posted, and the same text will be refused again. */
  | { kind: 'refused'; reason: string }
  /** Nothing was posted, provably; another try may succeed, not sooner than `retryAfterMs` when given. */
  | { kind: 'not_applied'; reason: 'rate_limited' | 'unreachable'; detail: string; retryAfterMs?: number }
  /** Nothing was posted: the account's credentials are no longer accepted. */
  | { kind: 'disconnected'; reason: string }
  /** The answer proves nothing: a time-out, a broken connection, a 5xx, a "duplicate" refusal. */
  | { kind: 'unknown'; reason: string }

export interface TimelinePost {
  externalId: string
  text: string
  /** The network cut the text short in this answer. */
  truncated: boolean
  createdAt: Date
  url: string | null
}

export interface Timeline {
  posts: TimelinePost[]
  /** True when nothing between `since` and now can be missing for paging reasons. An incomplete read decides nothing. */
  complete: boolean
}

/** A read that did not succeed. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  constructor(
    readonly reason: 'rate_limited' | 'unreachable' | 'disconnected' | 'bad_answer',
    detail: string,
    readonly retryAfterMs?: number,
  ) {
    super(detail)
  }
}
