/** Posts as servers show them, read into those of the port. */
import { beginning, storable } from '#kernel/storable'
import { asObject, type JsonObject, objectsIn } from '#port/fields'
import { namesHandle } from '../mention.ts'
import type { OthersPost, PostMetrics } from '../network.ts'
import { parentIn, quotedIn } from './record.ts'
import { handleIn, isDid, POST, postUrl, recordRefIn } from './refs.ts'

const LONGEST_TEXT = 10_000
const MOST_FACETS = 200
/** Bluesky counts neither. */
const NOT_COUNTED = { impressions: null, clicks: null }
const unread = { ...NOT_COUNTED, likes: 0, reposts: 0, replies: 0, quotes: 0 }

export const textIn = ({ text }: JsonObject): string =>
  typeof text === 'string' ? beginning(storable(text), LONGEST_TEXT) : ''

/** Undefined if it is no time. */
export const timeIn = (value: unknown): Date | undefined => {
  const time = typeof value === 'string' ? new Date(value) : undefined
  return time && !Number.isNaN(time.getTime()) ? time : undefined
}

const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0

const mentions = (record: JsonObject, did: string): boolean =>
  objectsIn(record.facets, MOST_FACETS).some(({ features }) =>
    objectsIn(features, MOST_FACETS).some(
      (feature) => feature.$type === 'app.bsky.richtext.facet#mention' && feature.did === did,
    ),
  )

/** Whether it mentions the account, or quotes a post of it. */
const addresses = (record: JsonObject, { did, handle }: PostReader): boolean =>
  mentions(record, did) ||
  namesHandle(textIn(record), handle) ||
  recordRefIn(quotedIn(record))?.repo === did

interface Stored {
  uri: string
  record: JsonObject
  /** Null: the account has none that leads back to it. */
  handle: string | null
  /** When a server first saw it. */
  seenAt?: unknown
}

/** The account that reads. */
export interface PostReader {
  did: string
  handle: string
  appUrl: string
}

const earlier = (one: Date | undefined, other: Date | undefined): Date | undefined =>
  one && other && other < one ? other : (one ?? other)

/**
 * Undefined if the record is no post, or has no time. A post that claims to be newer than when a
 * server first saw it is from then.
 */
export const postFromRecord = (
  { uri, record, handle, seenAt }: Stored,
  reader: PostReader,
): OthersPost | undefined => {
  const ref = recordRefIn(uri)
  const createdAt = earlier(timeIn(record.createdAt), timeIn(seenAt))
  if (!ref || !isDid(ref.repo) || ref.collection !== POST || !createdAt) return undefined
  const name = handle ?? ref.repo
  return {
    externalId: uri,
    author: { externalId: ref.repo, handle: name },
    text: textIn(record),
    createdAt,
    url: postUrl(reader.appUrl, name, ref.key),
    metrics: unread,
    addressesUs: addresses(record, reader),
  }
}

export const metricsIn = (view: JsonObject): Omit<PostMetrics, 'externalId'> => ({
  ...NOT_COUNTED,
  likes: countIn(view.likeCount),
  reposts: countIn(view.repostCount),
  replies: countIn(view.replyCount),
  quotes: countIn(view.quoteCount),
})

const doneIn = (viewer: unknown): Pick<OthersPost, 'done'> => {
  if (viewer === undefined) return {}
  const { like, repost } = asObject(viewer)
  return { done: [...(like ? (['like'] as const) : []), ...(repost ? (['repost'] as const) : [])] }
}

/** Whether a post, as an AppView shows it, answers a post of the account. */
export const answersAccount = ({ record }: JsonObject, { did }: PostReader): boolean =>
  recordRefIn(parentIn(asObject(record)))?.repo === did

/** A post as an AppView shows it. */
export const viewedPost = (view: JsonObject, reader: PostReader): OthersPost | undefined => {
  const { uri, author, record, indexedAt: seenAt, viewer } = view
  const { handle } = asObject(author)
  const stored = {
    uri: typeof uri === 'string' ? uri : '',
    record: asObject(record),
    handle: typeof handle === 'string' ? (handleIn(handle) ?? null) : null,
    seenAt,
  }
  const post = postFromRecord(stored, reader)
  return post && { ...post, metrics: metricsIn(view), ...doneIn(viewer) }
}

export const newestFirst = <T extends { createdAt: Date }>(posts: T[]): T[] =>
  posts.toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime())
