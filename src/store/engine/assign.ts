import type { Fragment, Sql } from './db.ts'

/** The assignments of an update, in the order of the fields: `status = …, error = …`. */
export const assignments = (sql: Sql, fields: object): Fragment =>
  Object.entries(fields).reduce(
    (before, [name, value], index) =>
      sql`${before}${index === 0 ? sql`` : sql`, `}${sql(name)} = ${value as string}`,
    sql``,
  )
