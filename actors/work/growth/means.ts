/**
 * How each kind of record is sent to its network, and how the network is asked what became of it.
 */
import { hashOfEngagement, hashOfPost } from '#decisions/growth/sent-hash'
import { type Engagement, isWritten } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import type { SendOutcome } from '#domain/growth/sending/send'
import type { Sendable, SendableKind } from '#domain/growth/sending/sendable'
import type { Network, NetworkAccount } from '#port/network/network'
import type { Query, Sql } from '#store/engine/db'
import { sameTextOpen, unnamedAnswers, unnamedAttempts } from '#store/growth/attempts'
import { type Reading, type ReadResult, readPostState, readTimeline } from './timeline.ts'

interface Request {
  account: NetworkAccount
  text: string | null
  attemptId: string
  deadlineMs: number
}

export interface Means<R extends Sendable = Sendable> {
  /** SHA-256 of what is sent, as far as it can be recognised on the network. */
  hashOf(record: R): string
  /**
   * Whether an attempt of the account is in doubt that could not be distinguished from one with
   * this hash.
   */
  isInTheWay(sql: Sql, connectionId: string, hash: string): Promise<boolean>
  /**
   * Whether a doubt can end by the network's promise about requests that it answers with an error.
   */
  endsByItself: boolean
  /** Sends one request, without retries. */
  send(network: Network, record: R, request: Request, signal: AbortSignal): Promise<SendOutcome>
  /** Reads what may show that it was sent. */
  read(network: Network, record: R, reading: Reading, signal: AbortSignal): Promise<ReadResult>
  /**
   * Whether a post on the account's timeline has the form of a send of this record, whatever its
   * text.
   */
  hasForm(record: R, post: SeenPost): boolean
  /** Attempts of the account that may own such an unnamed post. */
  unnamed(record: R, connectionId: string): Query<Attempt>
}

const post: Means<Item> = {
  hashOf: hashOfPost,
  isInTheWay: sameTextOpen,
  endsByItself: true,
  send: (network, { kind }, { text, ...request }, signal) =>
    network.publish({ ...request, text: text!, isLong: kind === 'article' }, signal),
  read: (network, _, reading, signal) => readTimeline(network, reading, signal),
  // Replies and quotes do not belong to items.
  hasForm: (_, { inReplyTo, quoted }) => inReplyTo === undefined && quoted === undefined,
  unnamed: (_, connectionId) => unnamedAttempts(connectionId),
}

/**
 * Replies and quotes are looked for on the account's own timeline, among answers to the same post;
 * likes and reposts on that post.
 */
const engagement: Means<Engagement> = {
  hashOf: hashOfEngagement,
  // Its post and its action identify it.
  isInTheWay: async () => false,
  endsByItself: false,
  send: (network, { action, post_id: postId }, { text, ...request }, signal) =>
    network.engage({ ...request, action, postId, ...(text === null ? {} : { text }) }, signal),
  read: (network, { action, post_id: postId }, reading, signal) =>
    isWritten(action)
      ? readTimeline(network, reading, signal)
      : readPostState(network, { ...reading, action, postId }, signal),
  hasForm: ({ action, post_id }, { inReplyTo, quoted }) =>
    (action === 'reply' ? inReplyTo : quoted) === post_id,
  unnamed: ({ network, action, post_id: postId }, connectionId) =>
    unnamedAnswers({ connectionId, network, postId, action }),
}

export const meansOf: Record<SendableKind, Means> = { post, engagement }
