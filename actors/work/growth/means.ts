/** How each kind of record is sent to its network. */
import { hashOfEngagement, hashOfPost } from '#decisions/growth/sent-hash'
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import { marksIn } from '#domain/growth/drafting/marks'
import type { SendOutcome } from '#domain/growth/sending/send'
import type { Sendable, SendableKind } from '#domain/growth/sending/sendable'
import type { Network, NetworkAccount } from '#port/network/network'
import type { Sql } from '#store/engine/db'
import { sameTextOpen } from '#store/growth/attempts'

interface Request {
  account: NetworkAccount
  text: string | null
  attemptId: string
  key: string | null
  madeAt: Date
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
}

const post: Means<Item> = {
  hashOf: hashOfPost,
  isInTheWay: sameTextOpen,
  endsByItself: true,
  send: (network, { kind, marks }, { text, ...request }, signal) =>
    network.publish(
      { ...request, text: text!, marks: marksIn(marks), isLong: kind === 'article' },
      signal,
    ),
}

const engagement: Means<Engagement> = {
  hashOf: hashOfEngagement,
  // Its post and its action identify it.
  isInTheWay: async () => false,
  endsByItself: false,
  send: (network, { action, post_id: postId }, { text, ...request }, signal) =>
    network.engage({ ...request, action, postId, ...(text === null ? {} : { text }) }, signal),
}

export const meansOf: Record<SendableKind, Means> = { post, engagement }
