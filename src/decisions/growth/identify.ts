/** Decides, under the lock, which post on the network a send made. */
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import {
  findPost,
  mayShow,
  type OpenAttempt,
  type SeenPost,
} from '#domain/growth/sending/reconcile'
import type { Made, Sendable } from '#domain/growth/sending/sendable'
import { fingerprintText } from '#port/network/text'
import type { Sql } from '#store/engine/db'
import { doubtfulSince, takenPosts } from '#store/growth/attempts'
import { type Evidence, evidenceOf } from './evidence.ts'
import type { Seen } from './timeline.ts'

/** What of an attempt identifies its post. */
export type Try = Pick<Attempt, 'sendable' | 'record_id' | 'sent_text' | 'intent_at' | 'doubt_at'>

/** A record, one of its attempts, and the account that sent it. */
interface Sender {
  record: Sendable
  connection: Connection
  attempt: Try
}

/** The text as sent; later changes of the record do not matter. */
const sentBy = (attempt: Try): OpenAttempt => ({
  attempt,
  text: fingerprintText(attempt.sent_text ?? ''),
})

export interface Identified {
  /** The post that a send of the record made. */
  post?: Made | undefined
  /** Whether any post may be it, even if that post could also be another record's. */
  mayBeThere: boolean
  /** The posts that may be it. */
  candidates: SeenPost[]
}

/** Compares posts with those that other records own, or may own by now. */
export const identify = async (sql: Sql, sender: Sender, seen: Seen): Promise<Identified> =>
  seen.kind === 'state'
    ? { post: seen.made, mayBeThere: seen.made !== undefined, candidates: [] }
    : identifyAmong(sql, sender, seen.posts)

const identifyAmong = async (
  sql: Sql,
  { record, attempt, connection }: Sender,
  shown: SeenPost[],
): Promise<Identified> => {
  // The sent text is unknown.
  if (attempt.sent_text === null) return { mayBeThere: true, candidates: [] }
  const { sendable, record_id } = attempt
  const evidence = evidenceOf[sendable]
  const posts = ofForm(evidence, record, shown)
  // A post by any attempt settles the record. Each content that was sent had been approved then,
  // and may have changed since.
  const own = {
    ...sentBy(attempt),
    attempt: { ...attempt, intent_at: await doubtfulSince(sql, attempt) },
  }
  const unnamed = await evidence.unnamed(record, connection.id)(sql)
  const externalIds = posts.map(({ externalId }) => externalId)
  const owned = await takenPosts({ sendable, connectionId: connection.id, externalIds })(sql)
  const taken = new Set(owned.map((row) => row.external_id))
  const others = unnamed.filter((other) => other.record_id !== record_id).map(sentBy)
  const candidates = posts.filter((post) => mayShow(own, [post], taken))
  return {
    post: findPost(own, posts, { others, taken }),
    mayBeThere: mayShow(own, posts, taken),
    candidates,
  }
}

const ofForm = (evidence: Evidence, record: Sendable, posts: SeenPost[]): SeenPost[] =>
  posts.filter((post) => evidence.hasForm(record, post))

/**
 * Whether the posts seen may include the attempt's, apart from posts that had owners when that was
 * last checked.
 */
export const mayBeAmong = (
  { record, attempt }: Omit<Sender, 'connection'>,
  seen: Seen,
  owned: Set<string>,
): boolean => {
  if (seen.kind === 'state') return seen.made !== undefined
  return (
    attempt.sent_text === null ||
    mayShow(sentBy(attempt), ofForm(evidenceOf[attempt.sendable], record, seen.posts), owned)
  )
}
