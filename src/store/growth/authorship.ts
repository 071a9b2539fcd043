/** Names for what src/domain/growth/drafting/authorship.ts shows of an item or an engagement. */
import { namedId, namesOf } from '../app/names.ts'
import type { Fragment, Sql } from '../engine/db.ts'

const authorIds = (sql: Sql): Fragment[] => [
  sql`case when source_kind in ('person', 'key') then source_id end`,
  namedId(sql, sql`written_by`),
]

/** Whether the row names an author. */
const hasAuthor = (sql: Sql): Fragment =>
  sql`(source_kind in ('person', 'key') or written_by is not null)`

/** A column of a select from the table of items or engagements. Null if the row names nobody. */
export const authorshipColumns = (sql: Sql): Fragment => {
  const deciders = [sql`(decision->'by')`, sql`(decision->'allowed_by')`].map((author) =>
    namedId(sql, author),
  )
  return sql`case when ${hasAuthor(sql)} or decision is not null
    then ${namesOf(sql, [...authorIds(sql), ...deciders])} end as names`
}

/** The same without those who decided. */
export const authorColumns = (sql: Sql): Fragment =>
  sql`case when ${hasAuthor(sql)} then ${namesOf(sql, authorIds(sql))} end as names`
