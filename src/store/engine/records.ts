/** The statements of a declared record. Their texts are made once. */
import type { Declared, Field, Fields, RowOf } from '#contract/records/record'
import { assignments } from './assign.ts'
import type { Fragment, Query, Sql } from './db.ts'
import { writing } from './sql.ts'

/** The columns of a row that hold times: what `one` and `many` need to revive them. */
type Times<Row> = { [K in keyof Row as Extract<Row[K], Date> extends never ? never : K]-?: true }

export interface Table<Row> {
  /** The columns of the row, for a select. `of`: the table's name in that statement. */
  columns(sql: Sql, of?: string, except?: readonly (keyof Row)[]): Fragment
  times: Times<Row>
  /** The row's values for these columns, for an insert. */
  values(sql: Sql, row: Row): Fragment
  /** `more`: columns that the row lacks. `end`: what follows the values. */
  insert(row: Row, more?: object, end?: Query): Query
  insertAll<R extends Row>(rows: readonly R[], more?: (row: R) => object): Query
  /** Writes all columns that may change. `more`: columns that the row lacks. */
  save(row: Row & { id: string }, more?: object): Query
}

/**
 * A template with a value for each name after `text`, in the form that the compiler would give it.
 */
const valueForEach = (
  names: readonly string[],
  text: (name: string) => string,
): TemplateStringsArray => {
  const strings = [...names.map((name, index) => `${index === 0 ? '' : ', '}${text(name)}`), '']
  return Object.assign(strings, { raw: strings })
}

const quoteName = (name: string): string => `"${name}"`

export const tableOf = <R extends Declared>(declared: R): Table<RowOf<R>> => {
  const { table, columns } = declared
  const fields: Fields = declared.fields
  const is = (test: (field: Field) => boolean) => columns.filter((name) => test(fields[name]!))
  const changing = is(({ fixed }) => !fixed)
  const assigning = valueForEach(changing, (name) => `${quoteName(name)} = `)
  const giving = valueForEach(columns, () => '')
  const parameterOf = (sql: Sql, row: Record<string, unknown>, name: string) => {
    const value = row[name]
    return fields[name]?.type === 'jsonb' && value !== null ? sql.json(value) : (value as string)
  }
  const given = (sql: Sql, row: object, names: readonly string[] = Object.keys(row)) =>
    Object.fromEntries(names.map((name) => [name, parameterOf(sql, row as never, name)]))
  return {
    columns: (sql, of, except = []) => {
      const selected = columns.filter((name) => !except.includes(name as never))
      return sql`${sql.raw(selected.map((name) => (of ? `${quoteName(of)}.` : '') + quoteName(name)).join())}`
    },
    times: Object.fromEntries(
      is(({ type }) => type === 'timestamp with time zone').map((name) => [name, true]),
    ) as never,
    values: (sql, row) => sql(giving, ...columns.map((name) => parameterOf(sql, row, name))),
    insert: (row, more = {}, end) =>
      writing(
        { table, rows: [row] },
        (sql) =>
          sql`insert into ${sql(table)} ${sql({ ...given(sql, row, columns), ...given(sql, more) })}
            ${end ? end(sql) : sql``}`,
      ),
    insertAll: (rows, more = () => ({})) =>
      writing(
        { table, rows },
        (sql) =>
          sql`insert into ${sql(table)}
            ${sql(rows.map((row) => ({ ...given(sql, row, columns), ...given(sql, more(row)) })))}`,
      ),
    save: (row, more = {}) =>
      writing({ table, rows: [row] }, (sql) => {
        const assigned = sql(assigning, ...changing.map((name) => parameterOf(sql, row, name)))
        const further =
          Object.keys(more).length > 0 ? sql`, ${assignments(sql, given(sql, more))}` : sql``
        return sql`update ${sql(table)} set ${assigned}${further} where id = ${row.id}`
      }),
  }
}
