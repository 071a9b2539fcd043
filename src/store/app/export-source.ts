/** Where the export reads the records of a kind. */
import { type Declared, exportedOf } from '#contract/records/record'
import type { Fragment, Sql } from '../engine/db.ts'

export interface ExportSource {
  table: string
  /** The exported columns. */
  columns: readonly string[]
  /**
   * The reading order: immutable columns, with types. An index begins with them, unless `within` is
   * set.
   */
  key: readonly (readonly [column: string, type: 'uuid' | 'text' | 'int'])[]
  /** The column that only rows of this kind have, where the table holds several. */
  having?: string
  /** How many rows are read at once, of those that can be large. */
  page?: number
  /** Selects the tenant's rows first, for tables that are small for each workspace. */
  within?: (sql: Sql) => Fragment
}

export const byId = [['id', 'uuid']] as const
export const timeColumns = ['created_at', 'updated_at'] as const

/** Of a declared record, in the order of its ids. `more`: what is different of this one. */
export const exportSourceOf = (
  record: Declared,
  more: Partial<ExportSource> = {},
): ExportSource => ({
  table: record.table,
  columns: exportedOf(record),
  key: byId,
  ...more,
})

/** All rows of a table that is small for each workspace. */
export const wholeTable = (table: string) => (sql: Sql) => sql`select * from ${sql(table)}`
