/** Which of the posts that the network shows a send has made, decided under the lock. */
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { findPost, mayShow, type OpenAttempt, type SeenPost } from '#domain/growth/sending/reconcile'
import type { Made, Sendable } from '#domain/growth/sending/sendable'
import { fingerprintText } from '#port/network/text'
import type { Sql } from '#store/engine/db'
import { doubtfulSince, takenPosts } from '#store/growth/attempts'
import { type Means, meansOf } from './means.ts'
import type { Seen } from './timeline.ts'

/** A record, an attempt of it, and the account by which that went out. */
interface Sender {
  record: Sendable
  connection: Connection
  attempt: Attempt
}

/** The words as they went out: what is done to the record afterwards changes nothing of them. */
const sentBy = (attempt: Attempt): OpenAttempt => ({ attempt, text: fingerprintText(attempt.sent_text ?? '') })

interface Identified {
  /** The post that a send of the record has made. */
  post?: Made | undefined
  /** Some post may be it, even where it could as well be another's. */
  mayBeThere: boolean
}

/** Against what other records own or may own by now. */
export const identify = async (sql: Sql, sender: Sender, seen: Seen): Promise<Identified> =>
  seen.kind === 'state' ? { post: seen.made, mayBeThere: seen.made !== undefined } : identifyAmong(sql, sender, seen.posts)

const identifyAmong = async (sql: Sql, { record, attempt, connection }: Sender, shown: SeenPost[]): Promise<Identified> => {
  // Nobody knows what it has sent.
  if (attempt.sent_text === null) return { mayBeThere: true }
  const { sendable, record_id } = attempt
  const means = meansOf[sendable]
  const posts = such(means, record, shown)
  // A post of any attempt of the record settles it: all of them sent what was approved once.
  const own = { ...sentBy(attempt), attempt: { ...attempt, intent_at: await doubtfulSince(sql, attempt) } }
  const unnamed = (await means.unnamed(record, connection.id)(sql)) as unknown as Attempt[]
  const externalIds = posts.map(({ externalId }) => externalId)
  const owned = (await takenPosts({ sendable, connectionId: connection.id, externalIds })(sql)) as unknown as { external_id: string }[]
  const taken = new Set(owned.map((row) => row.external_id))
  const others = unnamed.filter((other) => other.record_id !== record_id).map(sentBy)
  return { post: findPost(own, posts, { others, taken }), mayBeThere: mayShow(own, posts, taken) }
}

const such = (means: Means, record: Sendable, posts: SeenPost[]): SeenPost[] => posts.filter((post) => means.isSuch(record, post))

/** Whether what is seen may be the attempt's, but for posts that somebody owned when that was asked last. */
export const mayBeAmong = ({ record, attempt }: Omit<Sender, 'connection'>, seen: Seen, owned: Set<string>): boolean => {
  if (seen.kind === 'state') return seen.made !== undefined
  return attempt.sent_text === null || mayShow(sentBy(attempt), such(meansOf[attempt.sendable], record, seen.posts), owned)
}
