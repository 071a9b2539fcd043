import type postgres from 'postgres'
import { eventually } from '../eventually.ts'

/**
 * Resolves when a statement in this database waits for a lock, with how many do. Tests share the
 * server, so that other databases have such statements too.
 */
export const waitForLockWaiter = (sql: postgres.Sql): Promise<number> =>
  eventually(
    async () =>
      (
        await sql`select from pg_stat_activity where wait_event_type = 'Lock'
          and datname = current_database()`
      ).length,
    (count) => count > 0,
  )
