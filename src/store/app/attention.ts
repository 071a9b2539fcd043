/**
 * What waits for a person or is stuck in any workspace, for operators. The policies named
 * `attention` say what they see of it: ids and times, and no text.
 */
import type { Db, Fragment, Sql } from '../engine/db.ts'

type AttentionKind =
  | 'doubt'
  | 'restored'
  | 'reply'
  | 'call'
  | 'work'
  | 'held'
  | 'connection'
  | 'erasure'

export interface AttentionEntry {
  /** Of the record. */
  id: string
  workspace_id: string
  kind: AttentionKind
  /** What the record is: `item`, `approval`, or a kind of work. */
  record: string
  since: Date
  /** The same in microseconds. */
  place_at: number
}

interface Wanted {
  limit: number
  after?: { at?: number | undefined; id: string }
  workspaceId?: string | undefined
  /** Kinds of work that wait while billing is not in order. */
  generations: readonly string[]
}

interface Part {
  kind: AttentionKind
  record: Fragment
  /** With the alias `r`, perhaps joined to others. */
  from: Fragment
  id?: Fragment
  since: Fragment
  where: Fragment
}

/** What waits for a decision, or for the billing, may do so for a day. */
const forADay = (sql: Sql, since: Fragment): Fragment =>
  sql`${since} < clock_timestamp() - interval '1 day'`

/**
 * Of posts, engagements and replies only a person can say whether they went out. The indexes say
 * `left(status, 7)`, so that no statement of one workspace is planned with them; for the same
 * reason that of held jobs says `> '-infinity'`.
 */
const waiting = (sql: Sql): Part[] => [
  {
    kind: 'doubt',
    record: sql`case when r.item_id is null then 'engagement' else 'item' end`,
    from: sql`attempt r`,
    id: sql`coalesce(r.item_id, r.engagement_id)`,
    since: sql`r.intent_at`,
    where: sql`r.state = 'review'`,
  },
  {
    kind: 'doubt',
    record: sql`'reply'`,
    from: sql`channel_reply r`,
    since: sql`r.created_at`,
    where: sql`left(r.status, 7) in ('held', 'unknown') and r.status = 'unknown'`,
  },
  {
    kind: 'reply',
    record: sql`'reply'`,
    from: sql`channel_reply r`,
    since: sql`r.created_at`,
    where: sql`left(r.status, 7) in ('held', 'unknown') and r.status = 'held'
      and ${forADay(sql, sql`r.created_at`)}`,
  },
  {
    kind: 'call',
    record: sql`'approval'`,
    from: sql`agent_approval r`,
    since: sql`r.created_at`,
    where: sql`left(r.status, 7) = 'pending' and ${forADay(sql, sql`r.created_at`)}`,
  },
]

/** What may have gone out elsewhere, since the time of a backup or copy. */
const restored = (sql: Sql): Part[] =>
  (['item', 'engagement'] as const).map((table) => ({
    kind: 'restored',
    record: sql`${table}::text`,
    from: sql`${sql(table)} r`,
    since: sql`r.restored_as_of`,
    where: sql`isfinite(r.restored_as_of) and r.status = 'approved'`,
  }))

const stuck = (sql: Sql, generations: readonly string[]): Part[] => [
  {
    kind: 'work',
    record: sql`r.kind`,
    from: sql`work r`,
    id: sql`r.ref_id`,
    since: sql`coalesce(r.due_at, r.run_at)`,
    where: sql`r.failures > 0`,
  },
  {
    kind: 'held',
    record: sql`r.kind`,
    from: sql`work r`,
    id: sql`r.ref_id`,
    since: sql`r.created_at`,
    where: sql`t.billing <> 'ok' and r.failures = 0 and r.kind = any(${[...generations]})
      and ${forADay(sql, sql`r.created_at`)}`,
  },
  {
    kind: 'held',
    record: sql`'job'`,
    from: sql`agent_job r`,
    since: sql`r.held_since`,
    where: sql`r.held_since > '-infinity' and ${forADay(sql, sql`r.held_since`)}`,
  },
]

/** Nothing can be posted by a workspace whose accounts are all disconnected. */
const connections = (sql: Sql): Part[] => [
  {
    kind: 'connection',
    record: sql`'connection'`,
    from: sql`connection r`,
    since: sql`r.updated_at`,
    where: sql`r.status <> 'connected' and not exists (select from connection o
      where o.tenant_id = r.tenant_id and (o.status = 'connected' or o.updated_at > r.updated_at))`,
  },
  {
    kind: 'connection',
    record: sql`'channel'`,
    from: sql`channel_connection r`,
    since: sql`coalesce(r.checked_at, r.created_at)`,
    where: sql`r.status = 'failing'`,
  },
  {
    kind: 'connection',
    record: sql`'mcp_server'`,
    from: sql`mcp_server r`,
    since: sql`coalesce(r.looked_at, r.created_at)`,
    where: sql`r.enabled and r.status = 'failing'`,
  },
  {
    kind: 'connection',
    record: sql`'webhook'`,
    from: sql`webhook_endpoint r`,
    since: sql`r.failing_since`,
    where: sql`r.status = 'disabled' and r.failing_since is not null`,
  },
]

/** The others of a workspace that is to be deleted wait for nobody. */
const erasures = (sql: Sql): Fragment =>
  sql`select t.id, t.id as workspace_id, 'erasure' as kind, 'workspace' as record,
    t.deletes_at as since from tenant t where t.erasure_failures > 0 and t.deletes_at is not null`

const rowsOf = (sql: Sql, { kind, record, from, since, where, id = sql`r.id` }: Part): Fragment =>
  sql`select ${id} as id, r.tenant_id as workspace_id, ${kind}::text as kind,
    ${record} as record, ${since} as since
    from ${from} join tenant t on t.id = r.tenant_id and t.deletes_at is null where ${where}`

/** Those of a page, of which each part has no more than the page. */
const cut = (sql: Sql, rows: Fragment, { limit, after, workspaceId }: Wanted): Fragment =>
  sql`(select * from (${rows}) part where ${workspaceId ? sql`workspace_id = ${workspaceId}` : sql`true`}
    ${
      after
        ? sql`and (since, id) > (timestamptz 'epoch' + ${after.at ?? 0}::bigint * interval '1 microsecond', ${after.id}::uuid)`
        : sql``
    }
    order by since, id limit ${limit + 1})`

/** Oldest first. */
export const needingAttention = (db: Db, wanted: Wanted): Promise<AttentionEntry[]> =>
  db.system(async (sql) => {
    const parts = [
      ...[...waiting(sql), ...restored(sql)],
      ...[...stuck(sql, wanted.generations), ...connections(sql)],
    ]
    const pages = [...parts.map((part) => rowsOf(sql, part)), erasures(sql)].map((rows) =>
      cut(sql, rows, wanted),
    )
    return await sql<AttentionEntry>`select id, workspace_id, kind, record, since,
      (extract(epoch from since) * 1000000)::bigint::float8 as place_at
      from (${pages.map((page, at) => (at === 0 ? page : sql` union all ${page}`))}) found
      order by since, id limit ${wanted.limit + 1}`
  })
