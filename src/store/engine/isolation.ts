/**
 * Refuses to serve if policies do not bind the pools' roles, because every tenant would then be
 * visible.
 */
import { type Db, type Logins, type PoolRole, poolRoles, type Query } from './db.ts'

/** `logins`: the pools' login roles, if there are any. */
export async function assertIsolation(db: Db, logins?: Logins): Promise<void> {
  const names = [...poolRoles, ...Object.values(logins ?? {}).map(({ username }) => username)]
  const [row] = await db.system(
    (sql) => sql<{
      roles: string | null
    }>`select string_agg(r.rolname, ', ' order by r.rolname) as roles from pg_roles r
      where (r.rolname = current_user or r.rolname = any(${names}::text[])) and (r.rolcreaterole
        or exists (select 1 from pg_roles m where (m.rolsuper or m.rolbypassrls)
          and pg_has_role(r.oid, m.oid, 'member'))
        or exists (select 1 from pg_class c where c.relrowsecurity
          and pg_has_role(r.oid, c.relowner, 'member')))`,
  )
  if (row?.roles)
    throw new Error(
      `row-level security does not bind ${row.roles}: no such role may own tables, be superuser or bypass it`,
    )
  const reader = { tenantId: '00000000-0000-0000-0000-000000000000' }
  checkUser('tendril_app', await db.read(reader, whoAmI), logins)
  checkUser('tendril_system', await db.system(whoAmI), logins)
}

interface User {
  role: string
  session: string
}

const whoAmI: Query<User> = (sql) =>
  sql`select current_user::text as role, session_user::text as session`

const checkUser = (role: PoolRole, [user]: readonly User[], logins: Logins | undefined): void => {
  const expected = logins?.[role].username ?? role
  if (user?.role !== expected)
    throw new Error(`the server's pools connect as ${user?.role}, not as ${expected}`)
  if (logins && user.session !== expected)
    throw new Error(`the server's pools log in as ${user.session}, not as ${expected}`)
}
