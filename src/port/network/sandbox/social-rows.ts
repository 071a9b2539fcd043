/**
 * Tables through which the sandbox's accounts meet: posts by others, answers, likes and reposts.
 */
import type postgres from 'postgres'
import type { EngageAction } from '#domain/growth/drafting/engagement'
import type { RunQuery } from './pool.ts'

export interface SandboxPost {
  id: string
  text: string
  createdAt: Date
  /** Ids of the posts it answers and quotes. */
  inReplyTo?: string
  quoted?: string
}

export interface AuthoredPost extends SandboxPost {
  author: { id: string; handle: string }
}

interface Engaging {
  accountId: string
  action: EngageAction
  postId: string
  /** For replies and quotes. */
  text: string
}

/** What accounts of the sandbox did with a post. */
interface Counted {
  likes: number
  reposts: number
  replies: number
  quotes: number
}

/** Who reads: a workspace or an account. */
type Reader = { workspaceId: string } | { accountId: string }

/** Every method throws `SandboxFailure` if the database fails. */
export interface SocialStore {
  /** The time by the network's clock. */
  now(): Promise<Date>
  /**
   * Answers, quotes, likes or reposts at once. Returns the new post's id, or the id of the liked or
   * reposted post; null if the account does not exist.
   */
  engage(engaging: Engaging): Promise<string | null>
  /** Like `addLater`. */
  engageLater(engaging: Engaging, afterMs: number): Promise<boolean>
  /**
   * An account's posts, newest first; null if nobody has this handle. Among several accounts with
   * it: the one of the reader's workspace, otherwise the oldest.
   */
  postsBy(query: {
    handle: string
    readerId: string
    since: Date
    limit: number
    lagMs: number
  }): Promise<AuthoredPost[] | null>
  post(id: string, lagMs: number): Promise<AuthoredPost | null>
  /** `by`: the workspace or one of its accounts. Answers of its residents count too. */
  counts(ids: string[], by: Reader): Promise<Map<string, Counted>>
  /** Which of like and repost the account has done to the post. */
  reactions(accountId: string, postId: string, lagMs: number): Promise<EngageAction[]>
  /**
   * For each moment, the handle of an account that existed then: always the same for the same
   * `mark`.
   */
  someAccounts(moments: { mark: string; at: Date }[]): Promise<Map<string, string>>
  /** Which of these posts are the account's own. */
  ownAmong(accountId: string, ids: string[]): Promise<Set<string>>
}

export interface PostRow {
  id: string
  text: string
  created_at: Date
  in_reply_to: string | null
  quoted: string | null
}

export const postFrom = ({ id, text, created_at, in_reply_to, quoted }: PostRow): SandboxPost => ({
  id,
  text,
  createdAt: created_at,
  ...(in_reply_to === null ? {} : { inReplyTo: in_reply_to }),
  ...(quoted === null ? {} : { quoted }),
})

interface AuthoredRow extends PostRow {
  account_id: string
  handle: string
}

const authoredFrom = ({ account_id, handle, ...row }: AuthoredRow): AuthoredPost => ({
  ...postFrom(row),
  author: { id: account_id, handle },
})

interface Parts {
  run: RunQuery
  /** Applies delayed posts first. */
  settle(): Promise<unknown>
  onDelayed(afterMs: number): void
}

const visible = (sql: postgres.Sql, lagMs: number) =>
  sql`(${lagMs}::float8 = 0 or p.created_at <= now() - ${lagMs}::float8 * interval '1 millisecond')`

const react = (sql: postgres.Sql, { accountId, action, postId }: Engaging) => sql<{ id: string }[]>`
  with known as (select id from sandbox.accounts where id = ${accountId}), added as (
    insert into sandbox.reactions (account_id, post_id, kind) select id, ${postId}, ${action}
      from known on conflict do nothing
  ) select ${postId} as id from known`

const answer = (sql: postgres.Sql, { accountId, action, postId, text }: Engaging) => sql<
  { id: string }[]
>`
  insert into sandbox.posts (account_id, text, in_reply_to, quoted)
  select id, ${text}, ${action === 'reply' ? postId : null}::text,
    ${action === 'quote' ? postId : null}::text
  from sandbox.accounts where id = ${accountId} returning id`

const writing = ({
  run,
  settle,
  onDelayed,
}: Parts): Pick<SocialStore, 'engage' | 'engageLater'> => ({
  async engage(engaging) {
    await settle()
    const isPost = engaging.action === 'reply' || engaging.action === 'quote'
    const [row] = await run((sql) => (isPost ? answer(sql, engaging) : react(sql, engaging)))
    return row?.id ?? null
  },
  async engageLater({ accountId, action, postId, text }, afterMs) {
    const rows = await run(
      (sql) => sql`
        insert into sandbox.delayed (account_id, text, action, post_id, apply_at)
        select id, ${text}, ${action}, ${postId}, clock_timestamp() + ${afterMs}::float8 * interval
          '1 millisecond'
        from sandbox.accounts where id = ${accountId} returning id`,
    )
    if (rows.length === 0) return false
    onDelayed(afterMs)
    return true
  },
})

