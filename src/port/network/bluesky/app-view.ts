/** Questions to the AppView, which knows everybody's posts, through the account's own server. */
import type { Egress } from '#port/egress/egress'
import { type JsonObject, objectsIn } from '#port/fields'
import { NetworkError } from '../network.ts'
import type { BlueskyCredentials } from './credentials.ts'
import { meaningOf, readError } from './errors.ts'
import { callXrpc, MOST_PAGE_BYTES, type XrpcAnswer, type XrpcFailure } from './xrpc.ts'

/** The server has no AppView behind it, or none that answers it. */
export class NoAppView extends NetworkError {
  constructor() {
    super(
      'not_served',
      'no AppView answers through the server of the account: posts are sent, but neither their numbers nor mentions and replies can be read',
    )
  }
}

const [BAD_REQUEST, UNAUTHORIZED, BAD_GATEWAY] = [400, 401, 502]
const NOT_SERVED = ['UpstreamFailure', 'XRPCNotSupported', 'MethodNotImplemented']

const isWithoutAppView = (answer: XrpcFailure): boolean => {
  if (answer.kind !== 'failed') return false
  const { status, error } = answer
  if (status === BAD_GATEWAY || (error && NOT_SERVED.includes(error.name))) return true
  return status === UNAUTHORIZED && meaningOf(answer) === 'no_access'
}

/** What a failed question is thrown as. */
const appViewError = (answer: XrpcFailure): NetworkError =>
  isWithoutAppView(answer) ? new NoAppView() : readError(answer)

const ask = (
  egress: Egress,
  session: BlueskyCredentials,
  asked: { method: string; query: Record<string, string | string[]> },
  signal: AbortSignal,
): Promise<XrpcAnswer> =>
  callXrpc(egress, { at: session.pds, session, maxBytes: MOST_PAGE_BYTES, ...asked }, signal)

/** The most that `getPosts` takes at once. */
const POSTS_EACH = 25
/** Leaves room for the rest of an address, of which the egress client allows 2,048 characters. */
const LONGEST_QUERY = 1_700

/** Ids that fit into one address, in turn. */
function* batches(uris: string[]): Generator<string[]> {
  let [batch, length]: [string[], number] = [[], 0]
  for (const uri of uris) {
    const more = `&uris=${encodeURIComponent(uri)}`.length
    if (batch.length > 0 && (batch.length === POSTS_EACH || length + more > LONGEST_QUERY)) {
      yield batch
      ;[batch, length] = [[], 0]
    }
    batch.push(uri)
    length += more
  }
  if (batch.length > 0) yield batch
}

/** In no certain order; those that are gone or hidden are left out. */
export const viewPosts = async (
  egress: Egress,
  { session, uris }: { session: BlueskyCredentials; uris: string[] },
  signal: AbortSignal,
): Promise<JsonObject[]> => {
  const views: JsonObject[] = []
  for (const batch of batches(uris)) {
    const query = { uris: batch }
    const answer = await ask(egress, session, { method: 'app.bsky.feed.getPosts', query }, signal)
    if (answer.kind !== 'ok') throw appViewError(answer)
    if (!Array.isArray(answer.value.posts))
      throw new NetworkError('bad_answer', 'the answer has no posts')
    views.push(...objectsIn(answer.value.posts, POSTS_EACH))
  }
  return views
}

const MOST_NOTIFIED = 100
const ADDRESSING = ['mention', 'reply', 'quote']

/**
 * The newest notifications of posts that address the account. They stay unseen for the person whose
 * account it is.
 */
export const viewNotifications = async (
  egress: Egress,
  { session, limit }: { session: BlueskyCredentials; limit: number },
  signal: AbortSignal,
): Promise<JsonObject[]> => {
  const query = { reasons: ADDRESSING, limit: String(Math.min(MOST_NOTIFIED, Math.max(1, limit))) }
  const method = 'app.bsky.notification.listNotifications'
  const answer = await ask(egress, session, { method, query }, signal)
  if (answer.kind !== 'ok') throw appViewError(answer)
  if (!Array.isArray(answer.value.notifications))
    throw new NetworkError('bad_answer', 'the answer has no notifications')
  // Older AppViews do not know the parameter, and list likes and follows too.
  return objectsIn(answer.value.notifications, MOST_NOTIFIED).filter(({ reason }) =>
    ADDRESSING.includes(String(reason)),
  )
}

const MOST_OF_FEED = 100
const NOBODY = /not found/i

/**
 * The newest entries of somebody's feed, reposts among them. Null if nobody has the handle, or the
 * person's account is closed; none if one of the two has blocked the other.
 */
export const viewFeed = async (
  egress: Egress,
  { session, handle, limit }: { session: BlueskyCredentials; handle: string; limit: number },
  signal: AbortSignal,
): Promise<JsonObject[] | null> => {
  const query = {
    actor: handle,
    filter: 'posts_with_replies',
    limit: String(Math.min(MOST_OF_FEED, Math.max(1, limit))),
  }
  const method = 'app.bsky.feed.getAuthorFeed'
  const answer = await ask(egress, session, { method, query }, signal)
  if (answer.kind === 'ok') {
    if (!Array.isArray(answer.value.feed))
      throw new NetworkError('bad_answer', 'the answer has no feed')
    return objectsIn(answer.value.feed, MOST_OF_FEED)
  }
  const error = answer.kind === 'failed' ? answer.error : null
  const isRefused = meaningOf(answer) === 'refused'
  if (isRefused && error?.name.startsWith('Blocked')) return []
  if (isRefused && NOBODY.test(error?.message ?? '')) return null
  // About the person: about our own account it would be a 401 of our own server.
  if (
    answer.kind === 'failed' &&
    answer.status === BAD_REQUEST &&
    error?.name.startsWith('Account')
  )
    return null
  throw appViewError(answer)
}
