import type { CountName } from '#contract/records/growth/item'
import type { Marks } from '#contract/records/growth/marks'
import type { Tier } from '#domain/app/read-budget'
import type { EngageAction, Preflight } from '#domain/growth/drafting/engagement'
import type { Metrics } from '#domain/growth/metrics'
import type { Made } from '#domain/growth/sending/sendable'
import type { NetworkMarks } from './marks.ts'
import type { NetworkPrices } from './prices.ts'

/**
 * A social network. An adapter translates every answer of the real service into one of the results
 * below; the exactly-once machine (domain/growth/sending/send.ts) trusts only their `kind`.
 */
export interface Network extends Measuring, Sociable {
  /** `sandbox`, `x`, `bluesky`. */
  readonly name: string
  readonly limits: NetworkLimits
  /** Undefined where the network itself makes the ids of posts. */
  readonly keys?: PostKeys
  /** Undefined where a text is all that a post has. */
  readonly marks?: NetworkMarks<NetworkAccount>
  /** Undefined where accounts need no credentials. */
  readonly sessions?: NetworkSessions
  /**
   * Sends one post, once; without retries, unless the request has a key. Rejects only because of a
   * bug; a rejection counts as `unknown`. Resolves soon after `signal` aborts.
   */
  publish(request: PublishRequest, signal: AbortSignal): Promise<PublishResult>
  /**
   * The account's own posts created at or after `since`, newest first. Throws `NetworkError` if it
   * cannot be read.
   */
  readTimeline(account: NetworkAccount, since: Date, signal: AbortSignal): Promise<Timeline>
}

/**
 * A network on which we make the key of each post, and on which writing under a key again never
 * makes a second post. There a doubt ends by a look at the key.
 */
export interface PostKeys {
  /** The key of what one approved content makes, however often it is tried. */
  keyOf(approval: SentApproval): string
  /** What was sent under a key; undefined if there is nothing. Throws like `readTimeline`. */
  find(wanted: KeyedPost, signal: AbortSignal): Promise<Made | undefined>
}

export interface SentApproval {
  /** A minute, always the same for the record. */
  at: Date
  /** SHA-256 of the record, the approved content and its account. */
  digest: Buffer
}

export interface KeyedPost {
  account: NetworkAccount
  key: string
  action: EngageAction | 'post'
  /** As sent: something else under the key is not it. Null for likes and reposts. */
  text: string | null
  /** The post that was answered, quoted, reposted or liked; null for a post of its own. */
  postId: string | null
}

/** A network whose accounts are used with credentials that end, and are renewed before. */
export interface NetworkSessions {
  /** Renews the credentials of an account. Rejects only because of a bug. */
  renew(account: NetworkAccount, signal: AbortSignal): Promise<SessionRenewal>
  /** Ends the session at the network. False if it may live on. Rejects only because of a bug. */
  end(account: NetworkAccount, signal: AbortSignal): Promise<boolean>
}

export type SessionRenewal =
  /** Sealed like `NetworkAccount.credentials`. `endsAt`: when they end unless they are renewed. */
  | { kind: 'renewed'; credentials: string; endsAt: Date }
  /** No answer, or one that proves nothing: the old credentials may still be good. */
  | { kind: 'unanswered'; retryAfterMs?: number | undefined }
  /** The network refuses them for good. `reason` is for people. */
  | { kind: 'refused'; reason: string }
  /** Likewise; `credentials`: what replaces the old ones all the same. */
  | { kind: 'suspended'; reason: string; credentials?: string }

/** The most posts in one call to `readMetrics`. */
export const MOST_MEASURED = 100

/** A network that counts how posts perform. */
interface Measuring {
  /**
   * Metrics of the account's own posts, at most `MOST_MEASURED` in a call. Posts that the network
   * no longer knows are left out. Throws like `readTimeline`.
   */
  readMetrics(
    account: NetworkAccount,
    externalIds: string[],
    signal: AbortSignal,
  ): Promise<PostMetrics[]>
}

/** A network with other people, whose posts can be read and answered. */
interface Sociable {
  /**
   * Somebody else's newest posts, newest first; null if nobody has this handle. Throws like
   * `readTimeline`.
   */
  readHandle(
    account: NetworkAccount,
    query: HandleQuery,
    signal: AbortSignal,
  ): Promise<OthersPost[] | null>
  /**
   * Posts by others that mention the account, answer it or quote it, newest first. `since`: when
   * they came. Throws like `readTimeline`. Absent where a network cannot tell.
   */
  readMentions?(
    account: NetworkAccount,
    query: Omit<HandleQuery, 'handle'>,
    signal: AbortSignal,
  ): Promise<OthersPost[]>
  /** The post id in an id or URL, without asking the network; undefined if there is none. */
  postIdIn(ref: string): string | undefined
  /** A post by id or URL; null if the account can see no such post. Throws like `readTimeline`. */
  readPost(account: NetworkAccount, ref: string, signal: AbortSignal): Promise<OthersPost | null>
  /**
   * Engages once, without retries; rejects only because of a bug, like `publish`. A like or repost
   * that already exists is `posted`, with the post's own id as `externalId`.
   */
  engage(request: EngageRequest, signal: AbortSignal): Promise<PublishResult>
  /** Whether the network's rules permit an action on a post, without asking the network. */
  preflight(action: EngageAction, post: OthersPost): Preflight
}

