/** Who can come in, in all workspaces, for the owner of the tables. */
import { inRole } from '../engine/owner.ts'
import type { Fragment, Sql } from '../engine/sql.ts'

/**
 * Ends every session of the deployment. Grants that were approved and not fetched become none.
 * Returns how many sessions there were.
 */
export const endAllSessions = (sql: Sql): Promise<number> =>
  inRole(sql, 'tendril_system', async () => {
    await sql`update device_grant set decision = 'deny'
      where decision = 'approve' and issued_at is null`
    const ended = await sql`update session set revoked_at = clock_timestamp()
      where revoked_at is null and expires_at > clock_timestamp() returning 1`
    return ended.length
  })

interface Living {
  id: string
  workspace_id: string
  created_at: Date
}

interface LivingList {
  count: number
  newest: Living[]
}

interface LivingAccess {
  keys: LivingList
  sessions: LivingList
  /** By the ids of their people. */
  members: LivingList
}

const listOf = async (
  sql: Sql,
  { id, from, limit }: { id: Fragment; from: Fragment; limit: number },
): Promise<LivingList> => {
  const [counted] = await sql<{ count: number }>`select count(*)::int as count ${from}`
  const newest = await sql<Living>`select ${id} as id, tenant_id as workspace_id, created_at ${from}
    order by created_at desc, ${id} desc limit ${limit}`
  return { count: counted!.count, newest: [...newest] }
}

/** Who can come in now and already could at that time. */
export const livingFrom = (
  sql: Sql,
  { before, limit }: { before: Date; limit: number },
): Promise<LivingAccess> =>
  inRole(sql, 'tendril_system', async () => {
    const keys = sql`from api_key where revoked_at is null and created_at <= ${before}
      and (expires_at is null or expires_at > clock_timestamp())`
    const sessions = sql`from session where revoked_at is null and created_at <= ${before}
      and expires_at > clock_timestamp()`
    const members = sql`from member where created_at <= ${before}`
    return {
      keys: await listOf(sql, { id: sql`id`, from: keys, limit }),
      sessions: await listOf(sql, { id: sql`id`, from: sessions, limit }),
      members: await listOf(sql, { id: sql`person_id`, from: members, limit }),
    }
  })
