import type { PlanState } from '#contract/limits'
import type { PlanName } from '#domain/app/plan'
import type { RatePlan } from '#domain/app/rates'
import { auditEntry } from '../engine/audit-entry.ts'
import type { Db } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'

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
}

/** Newest first. */
export const listTenants = (db: Db, { limit, after }: Page): Promise<TenantRow[]> =>
  db.system(
    async (sql) =>
      await sql<TenantRow>`select t.id, t.name, t.plan, t.billing, a.paused, t.created_at, t.deletes_at,
          (select count(*)::int from member m where m.tenant_id = t.id) as people
        from tenant t join actor a on a.tenant_id = t.id ${after ? sql`where t.id < ${after}` : sql``}
        order by t.id desc limit ${limit + 1}`,
  )

/** Changes a plan and returns it; undefined if there is no such workspace. */
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
    const { plan, billing, overrides } = next
    await tx`update tenant set plan = ${plan}, billing = ${billing},
      overrides = ${tx.json(overrides)} where id = ${id}`
    const actor = { kind: 'system', id: 'operator' }
    await auditEntry(tx, {
      tenantId: id,
      actor,
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
