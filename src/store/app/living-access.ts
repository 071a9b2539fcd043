/** Who can come in, in all workspaces, for the owner of the tables. */
import { inRole } from '../engine/owner.ts'
import type { Sql } from '../engine/sql.ts'

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
