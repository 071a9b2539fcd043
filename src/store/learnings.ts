import type { Query } from './db.ts'

/** The newest learnings that still hold. */
export const activeLearnings =
  (limit: number): Query =>
  (sql) =>
    sql`select id, kind, note, status, created_at, updated_at from learning where status = 'active' order by id desc limit ${limit}`
