import type { PlanState } from '#contract/limits'
import type { PlanName } from '#domain/app/plan'
import type { RatePlan } from '#domain/app/rates'
import { auditEntry } from '../engine/audit-entry.ts'
import type { Db, Fragment, Sql } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'
import { operator } from '../engine/principal.ts'
import { type NamedAuthor, namedAuthor } from './names.ts'

/** Inserts a workspace with its `actor` row and its initial channels. */
export const insertTenant = (
  db: Db,
  tenant: { id: string; name: string; plan: PlanName },
): Promise<unknown> =>
  db.system(
    (sql) => sql`with t as (insert into tenant (id, name, plan)
      values (${tenant.id}, ${tenant.name}, ${tenant.plan}) returning id),
        a as (insert into actor (tenant_id) select id from t)
      select start_channels(id) from t`,
  )

/** Serialises the first starts of servers on one database. Any constant would do. */
const FIRST_START_LOCK = 7_164_012

/**
 * The workspace that a first start must finish. Creates it if there is no workspace at all. Finds
 * it as long as it has no key, because an earlier start may have died midway. Undefined if there is
 * nothing to finish. Of several servers, one creates it.
 */
export const unfinishedTenant = (
  db: Db,
  tenant: { id: string; name: string; plan: PlanName },
): Promise<string | undefined> =>
  db.systemTransaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(${FIRST_START_LOCK})`
    await tx`with t as (insert into tenant (id, name, plan)
      select ${tenant.id}, ${tenant.name}, ${tenant.plan}
          where not exists (select 1 from tenant) returning id),
        a as (insert into actor (tenant_id) select id from t)
      select start_channels(id) from t`
    const [row] = await tx<{
      id: string
    }>`select id from tenant where deletes_at is null and not exists (select 1 from api_key)
      order by id limit 1`
    return row?.id
  })

/** A workspace, as operators see it. */
export interface TenantRow {
  id: string
  name: string
  plan: PlanName
  billing: PlanState['billing']
  paused: boolean
  /** The number of members. Keys do not count. */
  people: number
  created_at: Date
  deletes_at: Date | null
  /** Its erasure has begun, and cannot be taken back. */
  erasing: boolean
}

/**
 * Newest first. With a text, those alone that have this id, whose name contains it, or that have a
 * member or an open invitation whose email contains it.
 */
export const listTenants = (db: Db, { limit, after }: Page, text?: string): Promise<TenantRow[]> =>
  db.system(
    async (sql) =>
      await sql<TenantRow>`select t.id, t.name, t.plan, t.billing, coalesce(a.paused, true) as paused,
          t.created_at, t.deletes_at, a.tenant_id is null as erasing,
          (select count(*)::int from member m where m.tenant_id = t.id) as people
        from tenant t left join actor a on a.tenant_id = t.id
        where ${after ? sql`t.id < ${after}` : sql`true`}
          and ${text === undefined ? sql`true` : matching(sql, text)}
        order by t.id desc limit ${limit + 1}`,
  )

const matching = (sql: Sql, text: string): Fragment => {
  const contains = (column: Fragment) => sql`position(lower(${text}) in lower(${column})) > 0`
  return sql`(t.id::text = lower(${text}) or ${contains(sql`t.name`)}
    or t.id in (select m.tenant_id from member m join person p on p.id = m.person_id
      where ${contains(sql`p.email`)})
    or t.id in (select i.tenant_id from invitation i where ${contains(sql`i.email`)}
      and i.accepted_at is null and i.revoked_at is null and i.expires_at > clock_timestamp()))`
}

const MOST_OWNERS = 20

/** A workspace with all that an operator may know of it. */
export interface TenantState extends TenantRow {
  overrides: PlanState['overrides']
  paused_since: Date | null
  paused_by: NamedAuthor | null
  /** Who can decide about it, at most 20. */
  owners: { id: string; name: string; email: string | null }[]
  /** How many keys are valid. */
  keys: number
  /** The server that it runs in now, if any. */
  server: { id: string; url: string } | null
  /** When it has something to do next. */
  wakes_at: Date | null
  erasure_failures: number
  erasure_error: string | null
}

export const tenantState = (db: Db, id: string): Promise<TenantState | undefined> =>
  db.system(async (sql) => {
    const [row] = await sql<TenantState>`select t.id, t.name, t.plan, t.billing, t.overrides,
        t.created_at, t.deletes_at, a.tenant_id is null as erasing,
        coalesce(a.paused, true) as paused, a.paused_at as paused_since,
        ${namedAuthor(sql, sql`a.paused_by`)} as paused_by, a.wake_at as wakes_at,
        (select count(*)::int from member m where m.tenant_id = t.id) as people,
        (select coalesce(jsonb_agg(o), '[]') from (select p.id, p.name, p.email
          from member m join person p on p.id = m.person_id
          where m.tenant_id = t.id and m.role = 'owner' order by m.created_at, p.id
            limit ${MOST_OWNERS}) o) as owners,
        (select count(*)::int from api_key k where k.tenant_id = t.id and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > clock_timestamp())) as keys,
        (select jsonb_build_object('id', n.incarnation, 'url', n.url) from node n
          where n.incarnation = a.owner and n.expires_at > clock_timestamp()) as server,
        t.erasure_failures, t.erasure_error
      from tenant t left join actor a on a.tenant_id = t.id where t.id = ${id}`
    return row
  })

/**
 * Changes a plan and returns it; undefined if there is no such workspace. What changes nothing
 * leaves no audit row. `change` may throw.
 */
export const changePlan = (
  db: Db,
  id: string,
  change: (before: PlanState) => PlanState,
): Promise<PlanState | undefined> =>
  db.systemTransaction(async (tx) => {
    const [before] =
      await tx<PlanState>`select plan, billing, overrides from tenant where id = ${id} for update`
    if (!before) return undefined
    const next = change(before)
    if (Bun.deepEquals(next, before)) return next
    const { plan, billing, overrides } = next
    await tx`update tenant set plan = ${plan}, billing = ${billing},
      overrides = ${tx.json(overrides)} where id = ${id}`
    await auditEntry(tx, {
      tenantId: id,
      actor: operator,
      surface: 'admin',
      operation: 'operator.plan.set',
      detail: next,
    })
    return next
  })

export const hasTenant = async (db: Db, id: string): Promise<boolean> =>
  (await db.system((sql) => sql`select 1 from tenant where id = ${id}`)).length === 1

/** Plans by workspace id. */
export const ratePlansOf = async (db: Db, ids: string[]): Promise<Map<string, RatePlan>> => {
  const rows = await db.system(
    async (sql) =>
      await sql<
        { id: string } & RatePlan
      >`select id, plan, overrides from tenant where id = any(${ids}::uuid[])`,
  )
  return new Map(rows.map(({ id, plan, overrides }) => [id, { plan, overrides }]))
}
