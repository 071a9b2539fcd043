/**
 * The sandbox as a place with others: residents who post by a schedule, and the accounts of every
 * workspace.
 */
import type { EngageAction, Preflight } from '#domain/growth/drafting/engagement'
import { weightedLength } from '#domain/growth/length/weighted-length'
import type { Metrics } from '#domain/growth/metrics'
import { namesHandle } from '../mention.ts'
import type { EngageRequest, HandleQuery, NetworkAccount, OthersPost } from '../network.ts'
import { xSelfServe } from '../x-rules.ts'
import type { Act } from './call.ts'
import type { SaidPost } from './feed-rows.ts'
import { sandboxMetrics } from './metrics.ts'
import { residents } from './residents.ts'
import type { SandboxStore } from './rows.ts'
import { interestIn, postsOf, residentOf, type ScheduledPost, scheduledPost } from './schedule.ts'
import type { AuthoredPost } from './social-rows.ts'

/**
 * The rules that apply in the sandbox. `x_selfserve`: X's rules for self-serve programs in 2026.
 */
const sandboxRules = ['open', 'x_selfserve'] as const
export type SandboxRules = (typeof sandboxRules)[number]

/** What the sandbox counts: everything, or only what others did with a post. */
export type SandboxCounts = 'all' | 'reactions'

export interface Society {
  store: SandboxStore
  /** Reads miss posts younger than this. */
  lagMs: number
  counts?: SandboxCounts
}

type UnreadPost = Omit<OthersPost, 'addressesUs'> & { quoted?: string }

