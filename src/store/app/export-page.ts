/** Reads the pages of an export, each in the order of its table's key. */
import type { Fragment, Query, Sql } from '../engine/db.ts'
import type { ExportSource } from './export-source.ts'

export interface Paged extends Record<string, unknown> {
  /** This row's key, as text; the next page begins after it. */
  after: string[]
}

const position = (sql: Sql, key: ExportSource['key'], after: string[]): Fragment =>
  list(
    sql,
    key.map(([, type], index) => sql`${after[index]!}::text::${sql.raw(type)}`),
  )

const list = (sql: Sql, parts: Fragment[]): Fragment =>
  sql`${parts.map((part, index) => (index === 0 ? part : sql`, ${part}`))}`

/** A page of a table, in the order of its key. */
export const exportPage =
  (
    { table, columns, key, having, within }: ExportSource,
    { after, limit }: { after?: string[] | undefined; limit: number },
  ): Query<Paged> =>
  (sql) => {
    const order = sql(key.map(([column]) => column))
    const keyText = list(
      sql,
      key.map(([column]) => sql`${sql(column)}::text`),
    )
    return sql`select ${sql(columns)}, array[${keyText}] as after
      from ${within ? sql`(${within(sql)} offset 0) r` : sql(table)}
      where ${having ? sql`${sql(having)} is not null` : sql`true`} ${
        after
          ? sql`and (${order}) >
        (${position(sql, key, after)})`
          : sql``
      } order by ${order} limit ${limit}`
  }

/** The export's start by the database's clock, and its workspace. */
export const startOf: Query<{ at: Date; workspace_id: string }> = (sql) =>
  sql`select clock_timestamp() as at, id as workspace_id from tenant`
