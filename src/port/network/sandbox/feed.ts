/**
 * The sandbox as one workspace sees it: its own posts and the residents' posts with their numbers,
 * newest first.
 */
import type { Metrics } from '#domain/growth/metrics'
import type { FeedPlace, FeedQuery, FeedRow } from './feed-rows.ts'
import { sandboxMetrics } from './metrics.ts'
import { residents } from './residents.ts'
import { interestIn, postsOf, residentOf, type ScheduledPost, scheduledPost } from './schedule.ts'
import { postIdIn, type Society, spokenBy, textRefusal, withCounts } from './social.ts'

export interface FeedPost {
  id: string
  author: string
  /** Whether an account of the workspace posted it. */
  own: boolean
  text: string
  createdAt: Date
  inReplyTo: string | null
  quoted: string | null
  metrics: Metrics
  place: FeedPlace
}

/** What people can see and do in the sandbox beyond what networks offer. */
export interface Stage {
  /** The handles of the residents. */
  readonly residents: readonly string[]
  /** At most `limit` posts. Throws `NetworkError` if the sandbox cannot be reached. */
  feed(workspaceId: string, query: FeedQuery): Promise<FeedPost[]>
  /**
   * The id of the post in an id or URL. Null if the workspace cannot see the post. Throws like
   * `feed`.
   */
  seen(workspaceId: string, ref: string): Promise<string | null>
  /** Why a text is not possible in the sandbox, or null. */
  refusal(text: string): string | null
}

/**
 * Residents' posts are shown from this long before the workspace's first account, because that is
 * what a new target would find.
 */
const BEFORE_JOINING_MS = 48 * 3_600_000

const placeOf = ({ createdAt, id }: ScheduledPost): FeedPlace => ({
  at: createdAt.getTime() * 1_000,
  id,
})

const isBehind = (one: FeedPlace, before: FeedPlace | undefined): boolean =>
  before === undefined || one.at < before.at || (one.at === before.at && one.id < before.id)

const byPlace = (one: FeedPost, other: FeedPost): number =>
  other.place.at - one.place.at || (other.place.id < one.place.id ? -1 : 1)

const scheduledIn = (
  { author, before, inReplyTo, limit }: FeedQuery,
  since: Date,
  now: Date,
): ScheduledPost[] => {
  if (inReplyTo !== undefined) return []
  const latest = before ? new Date(Math.min(now.getTime(), Math.ceil(before.at / 1_000))) : now
  // Reads one more, because the newest may be at the cursor itself.
  return residents
    .filter(({ handle }) => author === undefined || handle === author.toLowerCase())
    .flatMap((resident) => postsOf(resident, { since, now: latest, limit: limit + 1 }))
    .filter((post) => isBehind(placeOf(post), before))
}

const ageMetrics = ({ accountId, handle, id, text, createdAt }: FeedRow, now: Date): Metrics => {
  if (accountId !== null)
    return sandboxMetrics({
      accountId,
      postId: id,
      text,
      ageMs: now.getTime() - createdAt.getTime(),
    })
  return interestIn(
    { id, resident: residentOf(handle) ?? residents[0]!, createdAt, text, addresses: false },
    now,
  )
}

const toFeedPost = (row: FeedRow, now: Date): FeedPost => ({
  id: row.id,
  author: row.handle,
  own: row.own,
  text: row.text,
  createdAt: row.createdAt,
  inReplyTo: row.inReplyTo ?? null,
  quoted: row.quoted ?? null,
  place: { at: row.at, id: row.id },
  metrics: ageMetrics(row, now),
})

const readFeed = async (
  society: Society,
  workspaceId: string,
  query: FeedQuery,
): Promise<FeedPost[]> => {
  const { store } = society
  const joined = await store.joined(workspaceId)
  if (joined === null) return []
  const now = await store.now()
  const rows = await store.feed(workspaceId, query)
  const scheduled = scheduledIn(query, new Date(joined.getTime() - BEFORE_JOINING_MS), now)
  const said = (await spokenBy(society, scheduled, now)).map(
    ({ externalId, author, text, createdAt, metrics }, index): FeedPost => ({
      id: externalId,
      author: author.handle,
      own: false,
      text,
      createdAt,
      metrics,
      inReplyTo: null,
      quoted: null,
      place: placeOf(scheduled[index]!),
    }),
  )
  const posts = [...rows.map((row) => toFeedPost(row, now)), ...said]
    .sort(byPlace)
    .slice(0, query.limit)
  const counts = await store.counts(
    posts.map(({ id }) => id),
    { workspaceId },
  )
  return posts.map((post) => ({
    ...post,
    metrics: withCounts(society, post.metrics, counts.get(post.id)),
  }))
}

/** `reaching` turns failures of the tables into failures of a network. */
export const stageOn = (
  society: Society & { maxLength: number },
  reaching: <T>(running: Promise<T>) => Promise<T>,
): Stage => ({
  residents: residents.map(({ handle }) => handle),
  feed: (workspaceId, query) => reaching(readFeed(society, workspaceId, query)),
  async seen(workspaceId, ref) {
    const id = postIdIn(ref)
    if (id === undefined) return null
    if (scheduledPost(id, await reaching(society.store.now()))) return id
    return (await reaching(society.store.isSeen(workspaceId, id))) ? id : null
  },
  refusal: (text) => textRefusal(text, society.maxLength),
})
