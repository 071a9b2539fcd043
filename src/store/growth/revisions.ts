/** Earlier texts of items and engagements. */
import type { Revision } from '#domain/growth/drafting/revision'
import type { Query } from '../engine/db.ts'

export const insertRevision =
  ({ written_by, ...revision }: Revision): Query =>
  (sql) =>
    sql`insert into revision ${sql({ ...revision, written_by: written_by && sql.json(written_by) })}`
