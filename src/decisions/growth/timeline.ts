/** What an account's network shows about its sends. It only reads: nothing here can send. */
import type { EngageAction } from '#domain/growth/drafting/engagement'
import type { Connection } from '#domain/growth/sending/connection'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import type { Made } from '#domain/growth/sending/sendable'
import {
  type KeyedPost,
  type Network,
  type NetworkAccount,
  NetworkError,
  type PostKeys,
} from '#port/network/network'
import { fingerprintText } from '#port/network/text'

export interface Unread {
  kind: 'unread'
  retryAfterMs?: number | undefined
  why?: NetworkError['reason']
  /** How many resources the network returned nevertheless. */
  resources?: number
  /** Of a timeline that was not read to its end: what it showed. */
  posts?: SeenPost[]
}

/** The timeline, or the state of the post itself. `made`: the action was taken. */
export type Seen =
  | { kind: 'read'; posts: SeenPost[] }
  | { kind: 'state'; made: Made | undefined; resources: number }
export type ReadResult = Seen | Unread

/** How many resources the network returned, and bills. */
export const resourcesOf = (result: ReadResult): number =>
  result.kind === 'read' ? result.posts.length : (result.resources ?? 0)

export const accountOf = ({
  id,
  external_id: externalId,
  handle,
  credentials,
}: Connection): NetworkAccount => ({ id, externalId, handle, credentials })

export interface Reading {
  account: NetworkAccount
  /** How far back to read the timeline. */
  since: Date
}

/** Turns a failed read into a result: it proves nothing. */
const reading = async (read: () => Promise<ReadResult>): Promise<ReadResult> => {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof NetworkError)) return { kind: 'unread' }
    return { kind: 'unread', retryAfterMs: cause.retryAfterMs, why: cause.reason }
  }
}

/** Reads from before the attempt until now. An incomplete read proves nothing either. */
export const readTimeline = (
  network: Network,
  { account, since }: Reading,
  signal: AbortSignal,
): Promise<ReadResult> =>
  reading(async () => {
    const { posts: shown, complete } = await network.readTimeline(account, since, signal)
    const posts = shown.map((post) => ({
      ...post,
      text: fingerprintText(post.text),
      original: post.text,
    }))
    if (!complete) return { kind: 'unread', resources: posts.length, posts }
    return { kind: 'read', posts }
  })

interface OfPost extends Reading {
  postId: string
  action: EngageAction
}

/**
 * A post that is gone shows nothing. If the network does not say what was done to a post, that
 * proves nothing.
 */
export const readPostState = (
  network: Network,
  { account, postId, action }: OfPost,
  signal: AbortSignal,
): Promise<ReadResult> =>
  reading(async () => {
    const post = await network.readPost(account, postId, signal)
    if (!post) return { kind: 'state', made: undefined, resources: 0 }
    if (!post.done) return { kind: 'unread', resources: 1 }
    return {
      kind: 'state',
      made: post.done.includes(action) ? { externalId: postId, url: null } : undefined,
      resources: 1,
    }
  })

/** Looks for what was sent under a key of ours. */
export const lookUpKey = (
  keys: PostKeys,
  wanted: KeyedPost,
  signal: AbortSignal,
): Promise<ReadResult> =>
  reading(async () => ({ kind: 'state', made: await keys.find(wanted, signal), resources: 1 }))
