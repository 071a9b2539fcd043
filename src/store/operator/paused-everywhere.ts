/** The operator's pause of all workspaces: who began it, who carries it out, what is still out. */
import type { Db, Fragment, Sql } from '../engine/db.ts'

export interface PauseEverywhere {
  since: Date
  /** The operator, as their machine calls them. */
  by: string
  reason: string | null
}

const columns = (sql: Sql): Fragment =>
  sql`h.paused_since as since, h.paused_by as by, h.paused_reason as reason`

/** The pause in force, if there is one. */
export const pauseEverywhere = (db: Db): Promise<PauseEverywhere | undefined> =>
  db.system(
    async (sql) =>
      (
        await sql<PauseEverywhere>`select ${columns(sql)} from hold h
          where h.paused_since is not null`
      )[0],
  )

/**
 * A pause that is in force goes on as it is. Servers compare its time in milliseconds, and it has
 * that of no earlier pause, so that none is taken for carried out.
 */
export const beginPauseEverywhere = (
  db: Db,
  { by, reason }: Omit<PauseEverywhere, 'since'>,
): Promise<PauseEverywhere> =>
  db.system(async (sql) => {
    const [row] = await sql<PauseEverywhere>`update hold h set
      paused_by = coalesce(h.paused_by, ${by}),
      paused_reason = case when h.paused_since is null then ${reason} else h.paused_reason end,
      paused_since = coalesce(h.paused_since, greatest(
        date_trunc('milliseconds', clock_timestamp()),
        (select max(n.recalled) from node n) + interval '1 millisecond'))
      returning ${columns(sql)}`
    return row!
  })

/** Returns the pause that it ends. */
export const endPauseEverywhere = (db: Db): Promise<PauseEverywhere | undefined> =>
  db.system(
    async (sql) =>
      (
        await sql<PauseEverywhere>`update hold h set paused_since = null, paused_by = null,
          paused_reason = null
          from (select * from hold for update) before where before.paused_since is not null
          returning before.paused_since as since, before.paused_by as by,
            before.paused_reason as reason`
      )[0],
  )

/** How many workspaces are paused by themselves, by their people or by an operator. */
export const pausedByThemselves = (db: Db): Promise<number> =>
  db.system(
    async (sql) =>
      (
        await sql<{ workspaces: number }>`select count(*)::int as workspaces from actor
          where paused`
      )[0]!.workspaces,
  )

/** A server, and whether it has carried out the pause. */
export interface RecallingServer {
  id: string
  url: string
  lease_until: Date
  /** Its lease has not ended. */
  alive: boolean
  recalled: boolean
}

/** What all servers have done about the pause that began then. Undefined if it is over. */
export const recallingServers = (db: Db, since: Date): Promise<RecallingServer[] | undefined> =>
  db.system(async (sql) => {
    const rows = await sql<RecallingServer & { id: string | null }>`select n.incarnation as id,
        n.url, n.expires_at as lease_until, n.expires_at > clock_timestamp() as alive,
        n.recalled is not distinct from h.paused_since as recalled
      from hold h left join node n on true where h.paused_since = ${since}
      order by n.incarnation`
    return rows.length === 0 ? undefined : rows.filter(({ id }) => id !== null)
  })

/** Something that has begun, in any workspace. */
export interface UnderWay {
  workspace_id: string
  /** What the record is: `item`, `engagement`, or the kind of work that is about it. */
  record: string
  /** Of the record. */
  id: string
  origin: 'manual' | 'automatic'
  /** When the intent to send was written. Null for what is not a send. */
  since: Date | null
  /** The server that has begun it. */
  server: string | null
}

/**
 * What may be on the wire, in any workspace: all work that runs, and sends of processes that have
 * died and might still be sending. Unattended work first, and how much there is of it all.
 */
export const workUnderWay = (
  db: Db,
  limit: number,
): Promise<{ rows: UnderWay[]; total: number; unattended: number }> =>
  db.system(async (sql) => {
    const found = await sql<UnderWay & { total: number; unattended: number }>`
      with found as (
        select w.tenant_id as workspace_id, w.ref_id as id, w.origin, w.claimed_by as server,
          case when i.id is not null then 'item' when e.id is not null then 'engagement'
            else w.kind end as record,
          coalesce(i.intent_at, e.intent_at) as since
        from work w
          left join attempt i on w.kind = 'send' and i.state = 'open'
            and i.tenant_id = w.tenant_id and i.item_id = w.ref_id
          left join attempt e on w.kind = 'send' and e.state = 'open'
            and e.tenant_id = w.tenant_id and e.engagement_id = w.ref_id
        where w.state = 'running'
        union all
        select a.tenant_id, coalesce(a.item_id, a.engagement_id), a.origin, null,
          case when a.item_id is null then 'engagement' else 'item' end, a.intent_at
        from attempt a where a.state = 'doubt' and a.doubt_cause = 'process_stopped'
          and a.lease_until > clock_timestamp())
      select *, count(*) over ()::int as total,
        count(*) filter (where origin = 'automatic') over ()::int as unattended
      from found order by origin, workspace_id, id limit ${limit}`
    const { total = 0, unattended = 0 } = found[0] ?? {}
    return { rows: found.map(({ total: _, unattended: __, ...row }) => row), total, unattended }
  })
