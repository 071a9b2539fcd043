/**
 * The methods of an AppView that the fake PDS answers itself, from the records of all its accounts;
 * as `app.bsky` describes them.
 */
import { lex, type PdsCheck } from './pds-check.ts'
import {
  activeAccount,
  invalidRequest,
  noAppView,
  type XrpcCall,
  type XrpcMethod,
} from './pds-methods.ts'
import type { PdsHeldAccount, PdsHeldRecord, PdsWorld } from './pds-world.ts'

const { atIdentifier, atUri, integer, isObject, object, text } = lex

interface Seen extends PdsHeldRecord {
  account: PdsHeldAccount
  collection: string
}

const allRecords = (world: PdsWorld): Seen[] =>
  [...world.accounts.values()]
    .filter(({ status }) => status === 'active')
    .flatMap((account) =>
      [...account.records].map(([key, record]) => ({
        ...record,
        account,
        collection: key.split('/')[0]!,
      })),
    )

/** The value at a path of names, if all that leads there are objects. */
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((of, name) => (isObject(of) ? of[name] : undefined), value)

const profileOf = ({ did, handle, createdAt, records }: PdsHeldAccount) => {
  const profile = records.get('app.bsky.actor.profile/self')?.value
  const [displayName, avatar] = [at(profile, 'displayName'), at(profile, 'avatar')]
  return {
    did,
    handle,
    ...(displayName === undefined ? {} : { displayName }),
    ...(avatar === undefined ? {} : { avatar: `https://cdn.test/${did}` }),
    viewer: { muted: false, blockedBy: false },
    labels: [],
    createdAt,
  }
}

const quotedBy = (value: unknown): unknown =>
  at(value, 'embed', 'record', 'uri') ?? at(value, 'embed', 'record', 'record', 'uri')

/** What a record is to another one that it names; undefined if it names none. */
const reasons = ({ collection, value }: Seen): { reason: string; subject: unknown }[] => {
  if (collection === 'app.bsky.feed.like')
    return [{ reason: 'like', subject: at(value, 'subject', 'uri') }]
  if (collection === 'app.bsky.feed.repost')
    return [{ reason: 'repost', subject: at(value, 'subject', 'uri') }]
  if (collection === 'app.bsky.graph.follow') return [{ reason: 'follow', subject: value.subject }]
  if (collection !== 'app.bsky.feed.post') return []
  const mentioned = (Array.isArray(value.facets) ? value.facets : [])
    .flatMap((facet) => (at(facet, 'features') as unknown[] | undefined) ?? [])
    .flatMap((feature) => at(feature, 'did') ?? [])
  return [
    { reason: 'reply', subject: at(value, 'reply', 'parent', 'uri') },
    { reason: 'quote', subject: quotedBy(value) },
    ...mentioned.map((did) => ({ reason: 'mention', subject: did })),
  ].filter(({ subject }) => subject !== undefined)
}

const countOf = (all: Seen[], uri: string, wanted: string): number =>
  all.filter((seen) =>
    reasons(seen).some(({ reason, subject }) => reason === wanted && subject === uri),
  ).length

const viewOf = (all: Seen[], { uri, cid, value, indexedAt, account }: Seen, viewer: string) => {
  const own = (wanted: string) =>
    all.find(
      (seen) =>
        seen.account.did === viewer &&
        reasons(seen).some(({ reason, subject }) => reason === wanted && subject === uri),
    )?.uri
  const [like, repost] = [own('like'), own('repost')]
  return {
    uri,
    cid,
    author: profileOf(account),
    record: value,
    bookmarkCount: 0,
    replyCount: countOf(all, uri, 'reply'),
    repostCount: countOf(all, uri, 'repost'),
    likeCount: countOf(all, uri, 'like'),
    quoteCount: countOf(all, uri, 'quote'),
    indexedAt,
    viewer: {
      ...(like ? { like } : {}),
      ...(repost ? { repost } : {}),
      bookmarked: false,
      threadMuted: false,
      embeddingDisabled: false,
    },
    labels: [],
  }
}

const postAt = (all: Seen[], uri: unknown): Seen | undefined =>
  all.find((seen) => seen.uri === uri && seen.collection === 'app.bsky.feed.post')

const getPosts = ({ world, query, claims }: XrpcCall) => {
  const uris = query.getAll('uris')
  if (uris.length > 25)
    throw invalidRequest(
      `Invalid app.bsky.feed.getPosts params: array too big (maximum 25, got ${uris.length})`,
    )
  const all = allRecords(world)
  const found = uris.flatMap((uri) => postAt(all, uri) ?? [])
  return { posts: found.map((seen) => viewOf(all, seen, claims.sub)) }
}

/** When an entry counts as made: nobody can date it into the future. */
const sortAt = ({ value, indexedAt }: Seen): string => {
  const createdAt = typeof value.createdAt === 'string' ? new Date(value.createdAt) : undefined
  const claimed = createdAt?.toISOString() ?? indexedAt
  return claimed < indexedAt ? claimed : indexedAt
}

