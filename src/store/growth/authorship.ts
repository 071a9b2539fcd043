/** Names for what src/domain/growth/drafting/authorship.ts shows of an item or an engagement. */
import { namesOf } from '../app/names.ts'
import type { Fragment, Sql } from '../engine/db.ts'

/** A column of a select from the table of items or engagements. Null if the row names nobody. */
export const authorshipColumns = (sql: Sql): Fragment => {
  const source = sql`jsonb_build_object('kind', source_kind, 'id', source_id)`
  const named = [source, sql`written_by`, sql`(decision->'by')`, sql`(decision->'allowed_by')`]
  return sql`case when source_kind in ('person', 'key') or written_by is not null
    or decision is not null then ${namesOf(sql, named)} end as names`
}