export interface PostMetrics extends Metrics {
  externalId: string
}

export interface HandleQuery {
  handle: string
  /** Created at or after. */
  since: Date
  limit: number
}

/** A post by anybody. Its text is somebody else's: never an instruction. */
export interface OthersPost {
  externalId: string
  author: { externalId: string; handle: string }
  text: string
  createdAt: Date
  url: string | null
  metrics: Metrics
  /**
   * Whether it mentions or quotes the account that reads, or, where a network counts that too,
   * answers it.
   */
  addressesUs: boolean
  /** Which of like and repost the reading account has done; absent if the network does not say. */
  done?: EngageAction[]
}

export interface EngageRequest {
  account: NetworkAccount
  action: EngageAction
  /** The network's id of the post to answer, quote, repost or like. */
  postId: string
  /** For replies and quotes. */
  text?: string
  /** See `PublishRequest`. */
  attemptId: string
  key: string | null
  madeAt: Date
  deadlineMs: number
}

export interface NetworkLimits {
  /** The longest ordinary post, by the network's own count. */
  maxLength: number
  /** The same of a long-form post, for articles. Null where there are no long posts. */
  maxLongLength: number | null
  /** The length of a text, by the network's own count. */
  measure(text: string): number
  /** How reads are paid for. */
  tier: Tier
  /**
   * The latest, in milliseconds after its answer, that a post answered with `server_error` can
   * still be applied and show in reads. Less than a day; null if nobody promises this.
   */
  maxApplyMs: number | null
  /**
   * Whether a complete read shows every post older than `maxApplyMs`, with none hidden, filtered or
   * dropped.
   */
  completeReadBack: boolean
  /** How lengths are counted, for people. */
  counting: string
  /** What can be done with others' posts, unless a rule for the single post forbids it. */
  actions: readonly EngageAction[]
  /** What it counts for a post. Anything else is null in its metrics. */
  counts: readonly CountName[]
  /** What requests cost. Null if they cost nothing. */
  prices: NetworkPrices | null
}

export interface NetworkAccount {
  /** Our id of the connection. */
  id: string
  /** The network's id of the account; the same after reconnecting. */
  externalId: string
  handle: string
  /** Sealed, in base64; null or absent where an account needs none. */
  credentials?: string | null
}

export interface PublishRequest {
  account: NetworkAccount
  text: string
  /** As approved with the text; absent if there are none. */
  marks?: Marks | null
  /** Whether the limit for long posts applies, as it does for an article. */
  isLong?: boolean
  attemptId: string
  /** Of `PostKeys`; null on other networks. */
  key: string | null
  /** When it was tried first, by the database's clock: the date of the post. */
  madeAt: Date
  /** Milliseconds after which the caller gives up. */
  deadlineMs: number
}

export type PublishResult =
  /** The network confirmed the post. */
  | { kind: 'posted'; externalId: string; url: string | null }
  /**
   * The network refused the content: nothing was posted, and the same text will be refused again.
   */
  | { kind: 'refused'; reason: string }
  /** Provably nothing was posted. Another try may succeed, at the earliest after `retryAfterMs`. */
  | {
      kind: 'not_applied'
      reason: 'rate_limited' | 'unreachable'
      detail: string
      retryAfterMs?: number
      /** The account's session has ended, and can be renewed. */
      isSessionOver?: true
    }
  /**
   * Nothing was posted: the network no longer accepts the account's credentials, or has stopped the
   * account.
   */
  | { kind: 'disconnected'; reason: string; isSuspended?: true }
  /**
   * Proves nothing. `server_error`: the network itself answered completely, with a 5xx.
   * `no_answer`: a timeout, a broken connection, or an intermediary that gave up waiting (504).
   * `unclear_answer`: anything else, such as a refusal as a duplicate.
   */
  | { kind: 'unknown'; reason: string; cause: 'server_error' | 'no_answer' | 'unclear_answer' }

interface TimelinePost {
  externalId: string
  text: string
  /** Whether the network shortened the text in this answer. */
  truncated: boolean
  createdAt: Date
  url: string | null
  /** Network ids of the posts it answers and quotes, if any. */
  inReplyTo?: string
  quoted?: string
}

export interface Timeline {
  posts: TimelinePost[]
  /**
   * Whether paging has certainly left out nothing between `since` and now. An incomplete read
   * decides nothing.
   */
  complete: boolean
}

/**
 * A failed read. `not_served`: the account is served without what the read needs. Then the message
 * is ours, and for people.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  constructor(
    readonly reason: 'rate_limited' | 'unreachable' | 'disconnected' | 'bad_answer' | 'not_served',
    detail: string,
    readonly retryAfterMs?: number,
    /** The account's session has ended, and can be renewed. */
    readonly isSessionOver?: true,
  ) {
    super(detail)
  }
}
