/** How each kind of record goes out to its network, and how the network is asked what became of it. */
import { createHash } from 'node:crypto'
import { type Engagement, isWritten } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import type { SendOutcome } from '#domain/growth/sending/send'
import type { Sendable, SendableKind } from '#domain/growth/sending/sendable'
import type { Network, NetworkAccount } from '#port/network/network'
import { fingerprintText } from '#port/network/text'
import type { Query, Sql } from '#store/engine/db'
import { sameTextOpen, unnamedAnswers, unnamedAttempts } from '#store/growth/attempts'
import { type Looked, type Reading, readPostState, readTimeline } from './timeline.ts'

/** What an attempt sends. */
interface Request {
  account: NetworkAccount
  text: string | null
  attemptId: string
  deadlineMs: number
}

export interface Means<R extends Sendable = Sendable> {
  /** The words that go out, or null. */
  textOf(record: R): string | null
  /** SHA-256 of what goes out, as far as the network lets it be recognised. */
  hashOf(record: R): string
  /** An attempt of the account is in doubt that could not be told apart from one of this hash. */
  isInTheWay(sql: Sql, connectionId: string, hash: string): Promise<boolean>
  /** A doubt may end by what the network promises of requests that it answers with an error. */
  endsByItself: boolean
  /** One request; nothing is tried again. */
  send(network: Network, record: R, request: Request, signal: AbortSignal): Promise<SendOutcome>
  /** Reads what may show that it was sent. */
  look(network: Network, record: R, reading: Reading, signal: AbortSignal): Promise<Looked>
  /** Whether a post of the account's timeline is such as a send of this record makes, whatever its words. */
  isSuch(record: R, post: SeenPost): boolean
  /** Attempts of the account that may own such a post which nobody has named. */
  unnamed(record: R, connectionId: string): Query
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const post: Means<Item> = {
  textOf: ({ body }) => body,
  hashOf: ({ body }) => sha256(fingerprintText(body)),
  isInTheWay: sameTextOpen,
  endsByItself: true,
  send: (network, { kind }, { text, ...request }, signal) =>
    network.publish({ ...request, text: text!, isLong: kind === 'article' }, signal),
  look: (network, _, reading, signal) => readTimeline(network, reading, signal),
  // What answers somebody is no item's.
  isSuch: (_, { inReplyTo, quoted }) => inReplyTo === undefined && quoted === undefined,
  unnamed: (_, connectionId) => unnamedAttempts(connectionId),
}

/** A reply and a quote are looked for in the account's own timeline, among what answers the same post; a like and a repost on that post. */
const engagement: Means<Engagement> = {
  textOf: ({ body }) => body,
  hashOf: ({ body, action, post_id }) => sha256(JSON.stringify([action, post_id, fingerprintText(body ?? '')])),
  // Its post and its action tell it apart.
  isInTheWay: async () => false,
  endsByItself: false,
  send: (network, { action, post_id: postId }, { text, ...request }, signal) =>
    network.engage({ ...request, action, postId, ...(text === null ? {} : { text }) }, signal),
  look: (network, { action, post_id: postId }, reading, signal) =>
    isWritten(action) ? readTimeline(network, reading, signal) : readPostState(network, { ...reading, action, postId }, signal),
  isSuch: ({ action, post_id }, { inReplyTo, quoted }) => (action === 'reply' ? inReplyTo : quoted) === post_id,
  unnamed: ({ network, action, post_id: postId }, connectionId) => unnamedAnswers({ connectionId, network, postId, action }),
}

export const meansOf: Record<SendableKind, Means> = { post, engagement }
