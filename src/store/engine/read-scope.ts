/** What a statement may see: the rows of a tenant, if the credential of its caller is valid. */
import type { Principal } from './principal.ts'
import type { Fragment, Query, Sql } from './sql.ts'

/** The tenant whose rows a statement sees, and the caller whose credential it checks, if any. */
export interface ReadScope {
  tenantId: string
  caller?: Principal | undefined
}

/**
 * Wraps a query that does not mention a tenant into one statement that sets the tenant first. The
 * order is certain, because `offset 0` keeps the subqueries from being flattened and each lateral
 * one refers to the one before it. If the order were ever lost, the query would find nothing.
 *
 * The result is empty only if the caller's credential is no longer valid. If the query finds
 * nothing, the result is one row of nulls.
 */
export const withTenant = <Row>(
  sql: Sql,
  { tenantId, caller }: ReadScope,
  query: Fragment<Row>,
): Fragment<Row> => sql<Row>`
  select r.* from ${scopeOf(sql, tenantId)} cross join lateral (select scope.ok is not null as ok
    ${caller === undefined ? sql`` : sql`where ${hasValidCredential(sql, caller)}`} offset 0) caller
  left join lateral (select q.* from (${query}) q where caller.ok offset 0) r on true`

/**
 * Sets the tenant, as a table `scope` of one row. Whatever must come later refers to `scope.ok` in
 * a lateral subquery.
 */
export const scopeOf = (sql: Sql, tenantId: string): Fragment =>
  sql`(select set_config('app.tenant', ${tenantId}, true) as ok offset 0) scope`

/**
 * Whether the key or session is valid, and its person still has the same role in the workspace.
 * Refers to `scope`, which sets the tenant.
 */
export const hasValidCredential = (sql: Sql, { kind, id, member, scopes }: Principal): Fragment => {
  if (kind === 'system') return sql`true`
  // Nobody signs in as a sender. Only jobs act for one, and they look up what it may do.
  if (kind === 'channel') return sql`false`
  const sameMember = member
    ? sql`and exists (select 1 from member m where m.person_id = ${member.personId}
      and m.role = ${member.role})`
    : sql``
  const sameScopes = scopes ? sql`and scopes = ${scopes as string[]}::text[]` : sql``
  const [table, person] =
    kind === 'key'
      ? [sql`api_key`, sql``]
      : [sql`session`, sql`and person_id = ${member?.personId ?? null}`]
  return sql`exists (select from ${table} where id = ${id} and scope.ok is not null
        and revoked_at is null and (expires_at is null or expires_at > now()) ${person}
          ${sameMember} ${sameScopes})`
}

/** Reads nothing, so that only the caller's access is checked, as with every statement. */
export const accessAlone: Query = (sql) => sql`select true as has_access`
