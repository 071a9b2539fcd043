import type { Billing, PlanName } from '#domain/plan'
import type { Db } from './db.ts'

export interface Tenant {
  id: string
  name: string
  plan: string
  billing: Billing
}

/** A workspace with the row that places it. */
export const insertTenant = (db: Db, tenant: { id: string; name: string; plan: PlanName }): Promise<unknown> =>
  db.system(
    (sql) => sql`with t as (insert into tenant (id, name, plan) values (${tenant.id}, ${tenant.name}, ${tenant.plan}) returning id)
      insert into actor (tenant_id) values (${tenant.id})`,
  )

export const countTenants = async (db: Db): Promise<number> =>
  (await db.system((sql) => sql<{ count: number }[]>`select count(*)::int as count from (select 1 from tenant limit 1) t`))[0]!.count

/** False: there is no such workspace. */
export const setPlan = async (db: Db, id: string, { plan, billing }: { plan: PlanName; billing: Billing }): Promise<boolean> =>
  (await db.system((sql) => sql`update tenant set plan = ${plan}, billing = ${billing} where id = ${id} returning 1`)).length === 1
