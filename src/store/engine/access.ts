import type { Query } from './db.ts'

/** Reads nothing, so that only the caller's access is checked, as with every statement. */
export const accessAlone: Query = (sql) => sql`select true as has_access`
