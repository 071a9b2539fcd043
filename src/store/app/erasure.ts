/**
 * Erases workspaces whose grace period is over. sql/000124-baseline/10-retention.sql says what may
 * be erased, and in which order.
 */
import { changeAsOperator } from '../engine/audit-entry.ts'
import type { Db } from '../engine/db.ts'

/**
 * Workspaces due for erasure, the longest overdue first. Leaves out those that rest after a
 * failure.
 */
export const tenantsToErase = (db: Db, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = await sql<{ id: string }>`select id from tenant
      where deletes_at <= now() and (erasure_rests_until is null or erasure_rests_until <= now())
        order by deletes_at, id limit ${limit}`
    return rows.map(({ id }) => id)
  })

/**
 * Erases up to `rows` rows of a workspace. Returns false if nothing is left, or if another process
 * is erasing it.
 */
export const eraseSome = (db: Db, tenantId: string, rows: number): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }>`select erase_tenant(${tenantId}, ${rows}) as more`
    return row!.more
  })

/** Ends the grace period of a workspace that is to be deleted. False if it is not. */
export const makeErasureDue = async (db: Db, tenantId: string): Promise<boolean> =>
  (await changeAsOperator(
    db,
    { operation: 'operator.workspace.erase', detail: {} },
    (sql) => sql`update tenant set deletes_at = least(deletes_at, clock_timestamp()),
      erasure_rests_until = null where id = ${tenantId} and deletes_at is not null
      returning id as tenant_id, id as ref_id`,
  )) === 1

const MOST_ERROR_CHARACTERS = 500

/**
 * Postpones a workspace that could not be erased, so that others get their turn. `counted`: the
 * failure was its own. Returns the number of failures so far.
 */
export const restErasure = (
  db: Db,
  tenantId: string,
  { ms, counted, error }: { ms: number; counted: boolean; error: string },
): Promise<number> =>
  db.system(async (sql) => {
    const [row] = await sql<{
      failures: number
    }>`update tenant set erasure_failures = erasure_failures + ${counted ? 1 : 0},
        erasure_rests_until = clock_timestamp() + ${ms} * interval '1 millisecond',
          erasure_error = ${error.slice(0, MOST_ERROR_CHARACTERS)}
      where id = ${tenantId} returning erasure_failures as failures`
    return row?.failures ?? 0
  })
