/**
 * Names for what src/domain/growth/drafting/authorship.ts shows of an item or an engagement, and
 * pages of these, for which names and other facts that many rows show are looked up once: one row
 * of the page has them for all.
 */
import { namedId } from '../app/names.ts'
import type { Fragment, Sql } from '../engine/db.ts'

/** Whether the row names a person or a key, or anybody else. */
const namesAnybody = (sql: Sql): Fragment =>
  sql`(source_kind in ('person', 'key') or written_by is not null or decision is not null)`

/**
 * The ids of the people and keys that a row names, as an expression for an array. `of`: makes an
 * array of each of its ids, which is null if the row has another author there, or none.
 */
const namedIds = (sql: Sql, of: (id: Fragment) => Fragment): Fragment => {
  const source = sql`case when source_kind in ('person', 'key') then source_id end`
  const [writer, decider, allower] = [
    sql`written_by`,
    sql`(decision->'by')`,
    sql`(decision->'allowed_by')`,
  ].map((author) => of(namedId(sql, author)))
  return sql`${of(source)} || ${writer!} || ${decider!} || ${allower!}`
}

/** A column of a select from the table of items or engagements. Null if the row names nobody. */
export const authorNames = (sql: Sql): Fragment =>
  sql`case when ${namesAnybody(sql)}
    then names_of(${namedIds(sql, (id) => sql`array[${id}]`)}) end as names`

/** The table of the rows. In the statement, the page takes its place under its name. */
type Table = 'item' | 'engagement'

/** A row of a page, before `complete`. */
export type OnPage<Row, Shared> = Row & { shared?: Shared | null }

export interface PageParts {
  /** A select of all columns of the table, and others. */
  rows: Fragment
  columns: Fragment
  /** What follows the name of the table. */
  end: Fragment
}

/** `shared`: an expression for JSON, evaluated once, which one row of the page has. */
export const selectPage = <Row>(
  sql: Sql,
  table: Table,
  { rows, columns, shared, end }: PageParts & { shared: Fragment },
): Fragment<Row> => {
  const page = sql.raw(table)
  return sql<Row>`with ${page} as materialized (${rows})
    select ${columns}, case when ${page}.id = (select anyone.id from ${page} anyone limit 1)
      then ${shared} end as shared from ${page} ${end}`
}

/** The names of all people and keys that the page names, by their ids. */
export const namesOfPage = (sql: Sql, table: Table): Fragment =>
  sql`(select names_of(${namedIds(sql, (id) => sql`array_agg(${id})`)})
    from ${sql.raw(table)} authored where ${namesAnybody(sql)} having count(*) > 0)`

/** Gives each row what the page shares. */
export const complete = <Shared, Row extends OnPage<object, Shared>>(
  rows: Row[],
  from: (shared: Shared, row: Row) => object,
): Row[] => {
  const shared = rows.find((row) => row.shared)?.shared
  return shared ? rows.map((row) => ({ ...row, ...from(shared, row) })) : rows
}
