/** The tables of the sandbox network, accessed like a remote service. */
import { type Clock, systemClock } from '#kernel/clock'
import { fail } from '#kernel/errors'
import type { ConnectionOptions } from '#store/engine/db'
import { type FeedStore, feedOn } from './feed-rows.ts'
import { openSandboxPool, type RunQuery, SandboxFailure } from './pool.ts'
import {
  type PostRow,
  postFrom,
  type SandboxPost,
  type SocialStore,
  socialOn,
} from './social-rows.ts'

export interface TimelineQuery {
  accountId: string
  since: Date
  /** Posts younger than this are left out; 0 leaves out none. */
  lagMs: number
}

interface AgedPost {
  id: string
  text: string
  /** By the network's own clock. */
  ageMs: number
}

/** Every method throws `SandboxFailure` if the database fails. */
export interface SandboxStore extends SocialStore, FeedStore {
  /** Creates or finds a workspace's account. Handles that differ only in case are the same. */
  account(workspaceId: string, handle: string): Promise<{ id: string; handle: string }>
  /** Publishes at once and returns the post's id; null if the account does not exist. */
  add(accountId: string, text: string): Promise<string | null>
  /**
   * Makes the post appear `afterMs` from now, even if this process dies; false if the account does
   * not exist.
   */
  addLater(accountId: string, text: string, afterMs: number): Promise<boolean>
  /** Newest first, including delayed posts now due; null if the account does not exist. */
  timeline(query: TimelineQuery): Promise<SandboxPost[] | null>
  /**
   * The account's own posts among these, including delayed ones now due; null if the account does
   * not exist.
   */
  posts(accountId: string, ids: string[]): Promise<AgedPost[] | null>
}

/**
 * How often the table is polled with nothing known to be due: another process may have died with
 * delayed posts.
 */
const IDLE_POLL_MS = 5_000
const RETRY_POLL_MS = 1_000

/**
 * Turns delayed posts that are due into posts. Simultaneous callers wait for each other, so each
 * post appears once.
 */
const applyDue = (run: RunQuery) =>
  run(
    (sql) => sql`
      with due as (
        delete from sandbox.delayed
        where id in (select id from sandbox.delayed where apply_at <= now() order by apply_at, id
          for update)
        returning account_id, text, apply_at, action, post_id
      ), reacted as (
        insert into sandbox.reactions (account_id, post_id, kind)
        select distinct account_id, post_id, action from due
          where action in ('like', 'repost') on conflict do nothing
      )
      insert into sandbox.posts (account_id, text, in_reply_to, quoted)
      select account_id, text, case action when 'reply' then post_id end, case action when 'quote'
        then post_id end
      from due where action is null or action in ('reply', 'quote') order by apply_at`,
  )

/** A failure before the caller's own statement cannot have written the caller's post. */
const settle = (run: RunQuery) =>
  applyDue(run).catch((failure) => {
    throw new SandboxFailure('nothing', failure instanceof SandboxFailure ? failure.cause : failure)
  })

interface NewPost {
  accountId: string
  text: string
  /** Adds nothing if delayed posts are due, which must come first. */
  unlessDue: boolean
}

/** The id of the new post, if one was added. */
const addPost = async (
  run: RunQuery,
  { accountId, text, unlessDue }: NewPost,
): Promise<string | undefined> => {
  const [row] = await run(
    (sql) => sql<{ id: string }[]>`
      insert into sandbox.posts (account_id, text) select id, ${text} from sandbox.accounts
        where id = ${accountId}
        and not (${unlessDue}::boolean and exists (select from sandbox.delayed
          where apply_at <= now())) returning id`,
  )
  return row?.id
}

const untilNext = async (run: RunQuery): Promise<number | null> => {
  const [row] = await run(
    (sql) => sql<{ ms: number | null }[]>`
      select (extract(epoch from min(apply_at) - clock_timestamp()) * 1000)::float8 as ms
        from sandbox.delayed`,
  )
  return row?.ms ?? null
}

const timelineOf = async (
  run: RunQuery,
  { accountId, since, lagMs }: TimelineQuery,
): Promise<SandboxPost[] | null> => {
  const rows = await run(
    (sql) => sql<(Omit<PostRow, 'id'> & { id: string | null })[]>`
      select p.id, p.text, p.created_at, p.in_reply_to, p.quoted from sandbox.accounts a
      left join sandbox.posts p on p.account_id = a.id and p.created_at >= ${since}
        and (${lagMs}::float8 = 0 or p.created_at <= now() - ${lagMs}::float8 * interval
          '1 millisecond')
      where a.id = ${accountId} order by p.created_at desc, p.id desc`,
  )
  if (rows.length === 0) return null
  return rows.flatMap(({ id, ...row }) => (id === null ? [] : [postFrom({ id, ...row })]))
}