const readingPosts = ({ run, settle }: Parts): Pick<SocialStore, 'postsBy' | 'post'> => ({
  async postsBy({ handle, readerId, since, limit, lagMs }) {
    await settle()
    const rows = await run(
      (sql) => sql<(Omit<AuthoredRow, 'id'> & { id: string | null })[]>`
        select a.id as account_id, a.handle, p.id, p.text, p.created_at, p.in_reply_to, p.quoted
        from (select id, handle from sandbox.accounts where lower(handle) = lower(${handle})
          order by workspace_id is not distinct from (select workspace_id from sandbox.accounts
            where id = ${readerId}) desc, created_at, id limit 1) a
        left join lateral (select * from sandbox.posts p where p.account_id = a.id
          and p.created_at >= ${since} and ${visible(sql, lagMs)}
          order by p.created_at desc, p.id desc limit ${limit}) p on true
        order by p.created_at desc, p.id desc`,
    )
    if (rows.length === 0) return null
    return rows.flatMap(({ id, ...row }) => (id === null ? [] : [authoredFrom({ id, ...row })]))
  },
  async post(id, lagMs) {
    await settle()
    const [row] = await run(
      (sql) => sql<AuthoredRow[]>`
        select a.id as account_id, a.handle, p.id, p.text, p.created_at, p.in_reply_to, p.quoted
        from sandbox.posts p join sandbox.accounts a on a.id = p.account_id where p.id = ${id}
          and ${visible(sql, lagMs)}`,
    )
    return row ? authoredFrom(row) : null
  },
})

const workspaceOf = (sql: postgres.Sql, by: Reader) =>
  'workspaceId' in by
    ? sql`${by.workspaceId}::uuid`
    : sql`(select workspace_id from sandbox.accounts where id = ${by.accountId})`

const COUNTS = (sql: postgres.Sql, ids: string[], by: Reader) => sql<(Counted & { id: string })[]>`
  select i.id,
    (select count(*)::int from sandbox.reactions r where r.post_id = i.id
      and r.kind = 'like') as likes,
    (select count(*)::int from sandbox.reactions r where r.post_id = i.id
      and r.kind = 'repost') as reposts,
    (select count(*)::int from sandbox.posts p where p.in_reply_to = i.id)
      + (select count(*)::int from resident_post r where r.in_reply_to = i.id
        and r.tenant_id = ${workspaceOf(sql, by)}) as replies,
    (select count(*)::int from sandbox.posts p where p.quoted = i.id) as quotes
  from unnest(${ids}::text[]) as i (id)`

export const socialOn = (parts: Parts): SocialStore => ({
  ...writing(parts),
  ...readingPosts(parts),
  async now() {
    const [row] = await parts.run((sql) => sql<{ now: Date }[]>`select clock_timestamp() as now`)
    return row!.now
  },
  async counts(ids, by) {
    if (ids.length === 0) return new Map()
    const rows = await parts.run((sql) => COUNTS(sql, ids, by))
    return new Map(rows.map(({ id, ...counted }) => [id, counted]))
  },
  async reactions(accountId, postId, lagMs) {
    await parts.settle()
    const rows = await parts.run(
      (sql) => sql<{ kind: EngageAction }[]>`
        select p.kind from sandbox.reactions p where p.post_id = ${postId}
          and p.account_id = ${accountId} and ${visible(sql, lagMs)}`,
    )
    return rows.map(({ kind }) => kind)
  },
  async someAccounts(moments) {
    if (moments.length === 0) return new Map()
    const rows = await parts.run(
      (sql) => sql<{ mark: string; handle: string }[]>`
        select m.mark, a.handle from unnest(${moments.map(({ mark }) => mark)}::text[],
          ${moments.map(({ at }) => at.toISOString())}::text[]) as m (mark, at)
        cross join lateral (select handle from sandbox.accounts
          where created_at <= m.at::timestamptz order by md5(id || m.mark) limit 1) a`,
    )
    return new Map(rows.map(({ mark, handle }) => [mark, handle]))
  },
  async ownAmong(accountId, ids) {
    if (ids.length === 0) return new Set()
    const rows = await parts.run(
      (sql) =>
        sql<
          { id: string }[]
        >`select id from sandbox.posts where account_id = ${accountId} and id = any(${ids}::text[])`,
    )
    return new Set(rows.map(({ id }) => id))
  },
})
