/** What is known of an Idempotency-Key, for a request that finds it in use. */
import type { Query } from './db.ts'

export interface Kept {
  state: 'pending' | 'done'
  /** With `pending`: the record whose outcome will supply the answer. */
  ref_id: string | null
}

export const keptUnder =
  (key: string): Query =>
  (sql) =>
    sql`select state, ref_id from idempotency where key = ${key} and expires_at > now()`