const newestFirst = (one: Seen, other: Seen): number =>
  sortAt(other).localeCompare(sortAt(one)) || other.uri.localeCompare(one.uri)

/** A page of what comes after the place that `cursor` names. */
const pageOf = (all: Seen[], { input }: XrpcCall): { page: Seen[]; cursor?: string } => {
  const place = (seen: Seen) => `${sortAt(seen)}::${seen.cid}`
  const sorted = all.toSorted(newestFirst)
  const after = input.cursor ? sorted.findIndex((seen) => place(seen) === input.cursor) + 1 : 0
  const page = sorted.slice(after, after + Number(input.limit ?? 50))
  const last = page.at(-1)
  return last && after + page.length < sorted.length ? { page, cursor: place(last) } : { page }
}

const actorOf = ({ world, input }: XrpcCall): PdsHeldAccount => {
  const account = activeAccount(world, input.actor as string)
  if (!account) throw invalidRequest('Profile not found')
  return account
}

const getAuthorFeed = (call: XrpcCall) => {
  const [actor, all] = [actorOf(call), allRecords(call.world)]
  const hasReplies = call.input.filter !== 'posts_no_replies'
  const own = all.filter(
    ({ account, collection, value }) =>
      account === actor &&
      (collection === 'app.bsky.feed.repost' ||
        (collection === 'app.bsky.feed.post' && (hasReplies || value.reply === undefined))),
  )
  const { page, ...rest } = pageOf(own, call)
  const view = (seen: Seen) => viewOf(all, seen, call.claims.sub)
  const feed = page.flatMap<unknown>((seen) => {
    if (seen.collection === 'app.bsky.feed.post') {
      const [root, parent] = ['root', 'parent'].map((name) =>
        postAt(all, at(seen.value, 'reply', name, 'uri')),
      )
      const reply = root && parent ? { reply: { root: view(root), parent: view(parent) } } : {}
      return [{ post: view(seen), ...reply }]
    }
    const subject = postAt(all, at(seen.value, 'subject', 'uri'))
    const reason = {
      $type: 'app.bsky.feed.defs#reasonRepost',
      by: profileOf(actor),
      uri: seen.uri,
      cid: seen.cid,
      indexedAt: seen.indexedAt,
    }
    return subject ? [{ post: view(subject), reason }] : []
  })
  return { feed, ...rest }
}

const getProfile = (call: XrpcCall) => {
  const [actor, all] = [actorOf(call), allRecords(call.world)]
  const of = (collection: string) => all.filter((seen) => seen.collection === collection)
  const follows = of('app.bsky.graph.follow')
  const description = at(actor.records.get('app.bsky.actor.profile/self')?.value, 'description')
  return {
    ...profileOf(actor),
    ...(description === undefined ? {} : { description }),
    followersCount: follows.filter(({ value }) => value.subject === actor.did).length,
    followsCount: follows.filter(({ account }) => account === actor).length,
    postsCount: of('app.bsky.feed.post').filter(({ account }) => account === actor).length,
    indexedAt: actor.createdAt,
  }
}

const listNotifications = (call: XrpcCall) => {
  const { did } = call.caller
  const wanted = call.query.getAll('reasons')
  const isAbout = (subject: unknown) =>
    typeof subject === 'string' && (subject === did || subject.startsWith(`at://${did}/`))
  const reasonOf = (seen: Seen) =>
    reasons(seen).find(
      ({ reason, subject }) => isAbout(subject) && (wanted.length === 0 || wanted.includes(reason)),
    )
  const others = allRecords(call.world).filter(
    (seen) => seen.account.did !== did && reasonOf(seen) !== undefined,
  )
  const { page, ...rest } = pageOf(others, call)
  const notifications = page.map((seen) => {
    const { reason, subject } = reasonOf(seen)!
    return {
      uri: seen.uri,
      cid: seen.cid,
      author: profileOf(seen.account),
      reason,
      ...(subject === did ? {} : { reasonSubject: subject }),
      record: seen.value,
      isRead: false,
      indexedAt: seen.indexedAt,
      labels: [],
    }
  })
  return { notifications, priority: false, ...rest }
}

const method = (run: XrpcMethod['run'], fields: Record<string, PdsCheck>): XrpcMethod => ({
  verb: 'GET',
  auth: 'access',
  input: object(fields),
  run: (call) => {
    if (!call.world.hasAppView) throw noAppView()
    return run(call)
  },
})

const pages = { 'limit?': integer(1, 100), 'cursor?': text() }

export const appViewMethods: Record<string, XrpcMethod> = {
  'app.bsky.feed.getPosts': method(getPosts, { uris: atUri }),
  'app.bsky.feed.getAuthorFeed': method(getAuthorFeed, { actor: atIdentifier, ...pages }),
  'app.bsky.actor.getProfile': method(getProfile, { actor: atIdentifier }),
  'app.bsky.notification.listNotifications': method(listNotifications, pages),
}
