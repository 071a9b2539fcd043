/** What shows on its network that a record of each kind was sent, and how that is read. */
import { type Engagement, isWritten } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import type { Sendable, SendableKind } from '#domain/growth/sending/sendable'
import type { Network } from '#port/network/network'
import type { Query } from '#store/engine/db'
import { unnamedAnswers, unnamedAttempts } from '#store/growth/attempts'
import { type Reading, type ReadResult, readPostState, readTimeline } from './timeline.ts'

export interface Evidence<R extends Sendable = Sendable> {
  /** Whether it is looked for on the account's timeline, or at the post that it was done to. */
  isOnTimeline(record: R): boolean
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

const post: Evidence<Item> = {
  isOnTimeline: () => true,
  read: (network, _, reading, signal) => readTimeline(network, reading, signal),
  // Replies and quotes do not belong to items.
  hasForm: (_, { inReplyTo, quoted }) => inReplyTo === undefined && quoted === undefined,
  unnamed: (_, connectionId) => unnamedAttempts(connectionId),
}

/**
 * Replies and quotes are looked for on the account's own timeline, among answers to the same post;
 * likes and reposts on that post.
 */
const engagement: Evidence<Engagement> = {
  isOnTimeline: ({ action }) => isWritten(action),
  read: (network, { action, post_id: postId }, reading, signal) =>
    isWritten(action)
      ? readTimeline(network, reading, signal)
      : readPostState(network, { ...reading, action, postId }, signal),
  hasForm: ({ action, post_id }, { inReplyTo, quoted }) =>
    (action === 'reply' ? inReplyTo : quoted) === post_id,
  unnamed: ({ network, action, post_id: postId }, connectionId) =>
    unnamedAnswers({ connectionId, network, postId, action }),
}

export const evidenceOf: Record<SendableKind, Evidence> = { post, engagement }
