/** Reading an account's own posts, and how they do. */
import {
  MOST_MEASURED,
  type NetworkAccount,
  NetworkError,
  type PostMetrics,
  type Timeline,
} from '../network.ts'
import { type BlueskySettings, blueskyCredentialsOf } from './account.ts'
import { viewPosts } from './app-view.ts'
import { metricsIn, newestFirst, textIn, timeIn } from './posts.ts'
import { parentIn, quotedIn } from './record.ts'
import { POST, postUrl, recordRefIn } from './refs.ts'
import { listRecords, type StoredRecord } from './repository.ts'

const MOST_PAGES = 20

type TimelinePost = Timeline['posts'][number]

const textOr = <K extends string>(name: K, value: unknown): { [P in K]?: string } =>
  (typeof value === 'string' ? { [name]: value } : {}) as { [P in K]?: string }

const timelinePost = (
  { uri, value }: StoredRecord,
  { handle }: NetworkAccount,
  appUrl: string,
): TimelinePost | undefined => {
  const [ref, createdAt] = [recordRefIn(uri), timeIn(value.createdAt)]
  return ref && createdAt
    ? {
        externalId: uri,
        text: textIn(value),
        truncated: false,
        createdAt,
        url: postUrl(appUrl, handle, ref.key),
        ...textOr('inReplyTo', parentIn(value)),
        ...textOr('quoted', quotedIn(value)),
      }
    : undefined
}

/**
 * Keys sort by when a post was approved, and posts by when they were made, so every page is read.
 */
export const readOwnPosts = async (
  settings: BlueskySettings,
  { account, since }: { account: NetworkAccount; since: Date },
  signal: AbortSignal,
): Promise<Timeline> => {
  const { pds: at, did: repo } = blueskyCredentialsOf(settings, account)
  const listed = { at, repo, collection: POST, mostPages: MOST_PAGES }
  const { records, isWhole } = await listRecords(settings.egress, listed, signal)
  const posts = records.flatMap((record) => timelinePost(record, account, settings.appUrl) ?? [])
  return {
    posts: newestFirst(posts).filter(({ createdAt }) => createdAt >= since),
    complete: isWhole && posts.length === records.length,
  }
}

export const readMetrics = async (
  settings: BlueskySettings,
  { account, ids }: { account: NetworkAccount; ids: string[] },
  signal: AbortSignal,
): Promise<PostMetrics[]> => {
  if (ids.length > MOST_MEASURED)
    throw new NetworkError(
      'bad_answer',
      `asked for ${ids.length} posts, more than ${MOST_MEASURED}`,
    )
  if (signal.aborted) throw new NetworkError('unreachable', 'given up before anything was asked')
  const session = blueskyCredentialsOf(settings, account)
  const own = ids.filter((id) => {
    const ref = recordRefIn(id)
    return ref?.repo === session.did && ref.collection === POST
  })
  const views = await viewPosts(settings.egress, { session, uris: own }, signal)
  return views.flatMap((view) =>
    own.includes(String(view.uri)) ? [{ externalId: String(view.uri), ...metricsIn(view) }] : [],
  )
}
