/**
 * What one workspace sees of the sandbox: the posts of its accounts, and those that it had
 * residents write.
 */
import type postgres from 'postgres'
import type { RunQuery } from './pool.ts'
import { type PostRow, postFrom, type SandboxPost } from './social-rows.ts'

export interface SaidPost extends SandboxPost {
  resident: string
}

/** The place of a post among others: newest first, by the time in microseconds and then by id. */
export interface FeedPlace {
  at: number
  id: string
}

export interface FeedQuery {
  /** Only posts behind this place. */
  before?: FeedPlace | undefined
  limit: number
  /** Only posts by this handle. */
  author?: string | undefined
  /** Only answers to this post, by anybody. */
  inReplyTo?: string | undefined
}

/** A stored post. `accountId` is null for what a resident wrote. */
export interface FeedRow extends SandboxPost {
  accountId: string | null
  handle: string
  /** Whether an account of the workspace posted it. */
  own: boolean
  at: number
}

/** Every method throws `SandboxFailure` if the database fails. */
export interface FeedStore {
  /** When the workspace had its first account; null if it has none. */
  joined(workspaceId: string): Promise<Date | null>
  /** Stored posts, newest first. */
  feed(workspaceId: string, query: FeedQuery): Promise<FeedRow[]>
  /** What the workspace of this account had a resident write, newest first. */
  saidBy(query: {
    readerId: string
    resident: string
    since: Date
    limit: number
    lagMs: number
  }): Promise<SaidPost[]>
  /** Such a post by its id. Null if the account's workspace has none. */
  said(id: string, readerId: string, lagMs: number): Promise<SaidPost | null>
  /** Whether the workspace can see a stored post with this id. */
  isSeen(workspaceId: string, id: string): Promise<boolean>
}

interface SaidRow extends PostRow {
  resident: string
}

const saidFrom = ({ resident, ...row }: SaidRow): SaidPost => ({ ...postFrom(row), resident })

const SAID = (sql: postgres.Sql) =>
  sql`r.post_id as id, r.text, r.created_at, r.in_reply_to, null::text as quoted, r.resident`

const ofReader = (sql: postgres.Sql, readerId: string, lagMs: number) =>
  sql`r.tenant_id = (select workspace_id from sandbox.accounts where id = ${readerId})
    and r.created_at <= now() - ${lagMs}::float8 * interval '1 millisecond'`

const MICROSECONDS = (sql: postgres.Sql) => sql`(extract(epoch from created_at) * 1000000)::float8`

const isBehind = (sql: postgres.Sql, { before }: FeedQuery, id: ReturnType<postgres.Sql>) =>
  before
    ? sql`(created_at, ${id}) < (timestamptz 'epoch' + ${String(before.at)}::bigint * interval
      '1 microsecond', ${before.id})`
    : sql`true`

/**
 * The newest posts of each account are read separately, so that an account with many posts costs as
 * much as one with few.
 */
const selectSent = (sql: postgres.Sql, workspaceId: string, query: FeedQuery) => sql`
  select p.*, a.id as account_id, a.handle, true as own from sandbox.accounts a
  cross join lateral (select id, text, created_at, in_reply_to, quoted from sandbox.posts
    where account_id = a.id and ${isBehind(sql, query, sql`id`)} order by created_at desc, id desc
      limit ${query.limit}) p
  where a.workspace_id = ${workspaceId}::uuid ${
    query.author === undefined
      ? sql``
      : sql`and
    lower(a.handle) = lower(${query.author})`
  }`

const answering = (sql: postgres.Sql, workspaceId: string, query: FeedQuery) => sql`
  select p.id, p.text, p.created_at, p.in_reply_to, p.quoted, a.id as account_id, a.handle,
    coalesce(a.workspace_id = ${workspaceId}::uuid, false) as own
  from (select * from sandbox.posts where in_reply_to = ${query.inReplyTo ?? null} and ${isBehind(sql, query, sql`id`)}) p
  join sandbox.accounts a on a.id = p.account_id
  where a.workspace_id = ${workspaceId}::uuid ${
    query.author === undefined
      ? sql``
      : sql`and
    lower(a.handle) = lower(${query.author})`
  }`

const selectSpoken = (sql: postgres.Sql, workspaceId: string, query: FeedQuery) => sql`
  select post_id, text, created_at, in_reply_to, null::text, null::text, resident, false
    from resident_post
  where tenant_id = ${workspaceId}::uuid and ${isBehind(sql, query, sql`post_id`)}
    ${query.author === undefined ? sql`` : sql`and resident = lower(${query.author})`}
    ${query.inReplyTo === undefined ? sql`` : sql`and in_reply_to = ${query.inReplyTo}`}
  order by created_at desc, post_id desc limit ${query.limit}`

interface StoredRow extends PostRow {
  account_id: string | null
  handle: string
  own: boolean
  at: number
}

const feedOf = async (run: RunQuery, workspaceId: string, query: FeedQuery): Promise<FeedRow[]> => {
  const rows = await run(
    (sql) => sql<StoredRow[]>`
      select *, ${MICROSECONDS(sql)} as at from (
        (${query.inReplyTo === undefined ? selectSent(sql, workspaceId, query) : answering(sql, workspaceId, query)})
        union all (${selectSpoken(sql, workspaceId, query)})) all_posts
      order by created_at desc, id desc limit ${query.limit}`,
  )
  return rows.map(({ account_id, handle, own, at, ...row }) => ({
    ...postFrom(row),
    accountId: account_id,
    handle,
    own,
    at,
  }))
}

export const feedOn = ({
  run,
  settle,
}: {
  run: RunQuery
  settle(): Promise<unknown>
}): FeedStore => ({
  async joined(workspaceId) {
    const [row] = await run(
      (sql) =>
        sql<{ at: Date | null }[]>`select min(created_at) as at from sandbox.accounts
          where workspace_id = ${workspaceId}::uuid`,
    )
    return row?.at ?? null
  },
  async feed(workspaceId, query) {
    await settle()
    return feedOf(run, workspaceId, query)
  },
  async saidBy({ readerId, resident, since, limit, lagMs }) {
    const rows = await run(
      (sql) => sql<SaidRow[]>`select ${SAID(sql)} from resident_post r
        where ${ofReader(sql, readerId, lagMs)} and r.resident = ${resident}
          and r.created_at >= ${since}
        order by r.created_at desc, r.post_id desc limit ${limit}`,
    )
    return rows.map(saidFrom)
  },
  async said(id, readerId, lagMs) {
    const [row] = await run(
      (sql) =>
        sql<
          SaidRow[]
        >`select ${SAID(sql)} from resident_post r where ${ofReader(sql, readerId, lagMs)}
          and r.post_id = ${id}`,
    )
    return row ? saidFrom(row) : null
  },
  async isSeen(workspaceId, id) {
    await settle()
    const [row] = await run(
      (sql) => sql<{ seen: boolean }[]>`select exists (select from sandbox.posts where id = ${id})
        or exists (select from resident_post where tenant_id = ${workspaceId}::uuid
          and post_id = ${id}) as seen`,
    )
    return row!.seen
  },
})
