/**
 * Which process owns which tenant, decided by compare-and-set on rows alone. All times are by the
 * database's clock.
 */
import { AppError } from '#kernel/errors'
import type { Db, Fragment, Sql } from './db.ts'
import type { Ownership } from './letter.ts'

/** Whether a living process owns the tenant of the row `actor`. */
export const livingOwner = (sql: Sql): Fragment =>
  sql`exists (select 1 from node n where n.incarnation = actor.owner
    and n.expires_at > clock_timestamp())`

export interface ClaimedTenant {
  epoch: number
  /** The incarnation that owned it last, if it has died. */
  former: string | null
}

/**
 * Takes a tenant that no living process owns. Also has it swept, because its letters write rows
 * that expire. Undefined if a living process owns it.
 */
export const claimTenant = (
  db: Db,
  tenantId: string,
  owner: string,
): Promise<ClaimedTenant | undefined> =>
  db.system(async (sql) => {
    const [row] =
      await sql<ClaimedTenant>`update actor set owner = ${owner}, epoch = actor.epoch + 1,
        sweep_at = now(), nudged = false from actor before
      where actor.tenant_id = ${tenantId} and before.tenant_id = actor.tenant_id
        and (actor.owner is null or actor.owner = ${owner} or not ${livingOwner(sql)})
        and exists (select 1 from node n where n.incarnation = ${owner}
          and n.expires_at > clock_timestamp())
      returning actor.epoch, nullif(before.owner, ${owner}) as former`
    return row
  })

export const releaseTenant = (db: Db, { tenantId, owner, epoch }: Ownership): Promise<unknown> =>
  db.system(
    (sql) =>
      sql`update actor set owner = null where tenant_id = ${tenantId} and owner = ${owner}
        and epoch = ${epoch}`,
  )

/** Releases a tenant whatever the epoch, after a claim whose result is unknown. */
export const releaseClaim = (db: Db, tenantId: string, owner: string): Promise<unknown> =>
  db.system(
    (sql) => sql`update actor set owner = null where tenant_id = ${tenantId} and owner = ${owner}`,
  )

export interface Owner {
  incarnation: string
  /** Where it accepts commands. */
  url: string
}

/**
 * The living process that owns a tenant, if any. `gone`: there is no such tenant; erasure begins
 * with its `actor` row.
 */
export const ownerOf = (db: Db, tenantId: string): Promise<Owner | 'nobody' | 'gone'> =>
  db.system(async (sql) => {
    const [row] = await sql<{
      incarnation: string | null
      url: string
    }>`select n.incarnation, n.url from actor a
      left join node n on n.incarnation = a.owner and n.expires_at > clock_timestamp()
        where a.tenant_id = ${tenantId}`
    if (!row) return 'gone'
    return row.incarnation === null ? 'nobody' : { incarnation: row.incarnation, url: row.url }
  })

/**
 * Another process serves the tenant. Callers get a 503, unless the command can be forwarded to the
 * owner.
 */
export class OwnedElsewhere extends AppError<'unavailable'> {
  constructor(readonly owner: Owner) {
    super('unavailable', 'another process serves this workspace', { retryAfter: 2 })
  }
}

/**
 * Releases everything the process owns, and the process itself: the last step of an orderly stop.
 */
export const leave = (db: Db, incarnation: string): Promise<unknown> =>
  db.system(async (sql) => {
    await sql`update actor set owner = null where owner = ${incarnation}`
    await sql`delete from node where incarnation = ${incarnation}`
  })

/**
 * The tenants that have been due the longest. `now()` can use an index; `clock_timestamp()` would
 * scan all sleeping tenants.
 */
export const dueActors = (
  sql: Sql,
  self: string,
  limit: number,
  also: Fragment = sql``,
): Fragment<{ tenant_id: string }> =>
  sql`select tenant_id from actor where wake_at <= now() ${also}
      and (owner is null
        or (owner <> ${self} and not exists (select 1 from node n where n.incarnation = actor.owner
          and n.expires_at > clock_timestamp())))
    order by wake_at limit ${limit}`

interface Wakeable {
  /** Tenants with due work that no living process owns. */
  due: string[]
  /**
   * Tenants of this process whose work changed without a letter. Those beyond the limit stay
   * nudged.
   */
  nudged: string[]
}

/** A hold of the deployment. */
interface Held {
  since: Date
  /** The kinds of work that run all the same, if people have asked for it since. */
  kinds: readonly string[]
}

const askedSince = (sql: Sql, { since, kinds }: Held): Fragment =>
  sql`and w.kind = any(${[...kinds]}::text[]) and w.created_at >= ${since}`

const askedFor = (sql: Sql): Fragment => sql`and w.run_at <= now()`

/** `paused`: every workspace is, and only what people have asked for runs. */
type Stop = Held | 'paused'

/**
 * While all are paused, also those whose process has died, once: whoever takes them settles what it
 * left running. Each workspace is asked for by itself, with one look into the index (`offset 0`
 * keeps Postgres from collecting the work of all).
 */
export const stirring = (sql: Sql, stop: Stop): Fragment =>
  sql`and (${stop === 'paused' ? sql`owner is not null or` : sql``} exists (select from work w
    where w.tenant_id = actor.tenant_id and w.origin = 'manual'
      ${stop === 'paused' ? askedFor(sql) : askedSince(sql, stop)} offset 0))`

/**
 * While the deployment is held, no workspace is woken for what was due before, only for what its
 * people have asked for since. While all are paused, for what they have asked for at any time.
 */
export const wakeable = (db: Db, self: string, limit: number, stop?: Stop): Promise<Wakeable> =>
  db.system(async (sql) => {
    const due = dueActors(sql, self, limit, stop && stirring(sql, stop))
    const rows = await sql<{
      tenant_id: string
      is_ours: boolean
    }>`select tenant_id, false as is_ours from (${due}) due
      union all (select tenant_id, true from actor where nudged and owner = ${self} limit ${limit})`
    const of = (isOurs: boolean) =>
      rows.flatMap(({ tenant_id, is_ours }) => (is_ours === isOurs ? tenant_id : []))
    return { due: of(false), nudged: of(true) }
  })

/** Everything that changed before is about to be looked at. */
export const forgetNudges = (db: Db, self: string, tenantIds: string[]): Promise<unknown> =>
  db.system(
    (sql) =>
      sql`update actor set nudged = false where nudged and owner = ${self}
        and tenant_id = any(${tenantIds}::uuid[])`,
  )
