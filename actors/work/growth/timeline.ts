/** The account's own timeline, as far as it tells what became of sends. Reads only: nothing here can send. */
import type { Connection } from '#domain/growth/sending/connection'
import type { Attempt } from '#domain/growth/sending/publish'
import { findPost, mayShow, type OpenAttempt, readSince, type SeenPost } from '#domain/growth/sending/reconcile'
import { type Network, NetworkError } from '#port/network/network'
import { fingerprintText } from '#port/network/text'
import type { Sql } from '#store/engine/db'
import { doubtfulSince, takenPosts, unnamedAttempts } from '#store/growth/attempts'

/** `resources`: how many the network answered with all the same. */
export interface Unread {
  kind: 'unread'
  retryAfterMs?: number | undefined
  why?: NetworkError['reason']
  resources?: number
}
export type Looked = { kind: 'read'; posts: SeenPost[] } | Unread

const seen = (text: string): string => fingerprintText(text)

/** From before the attempt until now. An incomplete or failed read proves nothing, and says so. */
export const readTimeline = async (network: Network, { connection, attempt }: Sender, signal: AbortSignal): Promise<Looked> => {
  const account = { id: connection.id, externalId: connection.external_id, handle: connection.handle }
  try {
    const { posts, complete } = await network.readTimeline(account, readSince(attempt), signal)
    if (!complete) return { kind: 'unread', resources: posts.length }
    return { kind: 'read', posts: posts.map((post) => ({ ...post, text: seen(post.text) })) }
  } catch (cause) {
    if (!(cause instanceof NetworkError)) return { kind: 'unread' }
    return { kind: 'unread', retryAfterMs: cause.retryAfterMs, why: cause.reason }
  }
}

/** An attempt and the account it sends from. */
interface Sender {
  connection: Connection
  attempt: Attempt
}

/** What answers somebody is no item's. */
const isOfItem = ({ inReplyTo, quoted }: SeenPost): boolean => inReplyTo === undefined && quoted === undefined

/** The words as they went out: what is done to the record afterwards changes nothing of them. */
export const sentBy = (attempt: Attempt): OpenAttempt => ({ attempt, text: seen(attempt.sent_text ?? '') })

interface Identified {
  /** The post that a send of the item has made. */
  post?: SeenPost | undefined
  /** Some post may be it, even where it could as well be another's. */
  mayBeThere: boolean
}

/** Decided under the lock, against what other items own or may own by now. */
export const identify = async (sql: Sql, { attempt, connection }: Sender, shown: SeenPost[]): Promise<Identified> => {
  // Nobody knows what it has sent.
  if (attempt.sent_text === null) return { mayBeThere: true }
  const posts = shown.filter(isOfItem)
  // A post of any attempt of the item settles it: all of them sent what was approved once.
  const own = { ...sentBy(attempt), attempt: { ...attempt, intent_at: await doubtfulSince(sql, attempt) } }
  const unnamed = (await unnamedAttempts(connection.id)(sql)) as unknown as Attempt[]
  const owned = (await takenPosts({
    ...{ sendable: 'post', connectionId: connection.id },
    externalIds: posts.map((post) => post.externalId),
  })(sql)) as unknown as { external_id: string }[]
  const taken = new Set(owned.map((row) => row.external_id))
  const others = unnamed.filter((other) => other.record_id !== attempt.record_id).map(sentBy)
  return { post: findPost(own, posts, { others, taken }), mayBeThere: mayShow(own, posts, taken) }
}

/** Whether any of the posts may be the attempt's, of those that nobody owned when that was asked last. */
export const mayBeAmong = (attempt: Attempt, posts: SeenPost[], owned: Set<string>): boolean =>
  attempt.sent_text === null || mayShow(sentBy(attempt), posts.filter(isOfItem), owned)
