/** The rows that a workspace has in the database. */
import type postgres from 'postgres'

interface TenantTable {
  name: string
  /** How the table refers to the workspace. */
  column: string
}

/**
 * All tables with a tenant_id, those that refer to a workspace otherwise, and the table of
 * workspaces.
 */
export const tenantTables = (owner: postgres.Sql): Promise<TenantTable[]> =>
  owner<TenantTable[]>`
    select c.oid::regclass::text as name, a.attname::text as column from pg_class c
      join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and (a.attname = 'tenant_id'
      or exists (select 1 from pg_constraint f
      where f.contype = 'f' and f.conrelid = c.oid and f.confrelid = 'tenant'::regclass
        and f.conkey = array[a.attnum])
      or (c.oid = 'tenant'::regclass and a.attname = 'id')) order by 1, 2`.then((rows) => [...rows])

/** How many rows of each table are the workspace's: `item.tenant_id` → 3. */
export const rowsOfTenant = async (
  owner: postgres.Sql,
  tenantId: string,
): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { name, column } of await tenantTables(owner)) {
    const [row] = await owner`select count(*)::int as count from ${owner(name)}
        where ${owner(column)} = ${tenantId}`
    counts[`${name}.${column}`] = row!.count
  }
  return counts
}
