/** Reading other people's posts: from the AppView, or without one from their own servers. */
import { asObject, type JsonObject } from '#port/fields'
import { type HandleQuery, type NetworkAccount, NetworkError, type OthersPost } from '../network.ts'
import { type BlueskySettings, blueskyCredentialsOf } from './account.ts'
import { NoAppView, viewFeed, viewNotifications, viewPosts } from './app-view.ts'
import type { BlueskyCredentials } from './credentials.ts'
import { ownerOfHandle } from './identity.ts'
import {
  answersAccount,
  newestFirst,
  type PostReader,
  postFromRecord,
  timeIn,
  viewedPost,
} from './posts.ts'
import { atUri, handleIn, isDid, POST, postRefIn, type RecordRef, recordRefIn } from './refs.ts'
import { housed, listRecords, readRecord } from './repository.ts'

const requireGoingOn = (signal: AbortSignal): void => {
  if (signal.aborted) throw new NetworkError('unreachable', 'given up before anything was asked')
}

/** Without an AppView, something else; other failures are thrown. */
const orWithout = async <T>(viewing: Promise<T>, other: () => Promise<T>): Promise<T> => {
  try {
    return await viewing
  } catch (cause) {
    if (cause instanceof NoAppView) return other()
    throw cause
  }
}

/** As whom somebody else's posts are read. */
interface Reading {
  session: BlueskyCredentials
  reader: PostReader
}

const readingBy = (settings: BlueskySettings, account: NetworkAccount): Reading => {
  const session = blueskyCredentialsOf(settings, account)
  const { handle } = account
  return { session, reader: { did: session.did, handle, appUrl: settings.appUrl } }
}

const fromRepository = async (
  settings: BlueskySettings,
  { handle, session, reader }: { handle: string } & Reading,
  signal: AbortSignal,
): Promise<OthersPost[] | null> => {
  const owner = await ownerOfHandle(settings, { handle, at: session.pds }, signal)
  if (!owner || owner.pds === null) return null
  const listed = { at: owner.pds, repo: owner.did, collection: POST, mostPages: 1 }
  const { records } = await listRecords(settings.egress, listed, signal)
  return records.flatMap(
    ({ uri, value: record }) => postFromRecord({ uri, record, handle }, reader) ?? [],
  )
}

const fromFeed = async (
  { egress }: BlueskySettings,
  { handle, limit, session, reader }: { handle: string; limit: number } & Reading,
  signal: AbortSignal,
): Promise<OthersPost[] | null> => {
  // Reposts are left out afterwards, so more is asked for than is wanted.
  const feed = await viewFeed(egress, { session, handle, limit: 2 * limit }, signal)
  const own = feed?.filter(({ reason }) => reason === undefined)
  return own?.flatMap(({ post }) => viewedPost(asObject(post), reader) ?? []) ?? null
}

/** Null if nobody has the handle. */
export const readPostsOf = async (
  settings: BlueskySettings,
  { account, query }: { account: NetworkAccount; query: HandleQuery },
  signal: AbortSignal,
): Promise<OthersPost[] | null> => {
  requireGoingOn(signal)
  const handle = handleIn(query.handle)
  if (handle === undefined) return null
  const { since, limit } = query
  const reading = readingBy(settings, account)
  const found = await orWithout(fromFeed(settings, { handle, limit, ...reading }, signal), () =>
    fromRepository(settings, { handle, ...reading }, signal),
  )
  return (
    found &&
    newestFirst(found)
      .filter(({ createdAt }) => createdAt >= since)
      .slice(0, limit)
  )
}

/** The posts by others that notifications of `since` then are about, each once. */
const notifiedOf = (
  notifications: JsonObject[],
  { since, did, limit }: { since: Date; did: string; limit: number },
): string[] => {
  const fresh = notifications.filter(({ uri, indexedAt }) => {
    const ref = recordRefIn(uri)
    const cameAt = timeIn(indexedAt)
    return ref?.collection === POST && ref.repo !== did && (!cameAt || cameAt >= since)
  })
  return [...new Set(fresh.map(({ uri }) => String(uri)))].slice(0, limit)
}

/**
 * What the AppView notifies the account of. It also tells of answers further down a discussion,
 * which address somebody else.
 */
export const readMentions = async (
  settings: BlueskySettings,
  { account, query }: { account: NetworkAccount; query: Omit<HandleQuery, 'handle'> },
  signal: AbortSignal,
): Promise<OthersPost[]> => {
  requireGoingOn(signal)
  const { egress } = settings
  const { session, reader } = readingBy(settings, account)
  const { since, limit } = query
  const told = await viewNotifications(egress, { session, limit }, signal)
  const uris = notifiedOf(told, { since, did: session.did, limit })
  const views = await viewPosts(egress, { session, uris }, signal)
  const posts = views.flatMap((view) => {
    const post = uris.includes(String(view.uri)) ? viewedPost(view, reader) : undefined
    if (!post || !(post.addressesUs || answersAccount(view, reader))) return []
    return [{ ...post, addressesUs: true }]
  })
  return newestFirst(posts)
}

const byAuthor = async (
  settings: BlueskySettings,
  { ref, reader }: { ref: RecordRef } & Reading,
  signal: AbortSignal,
): Promise<OthersPost | null> => {
  const author = await housed(settings, ref.repo, signal)
  const found = author && (await readRecord(settings.egress, { at: author.pds, ref }, signal))
  if (!found) return null
  const stored = { uri: atUri(ref), record: found.value, handle: author.handle }
  return postFromRecord(stored, reader) ?? null
}

const byAppView = async (
  { egress }: BlueskySettings,
  { ref, session, reader }: { ref: RecordRef } & Reading,
  signal: AbortSignal,
): Promise<OthersPost | null> => {
  const uri = atUri(ref)
  const views = await viewPosts(egress, { session, uris: [uri] }, signal)
  const view = views.find((one) => one.uri === uri)
  return (view && viewedPost(view, reader)) ?? null
}

/** Null if the reference is no post's, or the account can see no such post. */
export const readPost = async (
  settings: BlueskySettings,
  { account, ref: text }: { account: NetworkAccount; ref: string },
  signal: AbortSignal,
): Promise<OthersPost | null> => {
  requireGoingOn(signal)
  const named = postRefIn(text, settings.appUrl)
  if (!named) return null
  const reading = readingBy(settings, account)
  const repo = isDid(named.repo)
    ? named.repo
    : (await ownerOfHandle(settings, { handle: named.repo, at: reading.session.pds }, signal))?.did
  if (repo === undefined) return null
  const wanted = { ref: { ...named, repo }, ...reading }
  return orWithout(byAppView(settings, wanted, signal), () => byAuthor(settings, wanted, signal))
}