const postsOf = async (
  run: RunQuery,
  accountId: string,
  ids: string[],
): Promise<AgedPost[] | null> => {
  const rows = await run(
    (sql) => sql<{ id: string | null; text: string; ms: number }[]>`
      select p.id, p.text, (extract(epoch from clock_timestamp() - p.created_at) * 1000)::float8 as
        ms from sandbox.accounts a
      left join sandbox.posts p on p.account_id = a.id and p.id = any(${ids}::text[])
        where a.id = ${accountId}`,
  )
  if (rows.length === 0) return null
  return rows.flatMap(({ id, text, ms }) => (id === null ? [] : [{ id, text, ageMs: ms }]))
}

/** The most accounts of one workspace, connected or not. */
const MOST_ACCOUNTS = 1_000

const storeOn = (run: RunQuery, onDelayed: (afterMs: number) => void): SandboxStore => ({
  async account(workspaceId, handle) {
    const [row] = await run(
      (sql) => sql<{ id: string; handle: string }[]>`
        insert into sandbox.accounts (workspace_id, handle) select ${workspaceId}::uuid, ${handle}
        where exists (select 1 from sandbox.accounts where lower(handle) = lower(${handle})
          and workspace_id = ${workspaceId})
          or (select count(*) from sandbox.accounts where workspace_id = ${workspaceId}) <
            ${MOST_ACCOUNTS}
        on conflict (lower(handle), workspace_id) do update set handle = accounts.handle
          returning id, handle`,
    )
    return (
      row ??
      fail(
        'conflict',
        `the workspace has ${MOST_ACCOUNTS} accounts in the sandbox; connect one of them`,
        { reason: 'limit_reached' },
      )
    )
  },
  async add(accountId, text) {
    const added = await addPost(run, { accountId, text, unlessDue: true })
    if (added) return added
    await settle(run)
    return (await addPost(run, { accountId, text, unlessDue: false })) ?? null
  },
  async addLater(accountId, text, afterMs) {
    const rows = await run(
      (sql) => sql`
        insert into sandbox.delayed (account_id, text, apply_at)
        select id, ${text}, clock_timestamp() + ${afterMs}::float8 * interval '1 millisecond'
        from sandbox.accounts where id = ${accountId} returning id`,
    )
    if (rows.length === 0) return false
    onDelayed(afterMs)
    return true
  },
  async timeline(query) {
    await settle(run)
    return timelineOf(run, query)
  },
  async posts(accountId, ids) {
    await settle(run)
    return postsOf(run, accountId, ids)
  },
  ...socialOn({ run, settle: () => settle(run), onDelayed }),
  ...feedOn({ run, settle: () => settle(run) }),
})

/** Applies delayed posts when they are due, even if nobody reads or publishes. */
const startPolling = (
  run: RunQuery,
  clock: Clock,
): { within(ms: number): void; stop(): Promise<void> } => {
  let armed: { at: number; timer: Disposable } | undefined
  let last: Promise<void> = Promise.resolve()
  let stopped = false
  const within = (ms: number): void => {
    const at = clock.monotonic() + ms
    if (stopped || (armed && armed.at <= at)) return
    armed?.timer[Symbol.dispose]()
    armed = { at, timer: clock.after(ms, wake) }
  }
  const poll = async (): Promise<number> => {
    await applyDue(run)
    return Math.max(1, Math.ceil((await untilNext(run)) ?? IDLE_POLL_MS))
  }
  const wake = (): void => {
    armed = undefined
    // Not logged: the same database fails the next read or publish, which reports it.
    last = poll().then(
      (ms) => within(Math.min(ms, IDLE_POLL_MS)),
      () => within(RETRY_POLL_MS),
    )
  }
  within(0)
  const stop = (): Promise<void> => {
    stopped = true
    armed?.timer[Symbol.dispose]()
    return last
  }
  return { within, stop }
}

/**
 * Opens the sandbox's own pool on the given database. It connects at first use, and reconnects by
 * itself. Disposing ends the pool; delayed posts not due yet stay for the next store opened.
 */
export const openSandboxStore = (options: ConnectionOptions): SandboxStore & AsyncDisposable => {
  const { run, end } = openSandboxPool(options)
  const polling = startPolling(run, systemClock)
  return {
    ...storeOn(run, polling.within),
    async [Symbol.asyncDispose]() {
      await polling.stop()
      await end()
    },
  }
}
