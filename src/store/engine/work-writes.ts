/** Writes to a row of work beside its claim and its end. */
import type { Query } from './db.ts'

/** The process is about to claim the row alone. `charge`: as many failures that is, if the process can say nothing of it afterwards. */
export const markTried =
  (id: string, process: string, charge: number): Query =>
  (sql) =>
    sql`update work set tried_by = ${process}, charge = ${charge} where id = ${id}`

/** The failures of a running row, which stays as it is. */
export const countFailures =
  (id: string, failures: number): Query =>
  (sql) =>
    sql`update work set failures = failures + ${failures} where id = ${id}`

/** Writes the payload before the claim of the same row, in a separate statement. */
export const keepPayload =
  (id: string, payload: Record<string, unknown>): Query =>
  (sql) =>
    sql`update work set payload = ${sql.json(payload)} where id = ${id}`
