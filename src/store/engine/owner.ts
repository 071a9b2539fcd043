/**
 * Queries as the role of the URL, which owns the tables, for starts and operators' commands. It
 * need not be a superuser: policies bind it, so rows of workspaces are reached in the roles of the
 * pools, of which it is a member.
 */
import postgres from 'postgres'
import { AppError } from '#kernel/errors'
import type { ConnectionOptions, PoolRole } from './db.ts'
import { codeOf } from './deadline.ts'
import { type Sql, sqlOf } from './sql.ts'

/** Connects just for these queries. */
export const asOwner = async <T>(
  options: ConnectionOptions,
  ask: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({ ...options, max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    return await ask(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const LOCK_PATIENCE_S = 30
const LOCK_NOT_AVAILABLE = '55P03'
const BUSY = `something else has had the same rows of the database for ${LOCK_PATIENCE_S} s, perhaps another command: try again`

/** The same in one transaction, which waits for no lock for ever. */
export const transactAsOwner = <T>(
  options: ConnectionOptions,
  ask: (sql: Sql) => Promise<T>,
): Promise<T> =>
  asOwner(options, async (sql) => {
    try {
      return (await sql.begin(async (tx) => {
        await tx.unsafe(`set local lock_timeout = '${LOCK_PATIENCE_S}s'`)
        return await ask(sqlOf(tx))
      })) as T
    } catch (cause) {
      if (codeOf(cause) !== LOCK_NOT_AVAILABLE) throw cause
      throw new AppError('unavailable', BUSY, { cause })
    }
  })

/** Within a transaction, which must not go on if `ask` throws. */
export const inRole = async <T>(sql: Sql, role: PoolRole, ask: () => Promise<T>): Promise<T> => {
  await sql`set local role ${sql(role)}`
  const answer = await ask()
  await sql`reset role`
  return answer
}

/** The workspaces that there are. */
export const everyTenant = (sql: Sql): Promise<string[]> =>
  inRole(sql, 'tendril_system', async () => {
    const rows = await sql<{ tenant_id: string }>`select tenant_id from actor order by tenant_id`
    return rows.map(({ tenant_id }) => tenant_id)
  })

/** Under the policies of one workspace. */
export const inTenant = <T>(sql: Sql, tenantId: string, ask: () => Promise<T>): Promise<T> =>
  inRole(sql, 'tendril_app', async () => {
    await sql`select set_config('app.tenant', ${tenantId}, true)`
    const answer = await ask()
    await sql`select set_config('app.tenant', '', true)`
    return answer
  })

/** One workspace after the other, in one transaction. */
export const inEachTenant = async <T>(
  sql: Sql,
  ask: (tenantId: string) => Promise<T>,
): Promise<T[]> => {
  const answers: T[] = []
  for (const tenantId of await everyTenant(sql))
    answers.push(await inTenant(sql, tenantId, () => ask(tenantId)))
  return answers
}
