/** The workspace as its members see it: its own row, and no other, whatever a statement asks for. */
import type { Query } from './db.ts'

export interface WorkspaceRow {
  id: string
  name: string
  plan: string
  created_at: Date
  deletes_at: Date | null
}

export const workspaceOf: Query = (sql) => sql`select id, name, plan, created_at, deletes_at from tenant`

export const renameWorkspace =
  (id: string, name: string): Query =>
  (sql) =>
    sql`update tenant set name = ${name} where id = ${id}`

/** Null: it is kept. */
export const setDeletion =
  (id: string, at: Date | null): Query =>
  (sql) =>
    sql`update tenant set deletes_at = ${at} where id = ${id}`
