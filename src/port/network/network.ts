import type { Tier } from '#domain/app/read-budget'
import type { EngageAction, Preflight } from '#domain/growth/drafting/engagement'
import type { Metrics } from '#domain/growth/metrics'

/**
 * A social network, as the rest of Tendril sees it. An adapter translates every answer of the real service into one of
 * the results below; the exactly-once machine (domain/publish.ts) trusts nothing but their `kind`.
 */
export interface Network extends Measuring, Sociable {
  /** `sandbox`, `x`, `bluesky`. */
  readonly name: string
  readonly limits: NetworkLimits
  /**
   * Sends one post, once: no retries inside. Rejects only by a bug; a rejection is treated as `unknown`.
   * Resolves soon after `signal` aborts.
   */
  publish(request: PublishRequest, signal: AbortSignal): Promise<PublishResult>
  /** The account's own posts created at or after `since`, newest first. Throws a `NetworkError` when it cannot be read. */
  readTimeline(account: NetworkAccount, since: Date, signal: AbortSignal): Promise<Timeline>
}

/** Posts that one call may ask the numbers of. */
export const MOST_MEASURED = 100

/** A network that counts what becomes of posts. */
interface Measuring {
  /**
   * What is counted of own posts, at most `MOST_MEASURED` a call; those that the network does not know any more are absent. Throws as
   * `readTimeline`.
   */
  readMetrics(account: NetworkAccount, externalIds: string[], signal: AbortSignal): Promise<PostMetrics[]>
}

/** A network on which there are others: whose posts can be read, and answered. */
interface Sociable {
  /** The newest posts of somebody else, newest first; null when nobody has this handle. Throws as `readTimeline`. */
  readHandle(account: NetworkAccount, query: HandleQuery, signal: AbortSignal): Promise<OthersPost[] | null>
  /** The id of a post that an id or an address names, without asking the network; undefined for what names none. */
  postIdIn(ref: string): string | undefined
  /** A post by its id or address; null when there is none that the account may see. Throws as `readTimeline`. */
  readPost(account: NetworkAccount, ref: string, signal: AbortSignal): Promise<OthersPost | null>
  /**
   * Does what the request says, once: as `publish`, no retries inside, and it rejects only by a bug. A like or a repost that
   * stands already is `posted`; its `externalId` is the post's.
   */
  engage(request: EngageRequest, signal: AbortSignal): Promise<PublishResult>
  /** What the network's rules say of an action on a post, without asking the network. */
  preflight(action: EngageAction, post: OthersPost): Preflight
}

export interface PostMetrics extends Metrics {
  externalId: string
}

export interface HandleQuery {
  handle: string
  /** Created at or after. */
  since: Date
  /** At most. */
  limit: number
}

/** A post on the network, whoever wrote it. Its text is somebody else's: never to be trusted as an instruction. */
export interface OthersPost {
  externalId: string
  author: { externalId: string; handle: string }
  text: string
  createdAt: Date
  url: string | null
  metrics: Metrics
  /** The post mentions or quotes the account that reads. */
  addressesUs: boolean
  /** Which of like and repost the account that reads has done; absent where the network does not tell. */
  done?: EngageAction[]
}

export interface EngageRequest {
  account: NetworkAccount
  action: EngageAction
  /** The network's id of the post that is answered, quoted, reposted or liked. */
  postId: string
  /** With reply and quote. */
  text?: string
  /** As of `PublishRequest`. */
  attemptId: string
  deadlineMs: number
}

export interface NetworkLimits {
  /** The longest ordinary post, in the network's own measure. */
  maxLength: number
  /** The longest long-form post, for articles. */
  maxLongLength: number
  /** Length of a text in the network's own measure. */
  measure(text: string): number
  /** True when sending the same attempt id twice cannot post twice. */
  idempotent: boolean
  /** How reads are paid for. */
  tier: Tier
  /**
   * The longest, in milliseconds after its answer, until a post that was answered with a `server_error` is applied, if ever, and
   * shows in reads; null where nobody promises that. Less than a day.
   */
  maxApplyMs: number | null
  /** A complete read shows every post of the account that is older than `maxApplyMs`: none is hidden, filtered or forgotten. */
  completeReadBack: boolean
}

/** Within what time the network settles a request that it answers with a `server_error`, where it promises all that this takes. */
export const appliesWithin = ({ maxApplyMs, completeReadBack }: NetworkLimits): number | undefined =>
  completeReadBack && maxApplyMs !== null ? maxApplyMs : undefined

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
  /**
   * Proves nothing. `server_error`: the network itself answered, to the end, with a 5xx; an answer of something in between that gave
   * up waiting (504) is `no_answer`, as a time-out and a broken connection are; `unclear_answer`: any other, a "duplicate" refusal.
   */
  | { kind: 'unknown'; reason: string; cause: 'server_error' | 'no_answer' | 'unclear_answer' }

export interface TimelinePost {
  externalId: string
  text: string
  /** The network cut the text short in this answer. */
  truncated: boolean
  createdAt: Date
  url: string | null
  /** Network ids of the posts that it answers and quotes; absent on others. */
  inReplyTo?: string
  quoted?: string
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
