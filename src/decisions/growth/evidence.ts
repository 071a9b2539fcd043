/** What shows on its network that a record of each kind was sent, and how that is read. */
import { type Engagement, isWritten } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'
import { readSince, type SeenPost } from '#domain/growth/sending/reconcile'
import type { Sendable, SendableKind } from '#domain/growth/sending/sendable'
import type { KeyedPost, Network, NetworkAccount } from '#port/network/network'
import type { Query } from '#store/engine/db'
import { unnamedAnswers, unnamedAttempts } from '#store/growth/attempts'
import {
  lookUpKey,
  type Reading,
  type ReadResult,
  readPostState,
  readTimeline,
} from './timeline.ts'

export interface Evidence<R extends Sendable = Sendable> {
  /** Whether it is looked for on the account's timeline, or at the post that it was done to. */
  isOnTimeline(record: R): boolean
  /** Reads what may show that it was sent, without a key. */
  read(network: Network, record: R, reading: Reading, signal: AbortSignal): Promise<ReadResult>
  /** The action that a key stands for, and the post that it was done to. */
  keyed(record: R): Pick<KeyedPost, 'action' | 'postId'>
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
  keyed: () => ({ action: 'post', postId: null }),
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
  keyed: ({ action, post_id: postId }) => ({ action, postId }),
  hasForm: ({ action, post_id }, { inReplyTo, quoted }) =>
    (action === 'reply' ? inReplyTo : quoted) === post_id,
  unnamed: ({ network, action, post_id: postId }, connectionId) =>
    unnamedAnswers({ connectionId, network, postId, action }),
}

export const evidenceOf: Record<SendableKind, Evidence> = { post, engagement }

interface Sought {
  record: Sendable
  attempt: Attempt
  account: NetworkAccount
}

/** Reads what shows whether an attempt sent the record: its key, or else the network's timeline. */
export const readEvidence = (
  network: Network,
  { record, attempt, account }: Sought,
  signal: AbortSignal,
): Promise<ReadResult> => {
  const { keyed, read } = evidenceOf[attempt.sendable]
  const { network_key: key, sent_text: text } = attempt
  return network.keys && key !== null
    ? lookUpKey(network.keys, { account, key, text, ...keyed(record) }, signal)
    : read(network, record, { account, since: readSince(attempt) }, signal)
}