/** A post's id, alone or at the end of a URL. */
const REF = /^(?:https?:\/\/\S+\/)?(\d{1,20})\/?(?:[?#]\S*)?$/

export const postIdIn = (ref: string): string | undefined => REF.exec(ref.trim())?.[1]

const untouched = { likes: 0, reposts: 0, replies: 0, quotes: 0 }

const latestVisible = (at: Date, lagMs: number): Date => new Date(at.getTime() - lagMs)

const fromAccount = (
  { id, author, text, createdAt, quoted }: AuthoredPost,
  now: Date,
): UnreadPost => ({
  externalId: id,
  author: { externalId: author.id, handle: author.handle },
  text,
  createdAt,
  url: null,
  metrics: sandboxMetrics({
    accountId: author.id,
    postId: id,
    text,
    ageMs: now.getTime() - createdAt.getTime(),
  }),
  ...(quoted === undefined ? {} : { quoted }),
})

/** A post that a workspace had a resident write. */
const fromSaid = ({ id, resident: handle, text, createdAt }: SaidPost, now: Date): UnreadPost => ({
  externalId: id,
  author: { externalId: handle, handle },
  text,
  createdAt,
  url: null,
  metrics: interestIn(
    { id, resident: residentOf(handle) ?? residents[0]!, createdAt, text, addresses: false },
    now,
  ),
})

/** Addresses an account that existed when the post was made, or else a friend of the resident's. */
const fromResident = (
  { id, resident, createdAt, text }: ScheduledPost,
  now: Date,
  addressed: Map<string, string>,
): UnreadPost => ({
  externalId: id,
  author: { externalId: resident.handle, handle: resident.handle },
  createdAt,
  url: null,
  text: text.replace('@', `@${addressed.get(id) ?? 'a_friend'}`),
  metrics: interestIn({ id, resident, createdAt, text, addresses: false }, now),
})

/** Posts of the schedule, with the words that readers see. */
export const spokenBy = async (
  { store }: Society,
  posts: ScheduledPost[],
  now: Date,
): Promise<UnreadPost[]> => {
  const addressing = posts.filter(({ addresses }) => addresses)
  const addressed = await store.someAccounts(
    addressing.map(({ id, createdAt }) => ({ mark: id, at: createdAt })),
  )
  return posts.map((post) => fromResident(post, now, addressed))
}

/** The model's metrics, plus what accounts of the sandbox added, without what it does not count. */
export const withCounts = (
  { counts = 'all' }: Pick<Society, 'counts'>,
  metrics: Metrics,
  counted = untouched,
): Metrics => ({
  ...metrics,
  ...(counts === 'all' ? {} : { impressions: null, clicks: null }),
  likes: metrics.likes + counted.likes,
  reposts: metrics.reposts + counted.reposts,
  replies: metrics.replies + counted.replies,
  quotes: metrics.quotes + counted.quotes,
})

/** Adds what accounts of the sandbox did, as far as the reader sees it. */
const asSeenBy = async (
  society: Society,
  account: NetworkAccount,
  posts: UnreadPost[],
): Promise<OthersPost[]> => {
  const { store } = society
  const counts = await store.counts(
    posts.map(({ externalId }) => externalId),
    { accountId: account.externalId },
  )
  const own = await store.ownAmong(
    account.externalId,
    posts.flatMap(({ quoted }) => (quoted === undefined ? [] : [quoted])),
  )
  return posts.map(({ quoted, ...post }) => ({
    ...post,
    metrics: withCounts(society, post.metrics, counts.get(post.externalId)),
    addressesUs:
      namesHandle(post.text, account.handle) || (quoted !== undefined && own.has(quoted)),
  }))
}

/** Null if nobody has this handle. */
export const readHandle = async (
  society: Society,
  account: NetworkAccount,
  { handle, since, limit }: HandleQuery,
): Promise<OthersPost[] | null> => {
  const name = handle.replace(/^@/, '')
  const resident = residentOf(name)
  const now = await society.store.now()
  if (resident) {
    const posts = postsOf(resident, { since, now: latestVisible(now, society.lagMs), limit })
    const told = {
      readerId: account.externalId,
      resident: resident.handle,
      since,
      limit,
      lagMs: society.lagMs,
    }
    const said = (await society.store.saidBy(told)).map((post) => fromSaid(post, now))
    const all = [...(await spokenBy(society, posts, now)), ...said].sort(
      (one, other) => +other.createdAt - +one.createdAt,
    )
    return asSeenBy(society, account, all.slice(0, limit))
  }
  const posts = await society.store.postsBy({
    handle: name,
    readerId: account.externalId,
    since,
    limit,
    lagMs: society.lagMs,
  })
  return (
    posts &&
    asSeenBy(
      society,
      account,
      posts.map((post) => fromAccount(post, now)),
    )
  )
}

const unreadPost = async (
  society: Society,
  id: string,
  readerId: string,
): Promise<UnreadPost | undefined> => {
  const row = await society.store.post(id, society.lagMs)
  const now = await society.store.now()
  if (row) return fromAccount(row, now)
  const scheduled = scheduledPost(id, latestVisible(now, society.lagMs))
  if (scheduled) return (await spokenBy(society, [scheduled], now))[0]
  const said = await society.store.said(id, readerId, society.lagMs)
  return said ? fromSaid(said, now) : undefined
}

/** Null if there is no such post, or `ref` is neither an id nor a URL of one. */
export const lookUpPost = async (
  society: Society,
  account: NetworkAccount,
  ref: string,
): Promise<OthersPost | null> => {
  const id = postIdIn(ref)
  const found = id && (await unreadPost(society, id, account.externalId))
  if (!found) return null
  const [post] = await asSeenBy(society, account, [found])
  return {
    ...post!,
    done: await society.store.reactions(account.externalId, found.externalId, society.lagMs),
  }
}

/** Why the network refuses this text, or null. `limit` is by its own count. */
export const textRefusal = (text: string, limit: number): string | null => {
  if (text.trim() === '') return 'the text is empty'
  if (text.includes('\0')) return 'the text contains a NUL character'
  const length = weightedLength(text)
  return length > limit
    ? `the text is ${length} weighted characters long, more than ${limit}`
    : null
}

interface RuledSociety extends Society {
  rules: SandboxRules
  maxLength: number
}

export const preflight = (
  rules: SandboxRules,
  action: EngageAction,
  post: OthersPost,
): Preflight => (rules === 'x_selfserve' ? xSelfServe(action, post) : { allowed: true })

/** Every reply or quote is a new post. An account likes or reposts a post once. */
export const engagingAct = (
  society: RuledSociety,
  { account, action, postId, text = '' }: EngageRequest,
): Act => {
  const engaging = { accountId: account.externalId, action, postId, text }
  return {
    async refusal() {
      const refused =
        action === 'reply' || action === 'quote' ? textRefusal(text, society.maxLength) : null
      if (refused !== null) return refused
      // Posts too young for reads still exist.
      const post = /^\d{1,20}$/.test(postId)
        ? await lookUpPost({ ...society, lagMs: 0 }, account, postId)
        : null
      if (!post) return 'the post no longer exists'
      const verdict = preflight(society.rules, action, post)
      return verdict.allowed ? null : verdict.message
    },
    apply: () => society.store.engage(engaging),
    applyLater: (afterMs) => society.store.engageLater(engaging, afterMs),
  }
}
